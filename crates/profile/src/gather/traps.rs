//! Samples of breakpoints on data, which name the instruction behind the one that touched memory.
//!
//! On x86 such a breakpoint is a trap: it is taken after the access (Intel SDM volume 3B, "Data Memory and I/O Breakpoint
//! Exception Conditions"), and perf records the instruction to go on with. Elsewhere, as on arm64, it is taken before. The
//! address of a sample is that of the watch, not of the access (`perf_bp_event` in `kernel/events/core.c`).

use fieldline_perfdata::perf_data::{DataBreakpoint, EventIndex, RecordingFacts};

/// Which events of a recording are such breakpoints.
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
