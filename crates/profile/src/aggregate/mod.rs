//! Attributed samples to an `AccessProfile`.
//!
//! * `blocks`: stretches of time with equally many samples.
//! * `builder`: sums by instruction and place, by CPU, by event.
//! * `homes`: which CPU an object is at home on.
//! * `windows`: samples of one CPU close in time.

pub mod blocks;
pub mod builder;
pub mod homes;
pub mod windows;

pub use blocks::{Blocks, Clock};
pub use builder::{Builder, Function, Outcome, Row, Target, TypeInfo};
