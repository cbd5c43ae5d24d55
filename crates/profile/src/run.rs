//! Recordings from file to profile: which program, which instruction, what it touched, what that adds up to.
//!
//! * `link`: addresses of the recorded machine to addresses as linked.
//! * `spaces`: what each process had mapped, over time.
//! * `landmarks`: the same where a text names symbols only.
//! * `key`: what of a sample tells what it touched and how it counts.
//! * `gather`: the samples that differ in that, with sums.
//! * `attribution`: what each sample touched.
//! * `questions`: what addresses are asked, each once.
//! * `traps`: samples that name the instruction behind the access.
//! * `joint`: the same of several programs at once.
//! * `context`: functions that a sample shows besides its own.
//! * `run_sums`: how often runs were met.
//! * `straight`: runs of instructions between branches, and what they touched.
//! * `structs`: all structs that an access is one to.
//! * `look`: what a profile needs to know before it counts.
//! * `rows`: what samples that differ in their times only are like.
//! * `fold`: samples that count alike.
//! * `pieces`: branch stacks cut into runs.
//! * `profile`: sums over a recording.
//! * `dso`, `coverage`: what was attributed by program, library or module.

pub mod attribution;
pub mod context;
pub mod coverage;
pub mod dso;
mod fold;
mod gather;
pub mod joint;
mod key;
pub mod landmarks;
pub mod link;
mod look;
mod pieces;
pub mod profile;
mod questions;
mod rows;
mod run_sums;
pub mod spaces;
mod straight;
pub mod structs;
mod traps;

pub use attribution::{Attributed, Attribution};
pub use coverage::{DsoCoverage, coverage};
pub use joint::Joint;
pub use landmarks::{Displaced, check_addresses};
pub use link::{Linked, Linker, Mismatch, check_build_id};
pub use profile::{Part, profile};
