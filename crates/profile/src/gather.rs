//! The samples of a recording by what they touched and how they count: as many as are different.
//!
//! * `key`: what of a sample tells what it touched and how it counts; tables of that.
//! * `pieces`: branch stacks cut into runs.
//! * `source`: a recording with what turns its addresses into the program's; samples that name the instruction behind.
//! * `seen`: what a profile needs to know before it counts.
//! * `gathered`: the samples that differ, with sums.

pub(crate) mod gathered;
pub(crate) mod key;
pub(crate) mod pieces;
pub(crate) mod seen;
pub(crate) mod source;
pub(crate) use gathered::Gathered;
pub(crate) use key::{Aside, Batch, Facts, One, Table};
pub(crate) use pieces::{Piece, mode, pieces};
pub(crate) use seen::{Seen, SeenSum};
pub(crate) use source::Source;
