//! Attributed samples to an `AccessProfile`.
//!
//! * `blocks`: stretches of time with equally many samples.
//! * `builder`: sums by instruction and place, by CPU, by event; which CPU an object is at home on.
//! * `gaps`: how far apart samples of one CPU are.
//! * `rounds`: samples of one CPU in order of time; something of each CPU.
//! * `windows`: samples of one CPU close in time.

pub(crate) mod blocks;
pub(crate) mod builder;
pub(crate) mod gaps;
pub(crate) mod rounds;
pub(crate) mod windows;

pub(crate) use blocks::{Blocks, Clock};
pub(crate) use builder::{Builder, Counts, Row, StructIndex, add, cover};
pub(crate) use gaps::Gaps;
pub(crate) use windows::{Moment, Windows, Word};
