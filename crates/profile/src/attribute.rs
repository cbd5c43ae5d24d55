//! Attribution of each sample, by code and addresses.
//!
//! * `attributed`: the attribution of a sample.
//! * `queries`: queries for the object at an address.
//! * `straight_line`: accesses in straight-line ranges.
//! * `program_samples`: one recording of a program, and the attribution of its samples.
//! * `accesses`: accesses of a sample, attributed by one of several programs.
//! * `attribution`: recordings of one program, and of several at once.

pub(crate) mod accesses;
pub(crate) mod attributed;
mod attribution;
pub(crate) mod program_samples;
mod queries;
pub(crate) mod straight_line;

pub(crate) use accesses::{for_each_access, locate_range};
pub use attributed::Attributed;
pub use attribution::{Attribution, JointAttribution};
pub(crate) use program_samples::{AttributedByObject, ProgramSamples};
pub(crate) use straight_line::StraightLineAccesses;
