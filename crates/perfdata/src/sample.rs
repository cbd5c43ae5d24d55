//! The body of a `PERF_RECORD_SAMPLE`, field by field.
//!
//! The order is the kernel's `perf_output_sample` in `kernel/events/core.c`. The comment in
//! `include/uapi/linux/perf_event.h` differs: it lists AUX before the page sizes and leaves out CGROUP.

mod fields;
mod layout;
mod parts;
mod places;
pub mod runs;

pub use fields::{Field, SampleFields};
pub use layout::{FieldError, SampleLayout};
pub use parts::{
    BranchEntry, BranchStack, CounterRead, CounterValue, CpuMode, Parts, Registers, UserStack, Weight, Words,
};

use crate::data_source::DataSource;
use crate::perf_data::EventIndex;

/// One sample. A field is `None` where the event's `sample_type` did not ask for it.
///
/// Here are the fields that attribution uses, for every sample; [`Sample::parts`] reads all others.
/// Making a sample allocates nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample<'a> {
    /// The event that was sampled.
    pub event: EventIndex,
    /// In whose code the sample was taken.
    pub cpu_mode: CpuMode,
    /// `ip` is exactly the instruction that caused the event (`PERF_RECORD_MISC_EXACT_IP`).
    pub exact_ip: bool,
    /// Address of the instruction.
    pub ip: Option<u64>,
    /// Process.
    pub pid: Option<u32>,
    /// Thread.
    pub tid: Option<u32>,
    /// Time in nanoseconds of the recording's clock.
    pub time: Option<u64>,
    /// Data address as recorded; zero where the hardware gave none, see [`Sample::data_address`].
    pub addr: Option<u64>,
    /// CPU that took the sample.
    pub cpu: Option<u32>,
    /// Events this sample stands for: as recorded, else the event's fixed period, else 1.
    pub period: u64,
    /// What the access cost.
    pub weight: Option<Weight>,
    /// Where the access was served.
    pub data_source: Option<DataSource>,
    /// Physical data address; zero where not known.
    pub physical_address: Option<u64>,
    /// The file its instruction is in, where a text names it; a perf.data tells by mappings.
    pub dso: Option<&'a str>,
    /// Where the other fields are.
    pub(crate) body: &'a [u8],
    pub(crate) layout: Option<&'a SampleLayout>,
}

impl<'a> Sample<'a> {
    /// The data address, unless none was recorded or it is zero, which is how "none" is written.
    #[must_use]
    pub fn data_address(&self) -> Option<u64> {
        self.addr.filter(|&address| address != 0)
    }

    /// Latency of the access in core cycles, where the event has weights.
    #[must_use]
    pub fn latency(&self) -> Option<u64> {
        self.weight.map(|weight| weight.latency)
    }

    /// The same at another instruction.
    #[must_use]
    pub fn with_ip(self, ip: Option<u64>) -> Self {
        Self { ip, ..self }
    }

    /// Whether a branch stack was asked for; it may be empty.
    #[inline]
    pub fn has_branches(&self) -> bool {
        self.layout.is_some_and(SampleLayout::has_branches)
    }

    /// The fields that are seldom wanted, read from the record once more.
    #[must_use]
    pub fn parts(&self) -> Parts<'a> {
        self.layout.map_or_else(Parts::default, |layout| layout.parts(self.body))
    }
}

#[cfg(test)]
mod tests;
