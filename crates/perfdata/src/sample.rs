//! The body of a `PERF_RECORD_SAMPLE`, field by field.
//!
//! The order is the kernel's `perf_output_sample` in `kernel/events/core.c`. The comment in
//! `include/uapi/linux/perf_event.h` differs: it lists AUX before the page sizes and leaves out CGROUP.
//!
//! * `fields`, `parts`: which fields there are, and the values of those that are more than a number.
//! * `layout`: the fields of an event's samples, read in order; `fixed_offsets`: offsets of fields, where
//!   they never change.
//! * `branch_ranges`: straight-line ranges of branch stacks.

pub mod branch_ranges;
pub(crate) mod cpu_mode;
mod fields;
mod fixed_offsets;
mod layout;
mod parts;

pub use cpu_mode::CpuMode;
pub use fields::SampleFields;
pub(crate) use layout::{FieldError, SampleLayout};
pub use parts::{BranchEntry, BranchStack, Sample, Words};

#[cfg(test)]
mod tests;
