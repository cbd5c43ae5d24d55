//! The access profile: sampled accesses by struct, offset and function.
//!
//! Pure values: no I/O, no perf. A profile joins a layout by type identity (name and fingerprint) and offset.
//!
//! ```
//! use fieldline_access::AccessProfile;
//! use fieldline_access::access::{Access, SampleCount, TypeProfile};
//!
//! let recorded = |samples| AccessProfile {
//!     types: vec![TypeProfile {
//!         name: "queue".to_owned(),
//!         size: 64,
//!         accesses: vec![Access { loads: SampleCount { samples, period: 0 }, ..Access::default() }],
//!         ..TypeProfile::default()
//!     }],
//!     ..AccessProfile::empty()
//! };
//! let mut sum = recorded(3);
//! sum.merge(recorded(4));
//! assert_eq!(sum.find_type("queue").map(TypeProfile::samples), Some(7));
//! ```
//!
//! * `access`: sums by member, by CPU and by function, windows of accesses, and the profile that holds them.
//! * `time_blocks`: the sums by time block.
//! * `line_loss`: how often CPUs lose the lines of a struct to each other.
//! * `line_turns`: how CPUs take turns on lines, by the times of samples.
//! * `same_program`, `merge`: whether profiles are of one program, and their sum.

pub mod access;
pub mod line_loss;
pub mod line_turns;
mod merge;
mod same_program;
pub mod time_blocks;

pub use access::AccessProfile;
pub use same_program::ProgramMismatch;
