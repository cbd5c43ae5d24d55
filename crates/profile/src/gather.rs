//! The samples of a recording, equal ones counted together.
//!
//! * `sample_key`: keys of samples, and hash tables by key.
//! * `range_table`: straight-line ranges as linked, each once.
//! * `stack_ranges`: branch stacks split into straight-line ranges.
//! * `source`: a recording with its linker; data breakpoints.
//! * `tally`: record counts and gaps, needed before the samples are counted.
//! * `gathered`: sums over equal samples.
//! * `times`: times of samples by group.

pub(crate) mod gathered;
pub(crate) mod range_table;
pub(crate) mod sample_key;
pub(crate) mod source;
pub(crate) mod stack_ranges;
pub(crate) mod tally;
mod times;
pub(crate) use gathered::GatheredSamples;
pub(crate) use range_table::{LinkedRange, RangeTable};
pub(crate) use sample_key::{LookupBatch, SampleAttributes, SampleFacts, SampleMeasures, SampleTable};
pub(crate) use source::LinkedRecording;
pub(crate) use stack_ranges::{StackRange, branch_cpu_mode, split_stack};
pub(crate) use tally::{TallyAndTimes, TallySum};
pub(crate) use times::times_by_group;
