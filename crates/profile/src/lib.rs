//! A recording and a program to an access profile.
//!
//! * `addresses`: addresses of the recorded machine to addresses as linked.
//! * `objects`: instances of structs at sampled addresses.
//! * `aggregate`: sums, windows and blocks of time.
//! * `gather`: the samples that differ in more than their times.
//! * `attribute`: what each sample touched.
//! * `sums`: what that adds up to.
//! * `perf_types`: what perf itself counted by type.

pub mod addresses;
mod aggregate;
pub mod attribute;
mod gather;
mod objects;
pub mod perf_types;
pub mod sums;
