//! Processes that are recorded, and what is written of them.
//!
//! * `maps`, `tasks`: what `/proc` says of mappings and threads.
//! * `signals`: waits for what they do.
//! * `journal`: what becomes a perf.data file: samples, and what was mapped and ran when; `host` is what its header says
//!   about the machine.

mod host;
pub(crate) mod journal;
pub(crate) mod maps;
pub(crate) mod signals;
pub(crate) mod tasks;
