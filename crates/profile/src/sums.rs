//! Attributed samples to profiles, and to what was attributed.
//!
//! * `context`: functions that a sample shows besides its own.
//! * `rows`: what samples that differ in their times only are like.
//! * `run_sums`: how often runs were met.
//! * `fold`: samples that count alike.
//! * `structs`: all structs that an access is one to.
//! * `profile`: sums over a recording.
//! * `coverage`: what was attributed by program, library or module.

mod context;
mod coverage;
mod fold;
mod profile;
mod rows;
mod run_sums;
mod structs;

pub use coverage::{DsoCoverage, coverage};
pub use profile::{Part, profile};
