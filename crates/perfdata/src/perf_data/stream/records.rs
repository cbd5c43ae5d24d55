//! Finding records: those that stand in the file, and those packed into `COMPRESSED` ones.

use crate::perf_data::bytes::{Cursor, Endian};
use crate::perf_data::error::{BytePlace, Error};
use crate::perf_data::stream::inflate::Inflate;
use crate::perf_data::stream::record::{HEADER_SIZE, RawRecord, kind};
use crate::perf_data::stream::source::{Source, Stream};

/// Bytes of a block: enough that handing it over costs nothing, little enough to stay in cache.
const BLOCK: usize = 512 * 1024;

/// The header of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header {
    kind: u32,
    misc: u16,
    pub(crate) size: usize,
}

impl Header {
    #[inline]
    pub(crate) fn parse(bytes: &[u8], endian: Endian, place: BytePlace) -> Result<Self, Error> {
        let Some([a, b, c, d, e, f, g, h]) = bytes.first_chunk() else {
            let available = bytes.len() as u64;
            let (what, needed) = ("a record header", HEADER_SIZE as u64);
            return Err(Error::Truncated { what, place, needed, available });
        };
        let (kind, misc) = (endian.u32([*a, *b, *c, *d]), endian.u16([*e, *f]));
        let header = Self { kind, misc, size: usize::from(endian.u16([*g, *h])) };
        if header.size < HEADER_SIZE {
            let problem = format!("it says the record has {} bytes, its header alone has 8", header.size);
            return Err(Error::malformed("a record header", place, problem));
        }
        Ok(header)
    }

    #[inline]
    pub(crate) fn raw<'a>(&self, record: &'a [u8], place: BytePlace) -> RawRecord<'a> {
        let body = record.get(HEADER_SIZE..).unwrap_or_default();
        RawRecord { kind: self.kind, misc: self.misc, body, place }
    }
}

/// The records that stand in the file, one after the other, with the data that follows some of them
/// stepped over.
#[derive(Debug)]
pub(crate) struct FileRecords<'s> {
    stream: Stream<'s>,
    endian: Endian,
    /// Bytes after the last record that belong to it without being in its size.
    trailing: u64,
}

impl<'s> FileRecords<'s> {
    pub(crate) fn new(source: &'s Source, endian: Endian, start: u64, end: u64) -> Self {
        Self { stream: Stream::new(source, start, end), endian, trailing: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Option<RawRecord<'_>>, Error> {
        self.stream.skip(std::mem::take(&mut self.trailing), "data after a record")?;
        if self.stream.remaining() == 0 {
            return Ok(None);
        }
        let place = self.stream.place();
        let header = Header::parse(self.stream.peek(HEADER_SIZE, "a record header")?, self.endian, place)?;
        self.stream.peek(header.size, "a record")?;
        self.stream.advance(header.size);
        let raw = header.raw(self.stream.behind(header.size), place);
        self.trailing = trailing_size(raw, self.endian)?;
        Ok(Some(raw))
    }

    fn place(&self) -> BytePlace {
        self.stream.place()
    }

    /// Fills a block with records that stand one after the other; with none before one that is not simply that.
    fn fill(&mut self, block: &mut Block) -> Result<(), Error> {
        self.stream.skip(std::mem::take(&mut self.trailing), "data after a record")?;
        block.place = self.stream.place();
        self.stream.copy(BLOCK, &mut block.bytes)?;
        let whole = whole_records(&block.bytes, self.endian);
        block.bytes.truncate(whole);
        self.stream.skip(whole as u64, "records")
    }
}

/// Bytes that follow a record without being in its size.
fn trailing_size(raw: RawRecord<'_>, endian: Endian) -> Result<u64, Error> {
    let mut at = Cursor::new(raw.body, endian, "the size of a record's data", raw.place);
    match raw.kind {
        kind::AUXTRACE => at.u64(),
        kind::HEADER_TRACING_DATA => Ok(u64::from(at.u32()?).next_multiple_of(8)),
        _ => Ok(0),
    }
}

/// All records, those in `COMPRESSED` ones in place of these.
#[derive(Debug)]
pub(crate) struct AllRecords<'s> {
    file: FileRecords<'s>,
    endian: Endian,
    inflate: Option<Box<Inflate>>,
}

impl<'s> AllRecords<'s> {
    pub(crate) fn new(file: FileRecords<'s>) -> Self {
        Self { endian: file.endian, file, inflate: None }
    }

    /// The next record.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<RawRecord<'_>>, Error> {
        loop {
            let found = match self.next_inflated()? {
                Some(found) => Some(found),
                None => self.next_in_file()?,
            };
            if let Some((header, place)) = found {
                return Ok(Some(header.raw(self.behind(header.size, place), place)));
            }
            if !self.finish()? {
                return Ok(None);
            }
        }
    }

    /// Fills a block with the next records; with none at the end.
    fn fill(&mut self, block: &mut Block) -> Result<(), Error> {
        if self.inflate.is_none() {
            self.file.fill(block)?;
            if !block.bytes.is_empty() {
                return Ok(());
            }
        }
        block.bytes.clear();
        let endian = self.endian;
        while block.bytes.len() < BLOCK {
            let Some(raw) = self.next()? else { break };
            block.push(raw, endian);
        }
        Ok(())
    }

    /// The bytes of the record that was found last.
    fn behind(&self, size: usize, place: BytePlace) -> &[u8] {
        match &self.inflate {
            Some(inflate) if place.decompressed => inflate.behind(size),
            _ => self.file.stream.behind(size),
        }
    }

    /// The next record of the file that is not a compressed one; these are fed to the decoder until it
    /// has a record to give.
    fn next_in_file(&mut self) -> Result<Option<(Header, BytePlace)>, Error> {
        loop {
            let Some(raw) = self.file.next()? else { return Ok(None) };
            if !is_compressed(raw.kind) {
                let header = Header { kind: raw.kind, misc: raw.misc, size: raw.body.len() + HEADER_SIZE };
                return Ok(Some((header, raw.place)));
            }
            let payload = compressed_payload(raw, self.endian)?;
            self.inflate.get_or_insert_default().feed(payload);
            if let Some(found) = self.next_inflated()? {
                return Ok(Some(found));
            }
        }
    }

    /// The next record that the decoder can give without more input.
    #[inline]
    fn next_inflated(&mut self) -> Result<Option<(Header, BytePlace)>, Error> {
        let Some(inflate) = &mut self.inflate else { return Ok(None) };
        loop {
            if let Some((header, place)) = whole_record(inflate, self.endian)? {
                inflate.take(header.size);
                return Ok(Some((header, place)));
            }
            if !inflate.decode_block(self.file.place())? {
                return Ok(None);
            }
        }
    }

    /// At the end of the file, lets the decoder give what it kept back. `false` if that was all.
    fn finish(&mut self) -> Result<bool, Error> {
        let Some(inflate) = &mut self.inflate else { return Ok(false) };
        let place = self.file.place();
        if inflate.finish(place)? {
            return Ok(true);
        }
        match inflate.ready().len() as u64 {
            0 => Ok(false),
            available => {
                let place = inflate.place();
                Err(Error::Truncated { what: "a compressed record", place, needed: available + 1, available })
            }
        }
    }
}

/// Whole records of a recording, one after the other, so that several threads can read one.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) bytes: Vec<u8>,
    /// Where the first record stands.
    pub(crate) place: BytePlace,
    /// Where each record stands, unless they stand in the file as they do here.
    pub(crate) places: Vec<BytePlace>,
}

impl Block {
    fn push(&mut self, raw: RawRecord<'_>, endian: Endian) {
        let size = (raw.body.len() + HEADER_SIZE) as u16;
        let (kind, misc, size) = match endian {
            Endian::Little => (raw.kind.to_le_bytes(), raw.misc.to_le_bytes(), size.to_le_bytes()),
            Endian::Big => (raw.kind.to_be_bytes(), raw.misc.to_be_bytes(), size.to_be_bytes()),
        };
        [&kind[..], &misc, &size, raw.body].iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.places.push(raw.place);
    }
}

/// How many of the bytes are whole records that nothing but records follows.
fn whole_records(bytes: &[u8], endian: Endian) -> usize {
    let mut at = 0;
    while let Some(header) = bytes.get(at..).and_then(|rest| rest.first_chunk::<HEADER_SIZE>()) {
        let [a, b, c, d, _, _, low, high] = *header;
        let (kind, size) = (endian.u32([a, b, c, d]), usize::from(endian.u16([low, high])));
        let is_followed_by_data = is_compressed(kind) || has_data_behind(kind);
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
    pub(crate) fn new(found: AllRecords<'f>) -> Self {
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
        if let Err(error) = self.found.fill(block) {
            // What was found record by record in front of the error comes first.
            if block.places.is_empty() {
                return Err(error);
            }
            self.error = Some(error);
        }
        Ok(!block.bytes.is_empty())
    }
}

fn is_compressed(kind: u32) -> bool {
    matches!(kind, kind::COMPRESSED | kind::COMPRESSED2)
}

fn has_data_behind(kind: u32) -> bool {
    matches!(kind, kind::AUXTRACE | kind::HEADER_TRACING_DATA)
}

/// The zstd bytes of a compressed record; the second kind states how many, since it is padded.
fn compressed_payload(raw: RawRecord<'_>, endian: Endian) -> Result<&[u8], Error> {
    if raw.kind == kind::COMPRESSED {
        return Ok(raw.body);
    }
    let mut at = Cursor::new(raw.body, endian, "a compressed record", raw.place.plus(HEADER_SIZE as u64));
    let size = at.u64()?;
    at.take(usize::try_from(size).unwrap_or(usize::MAX))
}

/// The header of the record at the front of the decompressed bytes, if all of the record is there.
#[inline]
fn whole_record(inflate: &Inflate, endian: Endian) -> Result<Option<(Header, BytePlace)>, Error> {
    let ready = inflate.ready();
    let Some(bytes) = ready.get(..HEADER_SIZE) else { return Ok(None) };
    let place = inflate.place();
    let header = Header::parse(bytes, endian, place)?;
    if is_compressed(header.kind) || has_data_behind(header.kind) {
        let problem = format!("a record of kind {} cannot stand inside a compressed one", header.kind);
        return Err(Error::malformed("compressed records", place, problem));
    }
    Ok((ready.len() >= header.size).then_some((header, place)))
}
