//! Branch stacks split into straight-line ranges, and parts without one.

use fieldline_perfdata::perf_data::{Error, Event, Record};
use fieldline_perfdata::sample::branch_ranges::{
    BranchStackKind, StraightLineRange, may_record_access, records_access, straight_line_ranges,
};
use fieldline_perfdata::sample::{CpuMode, Sample};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::Reason;

/// A part of a branch stack: a straight-line range, or why there is none.
pub(crate) type StackRange = Result<StraightLineRange, Reason>;

/// The parts of a sample's branch stack, each with its share of the sample's period.
pub(crate) fn split_stack<'a>(sample: &Sample<'a>) -> impl Iterator<Item = (StackRange, u64)> + 'a {
    let count = straight_line_ranges(sample).count() as u64;
    let none = (count == 0).then_some(Err(Reason::NoRange));
    let (share, rest) = (sample.period / count.max(1), sample.period % count.max(1));
    let found = straight_line_ranges(sample)
        .map(|range| if range.is_possible() { Ok(range) } else { Err(Reason::BrokenRange) });
    let share = move |number| (share + u64::from(number < rest)).max(1);
    found.chain(none).zip(0..).map(move |(range, number)| (range, share(number)))
}

/// Properties of an event's branch stacks.
struct BranchStackState {
    /// They list all branches, and no sample so far recorded an access.
    is_complete: bool,
    /// Requested addresses may be missing: all samples have to be read.
    may_name: bool,
    has_ranges: bool,
}

impl BranchStackState {
    fn is_undecided(&self) -> bool {
        self.is_complete && (self.may_name || !self.has_ranges)
    }
}

/// Whether events count by the ranges of their branch stacks, by event: those whose stacks list all branches
/// and show ranges, and whose samples don't record an access themselves.
pub(crate) fn events_counted_by_ranges(file: &SampleFile) -> Result<Vec<bool>, Error> {
    let state = |Event { attr, .. }: &Event| BranchStackState {
        is_complete: BranchStackKind::for_event(attr) == BranchStackKind::Complete
            && attr.data_breakpoint().is_none(),
        may_name: may_record_access(attr),
        has_ranges: false,
    };
    let mut states: Vec<BranchStackState> = file.facts().events.iter().map(state).collect();
    let mut records = file.records();
    while states.iter().any(|state| state.is_undecided()) {
        let Some(record) = records.next_record()? else { break };
        let Record::Sample(sample) = record else { continue };
        if let Some(state) = states.get_mut(sample.event.index()).filter(|state| state.is_undecided()) {
            state.is_complete &= !records_access(&sample);
            state.has_ranges |= straight_line_ranges(&sample).any(StraightLineRange::is_possible);
        }
    }
    Ok(states.iter().map(|state| state.is_complete && state.has_ranges).collect())
}

/// The CPU mode of a branch, by its address; that of a guest's code by the sample.
pub(crate) fn branch_cpu_mode(sample: &Sample<'_>) -> CpuMode {
    if sample.cpu_mode.is_guest() { sample.cpu_mode } else { CpuMode::Unknown }
}
