//! The body of a `PERF_RECORD_SAMPLE`, field by field.
//!
//! The order is the kernel's `perf_output_sample` in `kernel/events/core.c`. The comment in
//! `include/uapi/linux/perf_event.h` differs: it lists AUX before the page sizes and leaves out CGROUP.
//!
//! * `fields`, `parts`: which fields there are, and the values of those that are more than a number.
//! * `layout`: the fields of an event's samples, walked one after the other; `places`: where they are if that is always the same.
//! * `runs`: what branch stacks tell.

pub(crate) mod cpu_mode;
mod fields;
mod layout;
mod parts;
mod places;
pub mod runs;

pub use cpu_mode::CpuMode;
pub use fields::SampleFields;
pub(crate) use layout::{FieldError, SampleLayout};
pub use parts::{BranchEntry, BranchStack, Sample, Words};

#[cfg(test)]
mod tests;
