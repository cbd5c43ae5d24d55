//! The access profile: what recordings say about the members of structs.
//!
//! Pure values: no I/O, no perf. A profile joins a layout by type identity (name and fingerprint) and offset.
//!
//! * `access`: sums by member, by CPU and by function, windows of accesses, and the profile that holds them.
//! * `blocks`: in which stretches of a recording's time the sums fell.
//! * `sides`: how often CPUs touch and write places of a struct, at an object's home and away from it.
//! * `same_program`, `merge`: whether profiles are of one program, and their sum.

pub mod access;
pub mod blocks;
mod merge;
mod same_program;
pub mod sides;

pub use access::AccessProfile;
pub use same_program::OtherProgram;
