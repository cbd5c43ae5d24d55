//! Whole records in blocks, so that several threads can read one recording.

use super::bytes::Endian;
use super::error::{Error, Place};
use super::file::PerfFile;
use super::record::{HEADER_SIZE, RawRecord, Record, kind, read_sample};
use super::stream::{AllRecords, Header};
use crate::sample::Sample;

/// Bytes of a block: enough that handing it over costs nothing, little enough to stay in cache.
pub(super) const BLOCK: usize = 512 * 1024;

/// Whole records of a recording, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(super) bytes: Vec<u8>,
    /// Where the first record stands.
    pub(super) place: Place,
    /// Where each record stands, unless they stand in the file as they do here.
    pub(super) places: Vec<Place>,
}

impl Block {
    /// Adds a record that stands elsewhere.
    pub(super) fn push(&mut self, raw: RawRecord<'_>, endian: Endian) {
        let size = (raw.body.len() + HEADER_SIZE) as u16;
        let (kind, misc, size) = match endian {
            Endian::Little => (raw.kind.to_le_bytes(), raw.misc.to_le_bytes(), size.to_le_bytes()),
            Endian::Big => (raw.kind.to_be_bytes(), raw.misc.to_be_bytes(), size.to_be_bytes()),
        };
        self.bytes.extend_from_slice(&kind);
        self.bytes.extend_from_slice(&misc);
        self.bytes.extend_from_slice(&size);
        self.bytes.extend_from_slice(raw.body);
        self.places.push(raw.place);
    }
}

/// How many of the bytes are whole records that nothing but records follows.
pub(super) fn whole_records(bytes: &[u8], endian: Endian) -> usize {
    let mut at = 0;
    while let Some(header) = bytes.get(at..).and_then(|rest| rest.first_chunk::<HEADER_SIZE>()) {
        let [a, b, c, d, _, _, low, high] = *header;
        let size = usize::from(endian.u16([low, high]));
        let is_followed_by_data = matches!(
            endian.u32([a, b, c, d]),
            kind::AUXTRACE | kind::HEADER_TRACING_DATA | kind::COMPRESSED | kind::COMPRESSED2
        );
        if size < HEADER_SIZE || is_followed_by_data || at + size > bytes.len() {
            break;
        }
        at += size;
    }
    at
}

/// The records of a recording in blocks, in file order.
#[derive(Debug)]
pub(crate) struct Blocks<'f> {
    found: AllRecords<'f>,
    /// What is wrong behind the block given last.
    error: Option<Error>,
}

impl<'f> Blocks<'f> {
    pub(super) fn new(found: AllRecords<'f>) -> Self {
        Self { found, error: None }
    }

    /// Fills a block with the next records; `false` at the end.
    ///
    /// # Errors
    /// If no further record can be found.
    pub(crate) fn fill(&mut self, block: &mut Block) -> Result<bool, Error> {
        // Bytes of before are overwritten, which is cheaper than zeros first.
        block.places.clear();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        match self.found.fill(block) {
            Ok(()) => {}
            // What was found record by record in front of the error.
            Err(error) if !block.places.is_empty() => self.error = Some(error),
            Err(error) => return Err(error),
        }
        Ok(!block.bytes.is_empty())
    }
}

/// A record of a block.
pub(crate) enum Found<'r, 'a> {
    /// A sample.
    Sample(&'r Sample<'a>),
    /// Another record.
    Other(&'r Record<'a>),
}

impl PerfFile {
    /// Reads the records of a block, one by one.
    ///
    /// # Errors
    /// If a record does not have the form of its kind.
    pub(crate) fn read_block(&self, block: &Block, mut each: impl FnMut(Found<'_, '_>)) -> Result<(), Error> {
        let endian = self.facts().endian;
        let (mut at, mut number) = (0, 0);
        let mut sample = Sample::default();
        while let Some(bytes) = block.bytes.get(at..).filter(|bytes| !bytes.is_empty()) {
            let place = block.places.get(number).copied().unwrap_or(block.place.plus(at as u64));
            let header = Header::parse(bytes, endian, place)?;
            let raw = header.raw(bytes.get(..header.size).unwrap_or(bytes), place);
            if raw.is_sample() {
                match read_sample(raw, self.events(), &mut sample)? {
                    None => each(Found::Sample(&sample)),
                    Some(id) => each(Found::Other(&Record::UnknownSample { id })),
                }
            } else {
                each(Found::Other(&self.parse(raw)?));
            }
            at += header.size;
            number += 1;
        }
        Ok(())
    }
}
