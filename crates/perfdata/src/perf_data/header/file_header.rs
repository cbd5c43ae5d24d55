//! The header of a recording in file mode, its attributes and its feature sections.

use crate::perf_data::bytes::{Cursor, Endian};
use crate::perf_data::error::{BytePosition, Error};
use crate::perf_data::header::attr::Attr;
use crate::perf_data::header::event_table::apply_descriptions;
use crate::perf_data::header::facts::{Event, RecordingFacts};
use crate::perf_data::header::features::{self, Features, feature};
use crate::perf_data::stream::source::ByteSource;

/// Magic bytes as a little-endian machine writes them; a big-endian one writes them reversed.
const MAGIC: [u8; 8] = *b"PERFILE2";
/// The magic of recordings before Linux 2.6.36.
const OLD_MAGIC: [u8; 8] = *b"PERFFILE";
/// `sizeof(struct perf_pipe_file_header)`, behind which the records of a stream begin.
pub(crate) const PIPE_HEADER_SIZE: u64 = 16;
/// `sizeof(struct perf_file_header)`.
const FILE_HEADER_SIZE: u64 = 104;
/// The same without the feature bitmap, as very old files have it.
const FILE_HEADER_WITHOUT_FEATURES: u64 = 72;
/// More than any recording's attributes or features; the largest real ones are build ids of a few MB.
const SECTION_LIMIT: u64 = 64 << 20;
/// More events than a recording has.
const EVENT_LIMIT: u64 = 1 << 16;
/// More ids than a recording has: events times CPUs.
const ID_LIMIT: u64 = 4 << 20;

/// `struct perf_file_section`.
#[derive(Debug, Clone, Copy)]
struct Section {
    offset: u64,
    size: u64,
}

impl Section {
    fn parse(at: &mut Cursor<'_>) -> Result<Self, Error> {
        Ok(Self { offset: at.u64()?, size: at.u64()? })
    }

    /// Offset of the first byte after the section, if it is within the file.
    fn end(self, source: &ByteSource, what: &'static str) -> Result<u64, Error> {
        source.check(self.offset, self.size, what)?;
        Ok(self.offset + self.size)
    }
}

/// The byte order by the first bytes, and whether the recording is a stream.
pub(crate) fn read_magic(source: &ByteSource) -> Result<(Endian, bool), Error> {
    let mut magic = [0; 8];
    let length = source.length().min(8) as usize;
    source.read_at(magic.get_mut(..length).unwrap_or_default(), 0, "the magic")?;
    if length == 0 {
        return Err(Error::Empty);
    }
    let endian = parse_magic(magic)?;
    let size = source.bytes(8, 8, 8, "the file header")?;
    let size = Cursor::new(&size, endian, "the file header", BytePosition::in_file(8)).u64()?;
    Ok((endian, size == PIPE_HEADER_SIZE))
}

fn parse_magic(magic: [u8; 8]) -> Result<Endian, Error> {
    let mut reversed = magic;
    reversed.reverse();
    match (magic, reversed) {
        (MAGIC, _) => Ok(Endian::Little),
        (_, MAGIC) => Ok(Endian::Big),
        (OLD_MAGIC, _) | (_, OLD_MAGIC) => {
            let problem = "the first version of the format, written before Linux 2.6.36";
            Err(Error::unsupported("recording", BytePosition::default(), problem))
        }
        _ => Err(Error::NotPerfData { magic }),
    }
}

/// `struct perf_file_header`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileHeader {
    /// Bytes of an attribute with its section of ids.
    entry_size: u64,
    attrs: Section,
    data: Section,
    features: [u64; 4],
}

impl FileHeader {
    pub(crate) fn read(source: &ByteSource, endian: Endian) -> Result<Self, Error> {
        let bytes = source.bytes(0, FILE_HEADER_WITHOUT_FEATURES, FILE_HEADER_SIZE, "the file header")?;
        let mut at = Cursor::new(&bytes, endian, "the file header", BytePosition::default());
        at.take(8)?; // magic
        let size = at.u64()?;
        let entry_size = at.u64()?;
        let (attrs, data) = (Section::parse(&mut at)?, Section::parse(&mut at)?);
        let features = match size {
            FILE_HEADER_SIZE => feature_bits(source, endian)?,
            FILE_HEADER_WITHOUT_FEATURES => [0; 4],
            _ => {
                let problem = format!("its size is {size} bytes, where {FILE_HEADER_SIZE} are usual");
                return Err(Error::malformed("the file header", BytePosition::in_file(8), problem));
            }
        };
        Ok(Self { entry_size, attrs, data, features })
    }

    /// `perf record` came to its end: until then the size of the data is zero.
    fn is_finished(&self) -> bool {
        self.data.size != 0
    }

    /// Offsets of the first record and of the end of the records.
    pub(crate) fn records(&self, source: &ByteSource) -> Result<(u64, u64), Error> {
        let end = if self.is_finished() {
            self.data.end(source, "the data section")?
        } else {
            source.length().max(self.data.offset)
        };
        Ok((self.data.offset, end))
    }

    pub(crate) fn read_facts(&self, source: &ByteSource, endian: Endian) -> Result<RecordingFacts, Error> {
        let (events, is_finished) = (self.read_events(source, endian)?, self.is_finished());
        let mut facts = RecordingFacts { endian, is_finished, events, ..RecordingFacts::default() };
        if facts.is_finished {
            self.read_features(source, &mut facts)?;
        }
        facts.name_events();
        Ok(facts)
    }

    fn read_events(&self, source: &ByteSource, endian: Endian) -> Result<Vec<Event>, Error> {
        let place = BytePosition::in_file(self.attrs.offset);
        let count = self.attrs.size.checked_div(self.entry_size).unwrap_or(0);
        if count == 0 || count > EVENT_LIMIT || self.entry_size < 16 {
            let problem = format!("{} bytes in entries of {}", self.attrs.size, self.entry_size);
            return Err(Error::malformed("the attribute section", place, problem));
        }
        let bytes =
            source.bytes(self.attrs.offset, self.attrs.size, SECTION_LIMIT, "the attribute section")?;
        let entry_size = usize::try_from(self.entry_size).unwrap_or(usize::MAX);
        let mut ids_left = ID_LIMIT;
        let positions = (0..).map(|index: u64| place.plus(index * self.entry_size));
        let entries = bytes.chunks_exact(entry_size).zip(positions);
        entries.map(|(entry, place)| read_event(source, entry, endian, place, &mut ids_left)).collect()
    }

    /// Reads the table of feature sections, which follows the data, and the sections.
    fn read_features(&self, source: &ByteSource, facts: &mut RecordingFacts) -> Result<(), Error> {
        let table = self.data.end(source, "the data section")?;
        let numbers = (0..256_u32).filter(|&bit| {
            self.features.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
        });
        let mut features = Features::default();
        for (index, number) in numbers.enumerate() {
            let bytes = source.bytes(table + 16 * index as u64, 16, 16, "the feature table")?;
            let mut at = Cursor::new(&bytes, facts.endian, "the feature table", BytePosition::in_file(table));
            let section = Section::parse(&mut at)?;
            section.end(source, "a feature section")?;
            let size = if features::is_read(number) { section.size } else { 0 };
            let bytes = source.bytes(section.offset, size, SECTION_LIMIT, "a feature section")?;
            features.read(number, &bytes, BytePosition::in_file(section.offset), facts)?;
        }
        apply_descriptions(&mut facts.events, features.descriptions);
        Ok(())
    }
}

/// The feature bitmap: 256 bits in the recording machine's longs.
fn feature_bits(source: &ByteSource, endian: Endian) -> Result<[u64; 4], Error> {
    let offset = FILE_HEADER_WITHOUT_FEATURES;
    let bytes = source.bytes(offset, 32, 32, "the file header")?;
    let mut at = Cursor::new(&bytes, endian, "the file header", BytePosition::in_file(offset));
    let words = [at.u64()?, at.u64()?, at.u64()?, at.u64()?];
    // A big-endian machine with longs of 32 bits swaps the halves of each word. Every perf since 2010
    // sets the bit of the host name, so that bit decides.
    let swapped = words.map(|word| word.rotate_left(32));
    let has_hostname = |words: [u64; 4]| words.first().is_some_and(|word| word >> feature::HOSTNAME & 1 != 0);
    let is_swapped = endian == Endian::Big && !has_hostname(words) && has_hostname(swapped);
    Ok(if is_swapped { swapped } else { words })
}

/// One attribute and the section of its ids, which are the last 16 bytes of the entry.
fn read_event(
    source: &ByteSource,
    entry: &[u8],
    endian: Endian,
    place: BytePosition,
    ids_left: &mut u64,
) -> Result<Event, Error> {
    let (attr, ids) = entry.split_at(entry.len() - 16);
    let attr = Attr::parse(attr, endian, place)?;
    let ids = Section::parse(&mut Cursor::new(ids, endian, "the attribute section", place))?;
    let count = ids.size / 8;
    let Some(left) = ids_left.checked_sub(count) else {
        let problem = format!("{count} ids, more than any recording has");
        return Err(Error::malformed("the attribute section", place, problem));
    };
    *ids_left = left;
    let bytes = source.bytes(ids.offset, ids.size, 8 * ID_LIMIT, "event ids")?;
    let mut at = Cursor::new(&bytes, endian, "event ids", BytePosition::in_file(ids.offset));
    let ids = (0..count).map(|_| at.u64()).collect::<Result<_, _>>()?;
    Ok(Event { name: String::new(), attr, ids })
}
