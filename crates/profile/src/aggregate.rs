//! Attributed samples to an `AccessProfile`.
//!
//! * `blocks`: time blocks.
//! * `builder`: sums by instruction and offset, by CPU, by event; home CPUs of objects.
//! * `sample_gaps`: median gap between samples of one CPU.
//! * `finished_rounds`: samples of one CPU in order of time; values by CPU.
//! * `windows`: samples of one CPU close in time.

pub(crate) mod blocks;
pub(crate) mod builder;
pub(crate) mod finished_rounds;
pub(crate) mod sample_gaps;
pub(crate) mod windows;

pub(crate) use blocks::{SampleTimes, TimeBlocks};
pub(crate) use builder::{ClassCounts, ProfileBuilder, SampleGroup, StructIndex, add_coverage, add_tally};
pub(crate) use sample_gaps::SampleGaps;
pub(crate) use windows::{TypeAndFunction, WindowSample, Windows};
