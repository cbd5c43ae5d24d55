//! Forms in which recordings are written.
//!
//! * `sampler`: accesses through modelled caches, and samples of them.
//! * `perf_data`: samples as a perf.data.
//! * `trace`: all accesses.
//! * `object_table`: where objects were.

pub(crate) mod object_table;
pub(crate) mod perf_data;
pub(crate) mod sampler;
pub(crate) mod trace;
