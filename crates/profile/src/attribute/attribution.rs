//! What each sample of some recordings touched.

use super::accesses::each_access;
use super::attributed::Attributed;
use super::part::{Part, Recorded};
use super::questions::Decided;
use super::straight::Straight;
use crate::aggregate::Blocks;
use crate::gather::{Gathered, Source};
use fieldline_debuginfo::Elf;
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::{Answers, Sampled};
use fieldline_typeflow::program::Program;
use rustc_hash::FxHashSet;

/// Recordings of one program whose sampled functions were analysed.
pub struct Attribution<'f> {
    recordings: Vec<Recorded<'f>>,
    /// What the code tells.
    pub answers: Answers,
}

impl<'f> Attribution<'f> {
    /// Analyses the functions that the recordings' samples fall in, and finds the objects their addresses show.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn new<'a>(
        elf: &Elf<'a>,
        program: &'a mut Program<'a>,
        files: &'f [SampleFile],
    ) -> Result<Self, Error> {
        Self::read(elf, program, files, true)
    }

    /// The same without a look at the addresses of data: what the code alone tells.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn by_code<'a>(
        elf: &Elf<'a>,
        program: &'a mut Program<'a>,
        files: &'f [SampleFile],
    ) -> Result<Self, Error> {
        Self::read(elf, program, files, false)
    }

    fn read<'a>(
        elf: &Elf<'a>,
        program: &'a mut Program<'a>,
        files: &'f [SampleFile],
        uses_addresses: bool,
    ) -> Result<Self, Error> {
        let sources = files.iter().map(|file| Source::open(elf, file)).collect::<Result<Vec<_>, _>>()?;
        let gathered = sources.into_iter().map(|source| Ok((Gathered::new(&source, program)?, source)));
        let gathered = gathered.collect::<Result<Vec<_>, Error>>()?;
        let sampled = sampled(&gathered);
        program.load(sampled.addresses().iter().copied());
        let program: &'a Program<'a> = program;
        let mut answers = Answers::new(program, &sampled);
        let recordings = gathered.into_iter().map(|(mut gathered, source)| {
            let straight = Straight::new(program, &answers, &std::mem::take(&mut gathered.runs));
            Recorded { source, gathered, decided: Decided::default(), straight }
        });
        let mut recordings: Vec<_> = recordings.collect();
        for recorded in recordings.iter_mut().filter(|_| uses_addresses) {
            recorded.use_addresses(program, &mut answers);
        }
        Ok(Self { recordings, answers })
    }

    /// Blocks of a recording's time.
    pub(crate) fn blocks(&self, recording: usize) -> Blocks {
        self.recordings.get(recording).map(|recorded| recorded.gathered.clock.blocks()).unwrap_or_default()
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
        let joint = Joint { attributions: std::slice::from_ref(self) };
        joint.each(recording, |sample, _, attributed| each(sample, attributed))
    }
}

/// What each sample of a recording touched, as the program tells that its instruction is in.
///
/// Each program was attributed by itself: what one knows of objects, another does not.
#[derive(Clone, Copy)]
pub struct Joint<'j, 'f> {
    /// The programs, one at least; of one recorded file each.
    pub attributions: &'j [Attribution<'f>],
}

impl<'f> Joint<'_, 'f> {
    /// Goes over the samples of one recording in file order; the callback gets the program's index too. What counts by the
    /// runs of its branch stack is as many samples as these have accesses.
    ///
    /// # Errors
    /// If a record can't be read, or the callback's own.
    pub fn each<E: From<Error>>(
        &self,
        recording: usize,
        mut each: impl FnMut(&Sample<'_>, usize, &Attributed) -> Result<(), E>,
    ) -> Result<(), E> {
        let parts = self.parts(recording);
        let Some(first) = parts.first() else { return Ok(()) };
        let mut records = first.recorded.source.file.records();
        while let Some(record) = records.next_record()? {
            if let Record::Sample(sample) = record {
                each_access(&parts, &sample, &mut each)?;
            }
        }
        Ok(())
    }

    /// What there is of one recording, by program.
    pub(crate) fn parts(&self, recording: usize) -> Vec<Part<'_, 'f>> {
        let recorded = self.attributions.iter().map(|one| (one.recordings.get(recording), &one.answers));
        recorded.filter_map(|(recorded, answers)| Some(Part { recorded: recorded?, answers })).collect()
    }
}

/// Instructions that were sampled, as linked. The units that hold them are surveyed.
fn sampled(recordings: &[(Gathered, Source<'_>)]) -> Sampled {
    let (mut addresses, mut runs) = (FxHashSet::default(), FxHashSet::default());
    for (gathered, source) in recordings {
        let linked = gathered.table.iter().filter_map(|(facts, _)| {
            // A byte of the instruction in front is enough to find its function.
            let is_trap = source.traps.of_event(facts.aside.event).is_some();
            facts.aside.space.ok().map(|_| facts.ip.wrapping_sub(u64::from(is_trap)))
        });
        addresses.extend(linked);
        runs.extend(gathered.runs.iter().map(|(facts, ())| (facts.ip, facts.address)));
    }
    Sampled::new(addresses, runs)
}
