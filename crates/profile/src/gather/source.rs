//! A recording with its linker.

use super::range_table::LinkedRange;
use super::sample_key::{SampleAttributes, SampleFacts};
use super::stack_ranges::{StackRange, branch_cpu_mode, events_counted_by_ranges};
use crate::addresses::{Allocations, Linker};
use fieldline_debuginfo::{Elf, LinkedAddress};
use fieldline_perfdata::perf_data::{DataBreakpoint, Error, EventIndex, RecordingFacts};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample::branch_ranges::StraightLineRange;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::Reason;

/// A recording, and the linked addresses of its samples.
pub(crate) struct LinkedRecording<'f> {
    pub(crate) file: &'f SampleFile,
    pub(crate) linker: Linker,
    pub(crate) data_breakpoints: DataBreakpoints,
    allocations: Allocations,
    /// By event: whether its samples count by the ranges of their branch stacks.
    counted_by_ranges: Vec<bool>,
}

impl<'f> LinkedRecording<'f> {
    /// Opens a recording. All mappings are read before the first sample: records may be out of order.
    pub(crate) fn open(elf: &Elf<'_>, file: &'f SampleFile) -> Result<Self, Error> {
        let mut linker = Linker::new(elf, file)?;
        let counted_by_ranges = events_counted_by_ranges(file)?;
        if !linker.is_kernel() {
            file.for_each_non_sample(|record| linker.add_record(record))?;
            linker.finish_mappings();
        }
        let data_breakpoints = DataBreakpoints::from_facts(file.facts());
        let noted = if linker.is_program() { &file.facts().allocations[..] } else { &[] };
        let allocations = Allocations::new(noted);
        Ok(Self { file, linker, data_breakpoints, allocations, counted_by_ranges })
    }

    /// The facts of a sample: all that decides its attribution but its time. Its address is one that no other memory
    /// had at any time, where allocations are known.
    #[inline]
    pub(crate) fn sample_facts(&self, sample: &Sample<'_>) -> SampleFacts {
        let (event, cpu, source) = (sample.event, sample.cpu, sample.data_source);
        let found = self.linker.locate(sample);
        let tid = sample.tid.filter(|_| found.is_ok() && self.linker.is_program());
        let attributes = SampleAttributes { space: found.map(|found| found.space), event, cpu, tid, source };
        let unique = |address| self.allocations.unique(sample.pid, address, sample.time);
        let (ip, address) = found.map(|found| (found.ip, sample.addr.map(unique))).unwrap_or_default();
        SampleFacts::new(ip, address, attributes)
    }

    /// Whether the samples of an event count by the ranges of their branch stacks.
    #[inline]
    pub(crate) fn counts_ranges(&self, event: EventIndex) -> bool {
        self.counted_by_ranges.get(event.index()).is_some_and(|counted| *counted)
    }

    /// A straight-line range of the program, or the facts of a sample without one.
    pub(crate) fn link(&self, sample: &Sample<'_>, piece: StackRange) -> Result<LinkedRange, SampleFacts> {
        let (event, cpu) = (sample.event, sample.cpu);
        let failed = |reason| {
            let attributes = SampleAttributes { space: Err(reason), event, cpu, tid: None, source: None };
            SampleFacts::new(LinkedAddress::default(), None, attributes)
        };
        let StraightLineRange { begin, end } = piece.map_err(failed)?;
        let mut in_mode = *sample;
        in_mode.cpu_mode = branch_cpu_mode(sample);
        let locate = |ip| self.linker.locate(&in_mode.with_ip(Some(ip)));
        let first = locate(begin).map_err(failed)?;
        let last = locate(end).ok().filter(|last| last.space == first.space);
        let last = last.ok_or_else(|| failed(Reason::BrokenRange))?;
        Ok(LinkedRange { begin: first.ip, end: last.ip, event })
    }
}

/// Data breakpoints, by event. On x86 they skid by one instruction: samples name the one behind the access
/// (Intel SDM volume 3B, "Data Memory and I/O Breakpoint Exception Conditions"). The address of a sample is
/// that of the breakpoint, not of the access (`perf_bp_event` in `kernel/events/core.c`).
#[derive(Clone, Debug, Default)]
pub(crate) struct DataBreakpoints {
    by_event: Vec<Option<DataBreakpoint>>,
}

impl DataBreakpoints {
    pub(crate) fn from_facts(facts: &RecordingFacts) -> Self {
        let is_x86 = facts.arch.as_deref().is_none_or(|arch| arch.starts_with("x86") || arch.ends_with("86"));
        let events = facts.events.iter().map(|event| event.attr.data_breakpoint().filter(|_| is_x86));
        Self { by_event: events.collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_event.iter().all(Option::is_none)
    }

    /// The breakpoint of an event, if it is one.
    pub(crate) fn for_event(&self, event: EventIndex) -> Option<DataBreakpoint> {
        self.by_event.get(event.index()).copied().flatten()
    }
}
