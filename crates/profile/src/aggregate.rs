//! Attributed samples to an `AccessProfile`.
//!
//! * `blocks`: stretches of time with equally many samples.
//! * `builder`: sums by instruction and place, by CPU, by event.
//! * `by_cpu`: something of each CPU.
//! * `gaps`: how far apart samples of one CPU are.
//! * `homes`: which CPU an object is at home on.
//! * `rounds`: samples of one CPU in order of time.
//! * `windows`: samples of one CPU close in time.

pub mod blocks;
pub mod builder;
pub mod by_cpu;
pub mod gaps;
pub mod homes;
pub mod rounds;
pub mod windows;

pub use blocks::{Blocks, Clock};
pub use builder::{Builder, Counts, Function, Outcome, Row, Target, TypeInfo};
