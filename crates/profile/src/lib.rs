//! A recording and a program to an access profile.
//!
//! * `run`: which program, which instruction, what each sample touched, what that adds up to.
//! * `objects`: instances of structs at sampled addresses.
//! * `aggregate`: sums, windows and blocks of time.
//! * `perf_types`: what perf itself counted by type.

pub mod aggregate;
pub mod objects;
pub mod perf_types;
pub mod run;
