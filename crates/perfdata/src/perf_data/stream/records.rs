//! Finding records: those directly in the file, and those packed into `COMPRESSED` ones.

use crate::perf_data::bytes::{Cursor, Endian};
use crate::perf_data::error::{BytePosition, Error};
use crate::perf_data::stream::inflate::Inflater;
use crate::perf_data::stream::record::{HEADER_SIZE, RawRecord, kind};
use crate::perf_data::stream::source::{ByteSource, ByteStream};

/// Bytes of a block: enough that handing it over costs nothing, little enough to stay in cache.
const BLOCK_BYTES: usize = 512 * 1024;

/// The header of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordHeader {
    kind: u32,
    misc: u16,
    pub(crate) size: usize,
}

impl RecordHeader {
    #[inline]
    pub(crate) fn parse(bytes: &[u8], endian: Endian, place: BytePosition) -> Result<Self, Error> {
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
    pub(crate) fn raw<'a>(&self, record: &'a [u8], place: BytePosition) -> RawRecord<'a> {
        let body = record.get(HEADER_SIZE..).unwrap_or_default();
        RawRecord { kind: self.kind, misc: self.misc, body, place }
    }
}

/// The records that stand in the file, one after the other, with the data that follows some of them
/// stepped over.
#[derive(Debug)]
pub(crate) struct FileRecords<'s> {
    stream: ByteStream<'s>,
    endian: Endian,
    /// Bytes after the last record that belong to it without being in its size.
    trailing: u64,
}

impl<'s> FileRecords<'s> {
    pub(crate) fn new(source: &'s ByteSource, endian: Endian, start: u64, end: u64) -> Self {
        Self { stream: ByteStream::new(source, start, end), endian, trailing: 0 }
    }

    pub(crate) fn next(&mut self) -> Result<Option<RawRecord<'_>>, Error> {
        self.stream.skip(std::mem::take(&mut self.trailing), "data after a record")?;
        if self.stream.remaining() == 0 {
            return Ok(None);
        }
        let place = self.stream.place();
        let header =
            RecordHeader::parse(self.stream.peek(HEADER_SIZE, "a record header")?, self.endian, place)?;
        self.stream.peek(header.size, "a record")?;
        self.stream.advance(header.size);
        let raw = header.raw(self.stream.last_advanced(header.size), place);
        self.trailing = trailing_size(raw, self.endian)?;
        Ok(Some(raw))
    }

    fn place(&self) -> BytePosition {
        self.stream.place()
    }

    /// Fills a block with records that stand one after the other; with none before one that is not simply
    /// that.
    fn fill(&mut self, block: &mut RecordBlock) -> Result<(), Error> {
        self.stream.skip(std::mem::take(&mut self.trailing), "data after a record")?;
        block.place = self.stream.place();
        self.stream.copy_next(BLOCK_BYTES, &mut block.bytes)?;
        let whole = whole_record_bytes(&block.bytes, self.endian);
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

/// All records, with `COMPRESSED` ones replaced by their contents.
#[derive(Debug)]
pub(crate) struct AllRecords<'s> {
    file: FileRecords<'s>,
    endian: Endian,
    inflate: Option<Box<Inflater>>,
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
                return Ok(Some(header.raw(self.last_record_bytes(header.size, place), place)));
            }
            if !self.finish()? {
                return Ok(None);
            }
        }
    }

    /// Fills a block with the next records; with none at the end.
    fn fill(&mut self, block: &mut RecordBlock) -> Result<(), Error> {
        if self.inflate.is_none() {
            self.file.fill(block)?;
            if !block.bytes.is_empty() {
                return Ok(());
            }
        }
        block.bytes.clear();
        let endian = self.endian;
        while block.bytes.len() < BLOCK_BYTES {
            let Some(raw) = self.next()? else { break };
            block.push(raw, endian);
        }
        Ok(())
    }

    /// The bytes of the record that was found last.
    fn last_record_bytes(&self, size: usize, place: BytePosition) -> &[u8] {
        match &self.inflate {
            Some(inflate) if place.decompressed => inflate.last_taken(size),
            _ => self.file.stream.last_advanced(size),
        }
    }

    /// The next record of the file that is not a compressed one; these are fed to the decoder until it
    /// has a record to give.
    fn next_in_file(&mut self) -> Result<Option<(RecordHeader, BytePosition)>, Error> {
        loop {
            let Some(raw) = self.file.next()? else { return Ok(None) };
            if !is_compressed(raw.kind) {
                let header =
                    RecordHeader { kind: raw.kind, misc: raw.misc, size: raw.body.len() + HEADER_SIZE };
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
    fn next_inflated(&mut self) -> Result<Option<(RecordHeader, BytePosition)>, Error> {
        let Some(inflate) = &mut self.inflate else { return Ok(None) };
        loop {
            if let Some((header, place)) = next_whole_record(inflate, self.endian)? {
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
pub(crate) struct RecordBlock {
    pub(crate) bytes: Vec<u8>,
    /// Position of the first record.
    pub(crate) place: BytePosition,
    /// Position of each record, unless they are consecutive in the file.
    pub(crate) positions: Vec<BytePosition>,
}

impl RecordBlock {
    fn push(&mut self, raw: RawRecord<'_>, endian: Endian) {
        let size = (raw.body.len() + HEADER_SIZE) as u16;
        let (kind, misc, size) = match endian {
            Endian::Little => (raw.kind.to_le_bytes(), raw.misc.to_le_bytes(), size.to_le_bytes()),
            Endian::Big => (raw.kind.to_be_bytes(), raw.misc.to_be_bytes(), size.to_be_bytes()),
        };
        [&kind[..], &misc, &size, raw.body].iter().for_each(|part| self.bytes.extend_from_slice(part));
        self.positions.push(raw.place);
    }
}

/// Bytes of whole records at the front that are followed by records alone.
fn whole_record_bytes(bytes: &[u8], endian: Endian) -> usize {
    let mut at = 0;
    while let Some(header) = bytes.get(at..).and_then(|rest| rest.first_chunk::<HEADER_SIZE>()) {
        let [a, b, c, d, _, _, low, high] = *header;
        let (kind, size) = (endian.u32([a, b, c, d]), usize::from(endian.u16([low, high])));
        let is_followed_by_data = is_compressed(kind) || has_trailing_data(kind);
        if size < HEADER_SIZE || is_followed_by_data || at + size > bytes.len() {
            break;
        }
        at += size;
    }
    at
}

/// The records of a recording in blocks, in file order.
#[derive(Debug)]
pub(crate) struct RecordBlocks<'f> {
    records: AllRecords<'f>,
    /// The error behind the block given last.
    error: Option<Error>,
}

impl<'f> RecordBlocks<'f> {
    pub(crate) fn new(found: AllRecords<'f>) -> Self {
        Self { records: found, error: None }
    }

    /// Position in the file behind the records given.
    pub(crate) fn position(&self) -> BytePosition {
        self.records.file.place()
    }

    /// Fills a block with the next records; `false` at the end.
    ///
    /// # Errors
    /// If no further record can be found.
    pub(crate) fn fill(&mut self, block: &mut RecordBlock) -> Result<bool, Error> {
        // Bytes of before are overwritten, which is cheaper than zeros first.
        block.positions.clear();
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Err(error) = self.records.fill(block) {
            // Records found one by one in front of the error come first.
            if block.positions.is_empty() {
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

fn has_trailing_data(kind: u32) -> bool {
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
fn next_whole_record(from: &Inflater, endian: Endian) -> Result<Option<(RecordHeader, BytePosition)>, Error> {
    let ready = from.ready();
    let Some(bytes) = ready.get(..HEADER_SIZE) else { return Ok(None) };
    let place = from.place();
    let header = RecordHeader::parse(bytes, endian, place)?;
    if is_compressed(header.kind) || has_trailing_data(header.kind) {
        let problem = format!("a record of kind {} cannot stand inside a compressed one", header.kind);
        return Err(Error::malformed("compressed records", place, problem));
    }
    Ok((ready.len() >= header.size).then_some((header, place)))
}
