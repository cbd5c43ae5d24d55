//! Branch stacks cut into what counts: runs of instructions, and what is none.

use fieldline_perfdata::perf_data::{Error, Event, Record};
use fieldline_perfdata::sample::runs::{Run, Stacks, may_name_access, names_access, runs};
use fieldline_perfdata::sample::{CpuMode, Sample};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::Reason;

/// A part of a branch stack that counts: a run of instructions, or why there is none.
pub(crate) type Piece = Result<Run, Reason>;

/// The parts of a sample's branch stack, each with its share of the sample's period.
pub(crate) fn pieces<'a>(sample: &Sample<'a>) -> impl Iterator<Item = (Piece, u64)> + 'a {
    let count = runs(sample).count() as u64;
    let none = (count == 0).then_some(Err(Reason::NoRun));
    let (share, rest) = (sample.period / count.max(1), sample.period % count.max(1));
    let found = runs(sample).map(|run| if run.is_possible() { Ok(run) } else { Err(Reason::BrokenRun) });
    let share = move |number| (share + u64::from(number < rest)).max(1);
    found.chain(none).zip(0..).map(move |(piece, number)| (piece, share(number)))
}

/// What is known of an event's branch stacks.
struct State {
    /// They list all branches, and no sample so far named an access.
    is_whole: bool,
    /// Asking for addresses doesn't make the hardware give any: all samples have to be seen.
    may_name: bool,
    has_runs: bool,
}

impl State {
    fn is_open(&self) -> bool {
        self.is_whole && (self.may_name || !self.has_runs)
    }
}

/// Which events count by the runs of their branch stacks: those whose stacks list all branches and show runs, and whose
/// samples don't name an access themselves.
pub(crate) fn by_runs(file: &SampleFile) -> Result<Vec<bool>, Error> {
    let state = |Event { attr, .. }: &Event| State {
        is_whole: Stacks::of(attr) == Stacks::Whole && attr.data_breakpoint().is_none(),
        may_name: may_name_access(attr),
        has_runs: false,
    };
    let mut states: Vec<State> = file.facts().events.iter().map(state).collect();
    let mut records = file.records();
    while states.iter().any(|state| state.is_open()) {
        let Some(record) = records.next_record()? else { break };
        let Record::Sample(sample) = record else { continue };
        if let Some(state) = states.get_mut(sample.event.index()).filter(|state| state.is_open()) {
            state.is_whole &= !names_access(&sample);
            state.has_runs |= runs(&sample).any(Run::is_possible);
        }
    }
    Ok(states.iter().map(|state| state.is_whole && state.has_runs).collect())
}

/// In whose code a branch is: its own address tells, but that of a guest's code doesn't tell that it is a guest's.
pub(crate) fn mode(sample: &Sample<'_>) -> CpuMode {
    if sample.cpu_mode.is_guest() { sample.cpu_mode } else { CpuMode::Unknown }
}
