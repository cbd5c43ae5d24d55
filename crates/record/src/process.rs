//! Processes that are recorded, and the file written of them.
//!
//! * `maps`, `tasks`: mappings and threads, by `/proc`.
//! * `signals`: waits for their reports.
//! * `journal`: the perf.data file under construction; `host` is the machine's description in its header.

mod host;
pub(crate) mod journal;
pub(crate) mod maps;
pub(crate) mod signals;
pub(crate) mod tasks;
