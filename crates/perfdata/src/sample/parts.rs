//! Samples, and the parts of them that are more than one number.

use crate::address::{DataAddress, LoadedAddress};
use crate::data_source::DataSource;
use crate::perf_data::{Endian, EventIndex};
use crate::sample::cpu_mode::CpuMode;
use std::num::NonZeroU64;

/// One sample, with the fields that attribution uses. One is `None` where the event's `sample_type` did not
/// ask for it.
///
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
    pub ip: Option<LoadedAddress>,
    /// Process.
    pub pid: Option<u32>,
    /// Thread.
    pub tid: Option<u32>,
    /// Time in nanoseconds of the recording's clock.
    pub time: Option<u64>,
    /// Address of the data, unless the hardware gave none.
    pub addr: Option<DataAddress>,
    /// CPU that took the sample.
    pub cpu: Option<u32>,
    /// Events this sample stands for: as recorded, else the event's fixed period, else 1.
    pub period: u64,
    /// Return addresses, innermost first, with `PERF_CONTEXT_*` markers between.
    pub callchain: Option<Words<'a>>,
    /// Last branches taken; there may be none.
    pub branch_stack: Option<BranchStack<'a>>,
    /// Latency of the access in core cycles, where the event has weights.
    pub latency: Option<u64>,
    /// Where the access was served.
    pub data_source: Option<DataSource>,
    /// Physical address of the data, where it is known.
    pub physical_address: Option<NonZeroU64>,
    /// The file its instruction is in, where a text names it; a perf.data has mappings.
    pub dso: Option<&'a str>,
}

impl Sample<'_> {
    /// The same at another instruction.
    #[must_use]
    pub fn with_ip(self, ip: Option<LoadedAddress>) -> Self {
        Self { ip, ..self }
    }
}

/// Consecutive 64-bit numbers inside a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Words<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) endian: Endian,
}

impl<'a> Words<'a> {
    /// The numbers in order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        let Self { bytes, endian } = *self;
        bytes.as_chunks().0.iter().map(move |&word| endian.u64(word))
    }
}

/// Last branches, youngest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchStack<'a>(pub(crate) Words<'a>);

impl<'a> BranchStack<'a> {
    /// The branches.
    pub fn entries(&self) -> impl Iterator<Item = BranchEntry> + use<'a> {
        let Words { bytes, endian } = self.0;
        let entries = bytes.as_chunks::<8>().0.as_chunks::<3>().0.iter();
        entries.map(move |&entry| {
            let [from, to, flags] = entry.map(|word| endian.u64(word));
            let [from, to] = [from, to].map(LoadedAddress);
            BranchEntry { from, to, is_wrong_path: endian.bit_field(flags, 24, 2) == 1 }
        })
    }
}

/// `struct perf_branch_entry`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchEntry {
    /// Address of the branch.
    pub from: LoadedAddress,
    /// Address it went to.
    pub to: LoadedAddress,
    /// The processor took it on a path that proved wrong (`PERF_BR_SPEC_WRONG_PATH`): the program did not.
    pub is_wrong_path: bool,
}
