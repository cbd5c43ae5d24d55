//! A file of samples: a perf.data, or the text of `perf script`, distinguished by content.

use crate::perf_data::{
    ByteSource, Error, KernelMap, PerfFile, Record, RecordCounts, RecordingFacts, Records, ScanProgress,
};
use crate::script::{AddressSpace, ScriptFile, ScriptRecords, SymbolAddresses, is_text};
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes read to distinguish text from a perf.data.
const HEAD_BYTES: u64 = 4096;
/// How the files of `perf record` begin, by age and byte order.
const MAGICS: [&[u8]; 3] = [b"PERFILE2", b"2ELIFREP", b"PERFFILE"];

/// An open file of samples. Its records can be read any number of times.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a run has a handful of them")]
pub enum SampleFile {
    /// Written by `perf record`.
    PerfData(PerfFile),
    /// Printed by `perf script`.
    Script(ScriptFile),
}

impl From<PerfFile> for SampleFile {
    fn from(file: PerfFile) -> Self {
        Self::PerfData(file)
    }
}

impl SampleFile {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is neither kind, or is broken.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::from_source(ByteSource::open(path)?)
    }

    /// A file that is in memory already.
    ///
    /// # Errors
    ///
    /// As for [`SampleFile::open`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, Error> {
        Self::from_source(ByteSource::Memory(bytes))
    }

    fn from_source(source: ByteSource) -> Result<Self, Error> {
        let head = source.bytes(0, source.length().min(HEAD_BYTES), HEAD_BYTES, "the file's first bytes")?;
        if is_text(&head) && !MAGICS.iter().any(|magic| head.starts_with(magic)) {
            return ScriptFile::from_source(source).map(Self::Script);
        }
        PerfFile::from_source(source).map(Self::PerfData)
    }

    /// Facts about the recording.
    #[must_use]
    pub fn facts(&self) -> &RecordingFacts {
        match self {
            Self::PerfData(file) => file.facts(),
            Self::Script(file) => file.facts(),
        }
    }

    /// How far the scans of its records are; of a text nothing is known.
    pub fn scan_progress(&self) -> ScanProgress {
        match self {
            Self::PerfData(file) => file.scan_progress(),
            Self::Script(_) => ScanProgress::default(),
        }
    }

    /// The records from the first one on, in file order.
    #[must_use]
    pub fn records(&self) -> SampleRecords<'_> {
        match self {
            Self::PerfData(file) => SampleRecords::PerfData(file.records()),
            Self::Script(file) => SampleRecords::Script(file.records()),
        }
    }

    /// Gives the records that are no samples, in file order. Samples of a perf.data are stepped over unread.
    ///
    /// # Errors
    ///
    /// A record cannot be read: the first of them, be it a sample or not.
    pub fn for_each_non_sample(&self, mut each: impl FnMut(&Record<'_>)) -> Result<(), Error> {
        match self {
            Self::PerfData(file) => {
                for_each_non_sample_of(file, each).map_err(|error| match self.count_records() {
                    // A sample in front may be why.
                    Err(first) => first,
                    Ok(_) => error,
                })
            }
            Self::Script(file) => {
                let mut records = file.records();
                while let Some(record) = records.next_record()? {
                    if !matches!(record, Record::Sample(_)) {
                        each(&record);
                    }
                }
                Ok(())
            }
        }
    }

    /// The mapping of the kernel image, which perf writes before it samples: the search ends at the first
    /// sample.
    ///
    /// # Errors
    ///
    /// A record cannot be read.
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

    /// Loaded addresses of symbols in a text; `None` for a perf.data, which has mappings.
    #[must_use]
    pub fn symbol_addresses(&self) -> Option<&BTreeMap<AddressSpace, SymbolAddresses>> {
        match self {
            Self::PerfData(_) => None,
            Self::Script(file) => Some(file.symbol_addresses()),
        }
    }

    /// Notes on fields that the file lacks, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::PerfData(_) => Vec::new(),
            Self::Script(file) => file.notes(),
        }
    }

    /// Counts over all records.
    ///
    /// # Errors
    ///
    /// A record cannot be read.
    pub fn count_records(&self) -> Result<RecordCounts, Error> {
        let mut counts = RecordCounts::new(self.facts());
        let mut records = self.records();
        while let Some(record) = records.next_record()? {
            counts.add(&record);
        }
        Ok(counts)
    }
}

fn for_each_non_sample_of(file: &PerfFile, mut each: impl FnMut(&Record<'_>)) -> Result<(), Error> {
    let mut records = file.records();
    while let Some(raw) = records.next_raw()? {
        if !raw.is_sample() {
            each(&file.parse(raw)?);
        }
    }
    Ok(())
}

/// The records of a file of samples, in file order.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum SampleRecords<'f> {
    /// Of a perf.data.
    PerfData(Records<'f>),
    /// Of a text.
    Script(ScriptRecords<'f>),
}

impl SampleRecords<'_> {
    /// Reads the next record.
    ///
    /// # Errors
    ///
    /// The record cannot be read.
    #[inline]
    pub fn next_record(&mut self) -> Result<Option<Record<'_>>, Error> {
        match self {
            Self::PerfData(records) => records.next_record(),
            Self::Script(records) => records.next_record(),
        }
    }
}
