//! A recording with what turns its addresses into the program's.

use super::key::{Aside, Facts};
use super::pieces::{Piece, by_runs, mode};
use crate::addresses::Linker;
use fieldline_debuginfo::Elf;
use fieldline_perfdata::perf_data::{DataBreakpoint, Error, EventIndex, RecordingFacts};
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::sample::runs::Run;
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::Reason;

/// A recording, and where its samples are in a program.
pub(crate) struct Source<'f> {
    pub(crate) file: &'f SampleFile,
    pub(crate) linker: Linker,
    pub(crate) traps: Traps,
    /// By event: whether its samples count by the runs of their branch stacks.
    by_runs: Vec<bool>,
}

impl<'f> Source<'f> {
    /// Opens a recording. What is mapped is noted before any sample is looked at: records may stand out of order.
    pub(crate) fn open(elf: &Elf<'_>, file: &'f SampleFile) -> Result<Self, Error> {
        let mut linker = Linker::new(elf, file)?;
        let by_runs = by_runs(file)?;
        if !linker.is_kernel() {
            file.each_other(|record| linker.note(record))?;
            linker.settle();
        }
        Ok(Self { file, linker, traps: Traps::of(file.facts()), by_runs })
    }

    /// What of a sample tells what it touched and how it counts, but for its time.
    #[inline]
    pub(crate) fn facts(&self, sample: &Sample<'_>) -> Facts {
        let (event, cpu, source) = (sample.event, sample.cpu, sample.data_source);
        let linked = self.linker.locate(sample);
        let tid = sample.tid.filter(|_| linked.is_ok() && self.linker.is_program());
        let aside = Aside { space: linked.map(|linked| linked.space), event, cpu, tid, source };
        let address = linked.map_or(0, |_| sample.addr.unwrap_or(0));
        Facts { ip: linked.map_or(0, |linked| linked.ip), address, aside }
    }

    /// Whether the samples of an event count by the runs of their branch stacks.
    #[inline]
    pub(crate) fn counts_runs(&self, event: EventIndex) -> bool {
        self.by_runs.get(event.index()).is_some_and(|is| *is)
    }

    /// A run of instructions of the program: begin in place of the instruction, end in place of the data's address. Or
    /// how it counts that there is none.
    pub(crate) fn piece(&self, sample: &Sample<'_>, piece: Piece) -> Result<Facts, Facts> {
        let (event, cpu) = (sample.event, sample.cpu);
        let aside = |space| Aside { space, event, cpu, tid: None, source: None };
        let lost = |reason| Facts { ip: 0, address: 0, aside: aside(Err(reason)) };
        let Run { begin, end } = piece.map_err(lost)?;
        let mut in_mode = *sample;
        in_mode.cpu_mode = mode(sample);
        let at = |ip| self.linker.locate(&in_mode.with_ip(Some(ip)));
        let first = at(begin).map_err(lost)?;
        let last = at(end).ok().filter(|last| last.space == first.space);
        let last = last.ok_or_else(|| lost(Reason::BrokenRun))?;
        Ok(Facts { ip: first.ip, address: last.ip, aside: Aside { cpu: None, ..aside(Ok(0)) } })
    }
}

/// Which events of a recording are breakpoints on data. On x86 such a breakpoint is a trap: samples name the instruction
/// behind the one that touched memory (Intel SDM volume 3B, "Data Memory and I/O Breakpoint Exception Conditions"). The
/// address of a sample is that of the watch, not of the access (`perf_bp_event` in `kernel/events/core.c`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Traps {
    by_event: Vec<Option<DataBreakpoint>>,
}

impl Traps {
    pub(crate) fn of(facts: &RecordingFacts) -> Self {
        let is_x86 = facts.arch.as_deref().is_none_or(|arch| arch.starts_with("x86") || arch.ends_with("86"));
        let events = facts.events.iter().map(|event| event.attr.data_breakpoint().filter(|_| is_x86));
        Self { by_event: events.collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_event.iter().all(Option::is_none)
    }

    /// What is watched, if an event is such a breakpoint.
    pub(crate) fn of_event(&self, event: EventIndex) -> Option<DataBreakpoint> {
        self.by_event.get(event.index()).copied().flatten()
    }
}
