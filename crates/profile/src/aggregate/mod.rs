//! Attributed samples to an `AccessProfile`.
//!
//! * `builder`: sums by instruction and place, by CPU, by event.
//! * `homes`: which CPU an object is at home on.
//! * `windows`: samples of one CPU close in time.

pub mod builder;
pub mod homes;
pub mod windows;

pub use builder::{Builder, Function, Outcome, Row, Target, TypeInfo};
