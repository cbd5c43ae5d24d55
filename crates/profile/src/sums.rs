//! Attributed samples to profiles, and to what was attributed.
//!
//! * `context`: callers and branches of a sample.
//! * `sample_classes`: samples that are equal but for time and address.
//! * `range_sums`: counts of straight-line ranges.
//! * `sweep`: sums by sample class.
//! * `structs`: all structs that an access is one to.
//! * `profile`: sums over a recording.
//! * `turns`: how CPUs took turns on lines.
//! * `coverage`: what was attributed by program, library or module.

mod context;
mod coverage;
mod profile;
mod range_sums;
mod sample_classes;
mod structs;
mod sweep;
mod turns;

pub use coverage::{DsoCoverage, coverage};
pub use profile::{AttributedProgram, profile};
