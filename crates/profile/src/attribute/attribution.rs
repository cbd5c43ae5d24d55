//! Attribution of the samples of some recordings.

use super::accesses::for_each_access;
use super::attributed::Attributed;
use super::program_samples::{AttributedRecording, ProgramSamples};
use super::queries::DecidedTargets;
use super::straight_line::StraightLineAccesses;
use crate::aggregate::TimeBlocks;
use crate::gather::{GatheredSamples, LinkedRecording};
use fieldline_debuginfo::Elf;
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::{ProgramOperands, Reason, SampledInstructions};
use fieldline_typeflow::program::Program;
use rustc_hash::FxHashSet;

type Result<T, E = Error> = std::result::Result<T, E>;

/// Recordings of one program whose sampled functions were analysed.
pub struct Attribution<'f> {
    recordings: Vec<AttributedRecording<'f>>,
    /// Operands typed by the code.
    pub answers: ProgramOperands,
}

impl<'f> Attribution<'f> {
    /// Analyses the functions that the recordings' samples fall in, and finds the objects their addresses
    /// show.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn new<'a>(elf: &Elf<'a>, program: &'a mut Program<'a>, files: &'f [SampleFile]) -> Result<Self> {
        Self::read(elf, program, files, true)
    }

    /// The same without addresses of data: attribution by code alone.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn by_code<'a>(elf: &Elf<'a>, program: &'a mut Program<'a>, files: &'f [SampleFile]) -> Result<Self> {
        Self::read(elf, program, files, false)
    }

    fn read<'a>(
        elf: &Elf<'a>,
        program: &'a mut Program<'a>,
        files: &'f [SampleFile],
        uses_addresses: bool,
    ) -> Result<Self> {
        let sources =
            files.iter().map(|file| LinkedRecording::open(elf, file)).collect::<Result<Vec<_>>>()?;
        let gathered = sources.into_iter().map(|file| Ok((GatheredSamples::new(&file, program)?, file)));
        let gathered = gathered.collect::<Result<Vec<_>>>()?;
        let sampled = sampled_instructions(&gathered);
        program.load(sampled.addresses().iter().copied());
        let program: &'a Program<'a> = program;
        let mut answers = ProgramOperands::new(program, &sampled);
        let recordings = gathered.into_iter().map(|(mut gathered, source)| {
            let straight_line =
                StraightLineAccesses::new(program, &answers, std::mem::take(&mut gathered.ranges));
            AttributedRecording { source, gathered, decided: DecidedTargets::default(), straight_line }
        });
        let mut recordings: Vec<_> = recordings.collect();
        for recorded in recordings.iter_mut().filter(|_| uses_addresses) {
            recorded.use_addresses(program, &mut answers)?;
        }
        Ok(Self { recordings, answers })
    }

    /// Blocks of a recording's time.
    pub(crate) fn blocks(&self, recording: usize) -> TimeBlocks {
        self.recordings.get(recording).map(|recorded| recorded.gathered.clock.blocks()).unwrap_or_default()
    }

    /// Goes over the samples of one recording in file order.
    ///
    /// # Errors
    /// If a record can't be read, or the callback's own.
    pub fn for_each_sample<E: From<Error>>(
        &self,
        recording: usize,
        mut each: impl FnMut(&Sample<'_>, &Attributed) -> Result<(), E>,
    ) -> Result<(), E> {
        let joint = JointAttribution { attributions: std::slice::from_ref(self) };
        joint.for_each_sample(recording, |sample, _, attributed| each(sample, attributed))
    }
}

/// Attribution of each sample of a recording by the program that holds its instruction.
///
/// Each program was attributed by itself: they do not share objects.
#[derive(Clone, Copy)]
pub struct JointAttribution<'j, 'f> {
    /// The programs, one at least; of one recorded file each.
    pub attributions: &'j [Attribution<'f>],
}

impl<'f> JointAttribution<'_, 'f> {
    /// Goes over the samples of one recording in file order; the callback gets the program's index too. What
    /// counts by the runs of its branch stack is as many samples as these have accesses.
    ///
    /// # Errors
    /// If a record can't be read, or the callback's own.
    pub fn for_each_sample<E: From<Error>>(
        &self,
        recording: usize,
        mut each: impl FnMut(&Sample<'_>, usize, &Attributed) -> Result<(), E>,
    ) -> Result<(), E> {
        let parts = self.parts(recording);
        let Some(first) = parts.first() else { return Ok(()) };
        let mut records = first.recorded.source.file.records();
        while let Some(record) = records.next_record()? {
            if let Record::Sample(sample) = record {
                for_each_access(&parts, &sample, &mut each)?;
            }
        }
        Ok(())
    }

    /// Whether any sample of a recording is of the programs; nothing if it has no samples.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn has_own_samples(&self, recording: usize) -> Result<Option<bool>, Error> {
        let parts = self.parts(recording);
        let Some(first) = parts.first() else { return Ok(None) };
        let mut records = first.recorded.source.file.records();
        let mut found = None;
        while let Some(record) = records.next_record()? {
            let Record::Sample(sample) = record else { continue };
            let mut is_own = false;
            for_each_access(&parts, &sample, &mut |_, _, attributed| {
                is_own |= !attributed.target.reason().is_some_and(Reason::is_elsewhere);
                Ok::<(), Error>(())
            })?;
            if is_own {
                return Ok(Some(true));
            }
            found = Some(false);
        }
        Ok(found)
    }

    /// The attributed samples of one recording, by program.
    pub(crate) fn parts(&self, recording: usize) -> Vec<ProgramSamples<'_, 'f>> {
        let recorded = self
            .attributions
            .iter()
            .map(|attribution| (attribution.recordings.get(recording), &attribution.answers));
        recorded
            .filter_map(|(recorded, answers)| Some(ProgramSamples { recorded: recorded?, answers }))
            .collect()
    }
}

/// Instructions that were sampled, as linked. The units that hold them are surveyed.
fn sampled_instructions(recordings: &[(GatheredSamples, LinkedRecording<'_>)]) -> SampledInstructions {
    let (mut addresses, mut ranges) = (FxHashSet::default(), FxHashSet::default());
    for (gathered, source) in recordings {
        let linked = gathered.table.iter().filter_map(|(facts, _)| {
            // A byte of the instruction in front is enough to find its function.
            let is_breakpoint = source.data_breakpoints.for_event(facts.attributes.event).is_some();
            facts.ip().and_then(|ip| ip.checked_sub(u64::from(is_breakpoint)))
        });
        addresses.extend(linked);
        ranges.extend(gathered.ranges.ranges().iter().map(|range| (range.begin, range.end)));
    }
    SampledInstructions::new(addresses, ranges)
}
