//! What each sample of some recordings touched.

use super::link::Linker;
use crate::attribute::answers::Answers;
use crate::attribute::reason::Reason;
use crate::attribute::target::{Target, TypeIndex};
use crate::perf_data::{Error, PerfFile, Record};
use crate::program::Program;
use crate::sample::Sample;
use fieldline_debuginfo::Elf;
use rustc_hash::FxHashSet;

/// A recording with what turns its addresses into the program's.
struct Source<'f> {
    file: &'f PerfFile,
    linker: Linker,
}

/// Recordings of one program whose sampled functions were analysed.
pub struct Attribution<'f> {
    sources: Vec<Source<'f>>,
    /// What the code tells.
    pub answers: Answers,
}

/// What a sample touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attributed {
    /// The instruction's address as linked, if it is of the program.
    pub ip: Option<u64>,
    /// Its function, an index of [`Answers::functions`].
    pub function: Option<u32>,
    /// What it touched.
    pub target: Target<TypeIndex>,
    /// Bytes touched.
    pub size: u64,
    /// Whether it stored.
    pub is_store: bool,
}

impl<'f> Attribution<'f> {
    /// Analyses the functions that the recordings' samples fall in.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn new<'a>(
        elf: &Elf<'a>,
        program: &'a mut Program<'a>,
        files: &'f [PerfFile],
    ) -> Result<Self, Error> {
        let mut sources = Vec::new();
        let mut sampled: FxHashSet<u64> = FxHashSet::default();
        for file in files {
            let mut linker = Linker::new(elf, file)?;
            let mut records = file.records();
            while let Some(record) = records.next_record()? {
                match record {
                    Record::Mmap(mmap) => linker.note(&mmap),
                    Record::Sample(sample) => sampled.extend(linker.link(&sample)),
                    _ => {}
                }
            }
            sources.push(Source { file, linker });
        }
        let mut addresses: Vec<u64> = sampled.into_iter().collect();
        addresses.sort_unstable();
        program.load(addresses.iter().copied());
        Ok(Self { sources, answers: Answers::new(program, &addresses) })
    }

    /// Goes over the samples of one recording in file order.
    ///
    /// # Errors
    /// If a record can't be read, or the callback's own.
    pub fn each<E: From<Error>>(
        &self,
        recording: usize,
        mut each: impl FnMut(&Sample<'_>, &Attributed) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(source) = self.sources.get(recording) else { return Ok(()) };
        let mut records = source.file.records();
        while let Some(record) = records.next_record()? {
            if let Record::Sample(sample) = record {
                each(&sample, &self.attribute(&source.linker, &sample))?;
            }
        }
        Ok(())
    }

    fn attribute(&self, linker: &Linker, sample: &Sample<'_>) -> Attributed {
        let sampled = sample.data_source.map(|source| source.operation());
        let is_store = sampled.and_then(|operation| match (operation.is_load(), operation.is_store()) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        });
        let nothing = |reason: Reason| Attributed {
            ip: None,
            function: None,
            target: Target::Unknown(reason),
            size: 0,
            is_store: is_store.unwrap_or(false),
        };
        let ip = match linker.link(sample) {
            Ok(ip) => ip,
            Err(reason) => return nothing(reason),
        };
        let answer = self.answers.at(ip);
        let operand = answer.operand(is_store);
        Attributed {
            ip: Some(ip),
            function: answer.function,
            target: answer.target(is_store),
            size: operand.map_or(0, |operand| u64::from(operand.size)),
            is_store: is_store.unwrap_or_else(|| operand.is_some_and(|operand| operand.access.is_write())),
        }
    }
}
