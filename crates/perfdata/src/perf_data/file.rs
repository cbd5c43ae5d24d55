//! A recording: its facts, and its records as a stream.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::perf_data::error::{BytePosition, Error};
use crate::perf_data::header::event_table::EventTable;
use crate::perf_data::header::facts::RecordingFacts;
use crate::perf_data::header::file_header::{FileHeader, PIPE_HEADER_SIZE, read_magic};
use crate::perf_data::header::pipe;
use crate::perf_data::stream::record::{self, RawRecord, Record, read_sample};
use crate::perf_data::stream::records::{AllRecords, FileRecords, RecordBlock, RecordBlocks, RecordHeader};
use crate::perf_data::stream::source::ByteSource;
use crate::sample::Sample;

/// An open recording. Its records can be read any number of times, by several threads at once.
#[derive(Debug)]
pub struct PerfFile {
    source: ByteSource,
    facts: RecordingFacts,
    events: EventTable,
    /// Offsets of the first record and of the end of the records.
    records: (u64, u64),
    /// Scans of the records that have begun, and bytes that the last of them has read.
    scans: AtomicU64,
    bytes_read: AtomicU64,
}

/// How far the scans of a file are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScanProgress {
    /// Scans that have begun.
    pub scans: u64,
    /// Bytes that the last of them has read.
    pub read: u64,
    /// Bytes that each of them reads.
    pub size: u64,
}

impl PerfFile {
    /// Opens the recording at `path` and reads its facts; no record is held in memory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no recording, breaks off, or uses what this reader does not know.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::from_source(ByteSource::open(path)?)
    }

    /// A recording that is in memory already.
    ///
    /// # Errors
    ///
    /// As for [`PerfFile::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Error> {
        Self::from_source(ByteSource::Memory(bytes))
    }

    pub(crate) fn from_source(source: ByteSource) -> Result<Self, Error> {
        let (endian, is_stream) = read_magic(&source)?;
        let (facts, records) = if is_stream {
            let (start, end) = (PIPE_HEADER_SIZE, source.length());
            (pipe::read_facts(FileRecords::new(&source, endian, start, end), endian)?, (start, end))
        } else {
            let header = FileHeader::read(&source, endian)?;
            (header.read_facts(&source, endian)?, header.records(&source)?)
        };
        let events = EventTable::new(&facts.events, facts.endian)?;
        Ok(Self { source, facts, events, records, scans: AtomicU64::new(0), bytes_read: AtomicU64::new(0) })
    }

    /// How far the scans of its records are, for whoever shows it.
    pub fn scan_progress(&self) -> ScanProgress {
        ScanProgress {
            scans: self.scans.load(Ordering::Relaxed),
            read: self.bytes_read.load(Ordering::Relaxed),
            size: self.records.1.saturating_sub(self.records.0),
        }
    }

    /// Notes how far in the file a scan is.
    pub(crate) fn note_position(&self, position: BytePosition) {
        self.bytes_read.store(position.offset.saturating_sub(self.records.0), Ordering::Relaxed);
    }

    /// Facts about the recording, from its header.
    #[must_use]
    pub fn facts(&self) -> &RecordingFacts {
        &self.facts
    }

    /// The records from the first one on, in file order.
    #[must_use]
    pub fn records(&self) -> Records<'_> {
        Records { file: self, all_records: self.all_records(), has_ended: false }
    }

    /// The records in blocks, in file order.
    pub(crate) fn blocks(&self) -> RecordBlocks<'_> {
        self.scans.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.store(0, Ordering::Relaxed);
        RecordBlocks::new(self.all_records())
    }

    fn all_records(&self) -> AllRecords<'_> {
        let (start, end) = self.records;
        AllRecords::new(FileRecords::new(&self.source, self.facts.endian, start, end))
    }

    /// Reads the records of a block, one by one.
    ///
    /// # Errors
    /// If a record does not have the form of its kind.
    pub(crate) fn read_block(
        &self,
        block: &RecordBlock,
        mut each: impl FnMut(BlockRecord<'_, '_>),
    ) -> Result<(), Error> {
        let endian = self.facts.endian;
        let (mut offset, mut number) = (0, 0);
        let mut sample = Sample::default();
        while let Some(bytes) = block.bytes.get(offset..).filter(|bytes| !bytes.is_empty()) {
            let place = block.positions.get(number).copied().unwrap_or(block.place.plus(offset as u64));
            let header = RecordHeader::parse(bytes, endian, place)?;
            let raw = header.raw(bytes.get(..header.size).unwrap_or(bytes), place);
            if raw.is_sample() {
                match read_sample(raw, &self.events, &mut sample)? {
                    None => each(BlockRecord::Sample(&sample)),
                    Some(id) => each(BlockRecord::Other(&Record::UnknownSample { id })),
                }
            } else {
                each(BlockRecord::Other(&self.parse(raw)?));
            }
            offset += header.size;
            number += 1;
        }
        Ok(())
    }

    /// Reads a record that was found by [`Records::next_raw`].
    ///
    /// # Errors
    ///
    /// The record does not have the form of its kind.
    #[inline]
    pub fn parse<'a>(&'a self, raw: RawRecord<'a>) -> Result<Record<'a>, Error> {
        record::parse(raw, &self.events, self.facts.endian)
    }
}

pub(crate) enum BlockRecord<'r, 'a> {
    /// A sample.
    Sample(&'r Sample<'a>),
    /// Another record.
    Other(&'r Record<'a>),
}

/// The records of a recording in file order.
///
/// Records that `perf record -z` packed come in their own order, but up to a window of the compression
/// later than records beside them that it did not pack. All samples of such a recording are packed, so
/// their order is that of the file.
#[derive(Debug)]
pub struct Records<'f> {
    file: &'f PerfFile,
    all_records: AllRecords<'f>,
    has_ended: bool,
}

impl Records<'_> {
    /// Finds the next record without reading it. After an error there are no more.
    ///
    /// # Errors
    ///
    /// The file breaks off within the record, or it cannot be decompressed.
    #[inline]
    pub fn next_raw(&mut self) -> Result<Option<RawRecord<'_>>, Error> {
        if self.has_ended {
            return Ok(None);
        }
        let found = self.all_records.next();
        self.has_ended = !matches!(found, Ok(Some(_)));
        found
    }

    /// Finds and reads the next record. After an error there are no more.
    ///
    /// # Errors
    ///
    /// The file breaks off within the record, or the record does not have the form of its kind.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        let file = self.file;
        self.next_raw()?.map(|raw| file.parse(raw)).transpose()
    }
}
