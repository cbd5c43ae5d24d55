//! A recording: its facts, and its records as a stream.

use std::path::Path;

use crate::perf_data::error::Error;
use crate::perf_data::header::event_table::EventTable;
use crate::perf_data::header::facts::{Mode, RecordingFacts};
use crate::perf_data::header::file_header::{FileHeader, Opening};
use crate::perf_data::header::pipe;
use crate::perf_data::stream::block::Block;
use crate::perf_data::stream::record::{self, RawRecord, Record, read_sample};
use crate::perf_data::stream::records::{AllRecords, Blocks, FileRecords, Header};
use crate::perf_data::stream::source::Source;
use crate::perf_data::tally::{KernelMap, RecordTally};
use crate::sample::Sample;

/// An open recording. Its records can be read any number of times, by several threads at once.
#[derive(Debug)]
pub struct PerfFile {
    source: Source,
    facts: RecordingFacts,
    events: EventTable,
    /// Offsets of the first record and of the end of the records.
    records: (u64, u64),
}

impl PerfFile {
    /// Opens the recording at `path` and reads its facts; no record is held in memory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is no recording, breaks off, or uses what this reader does not know.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::of_source(Source::open(path)?)
    }

    /// A recording that is in memory already.
    ///
    /// # Errors
    ///
    /// As for [`PerfFile::open`].
    pub fn of_bytes(bytes: Vec<u8>) -> Result<Self, Error> {
        Self::of_source(Source::Memory(bytes))
    }

    pub(crate) fn of_source(source: Source) -> Result<Self, Error> {
        let opening = Opening::read(&source)?;
        let (facts, records) = match opening.mode {
            Mode::File => {
                let header = FileHeader::read(&source, opening.endian)?;
                (header.read_facts(&source, opening.endian)?, header.records(&source)?)
            }
            Mode::Pipe => {
                let (start, end) = (Opening::first_pipe_record(), source.length());
                let records = FileRecords::new(&source, opening.endian, start, end);
                (pipe::read_facts(records, opening.endian)?, (start, end))
            }
        };
        let events = EventTable::new(&facts.events, facts.endian)?;
        Ok(Self { source, facts, events, records })
    }

    /// What the recording says about itself.
    #[must_use]
    pub fn facts(&self) -> &RecordingFacts {
        &self.facts
    }

    /// The records from the first one on, in file order.
    #[must_use]
    pub fn records(&self) -> Records<'_> {
        let (start, end) = self.records;
        let file = FileRecords::new(&self.source, self.facts.endian, start, end);
        Records { file: self, found: AllRecords::new(file), has_ended: false }
    }

    /// The records in blocks, in file order.
    pub(crate) fn blocks(&self) -> Blocks<'_> {
        let (start, end) = self.records;
        Blocks::new(AllRecords::new(FileRecords::new(&self.source, self.facts.endian, start, end)))
    }

    /// Reads the records of a block, one by one.
    ///
    /// # Errors
    /// If a record does not have the form of its kind.
    pub(crate) fn read_block(&self, block: &Block, mut each: impl FnMut(Found<'_, '_>)) -> Result<(), Error> {
        let endian = self.facts.endian;
        let (mut at, mut number) = (0, 0);
        let mut sample = Sample::default();
        while let Some(bytes) = block.bytes.get(at..).filter(|bytes| !bytes.is_empty()) {
            let place = block.places.get(number).copied().unwrap_or(block.place.plus(at as u64));
            let header = Header::parse(bytes, endian, place)?;
            let raw = header.raw(bytes.get(..header.size).unwrap_or(bytes), place);
            if raw.is_sample() {
                match read_sample(raw, &self.events, &mut sample)? {
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

    /// Reads a record that was found by [`Records::next_raw`].
    ///
    /// # Errors
    ///
    /// The record does not have the form of its kind.
    #[inline]
    pub fn parse<'a>(&'a self, raw: RawRecord<'a>) -> Result<Record<'a>, Error> {
        record::parse(raw, &self.events, self.facts.endian)
    }

    /// The mapping of the kernel image, which perf writes before it samples: the search ends at the first
    /// sample.
    ///
    /// # Errors
    ///
    /// A record cannot be found or read.
    pub fn kernel_image(&self) -> Result<Option<KernelMap>, Error> {
        let mut records = self.records();
        while let Some(record) = records.next_record()? {
            match record {
                Record::Mmap(mmap) if mmap.is_kernel_image() => return Ok(Some(KernelMap::new(&mmap))),
                Record::Sample(_) | Record::UnknownSample { .. } => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Goes over all records once and counts.
    ///
    /// # Errors
    ///
    /// A record cannot be found or read.
    pub fn tally(&self) -> Result<RecordTally, Error> {
        let mut tally = RecordTally::new(&self.facts);
        let mut records = self.records();
        while let Some(record) = records.next_record()? {
            tally.add(&record);
        }
        Ok(tally)
    }
}

pub(crate) enum Found<'r, 'a> {
    /// A sample.
    Sample(&'r Sample<'a>),
    /// Another record.
    Other(&'r Record<'a>),
}

/// The records of a recording in the order they stand in it.
///
/// Records that `perf record -z` packed come in their own order, but up to a window of the compression
/// later than records beside them that it did not pack. All samples of such a recording are packed, so
/// their order is that of the file.
#[derive(Debug)]
pub struct Records<'f> {
    file: &'f PerfFile,
    found: AllRecords<'f>,
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
        match self.found.next() {
            Ok(Some(raw)) => Ok(Some(raw)),
            Ok(None) => {
                self.has_ended = true;
                Ok(None)
            }
            Err(error) => {
                self.has_ended = true;
                Err(error)
            }
        }
    }

    /// Finds and reads the next record. After an error there are no more.
    ///
    /// # Errors
    ///
    /// The file breaks off within the record, or the record does not have the form of its kind.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        let file = self.file;
        match self.next_raw()? {
            Some(raw) => file.parse(raw).map(Some),
            None => Ok(None),
        }
    }
}
