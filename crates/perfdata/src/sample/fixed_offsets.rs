//! Samples whose fields are all of fixed size: where each field is, found once an event.

use super::fields::SampleFields;
use super::parts::Sample;
use crate::address::{DataAddress, LoadedAddress};
use crate::data_source::DataSource;
use crate::perf_data::Endian;
use std::num::NonZeroU64;

/// The fields between the period and the weight, which most recordings have none of.
pub(super) const EXECUTION_FIELDS: SampleFields = SampleFields(
    SampleFields::READ.0
        | SampleFields::CALLCHAIN.0
        | SampleFields::RAW.0
        | SampleFields::BRANCH_STACK.0
        | SampleFields::REGS_USER.0
        | SampleFields::STACK_USER.0,
);
pub(super) const VARIABLE_SIZE_FIELDS: SampleFields =
    SampleFields(EXECUTION_FIELDS.0 | SampleFields::REGS_INTR.0 | SampleFields::AUX.0);

/// The fields of fixed size, a word each, in the kernel's order. One of both weights at most.
const FIXED_SIZE_ORDER: [SampleFields; 16] = [
    SampleFields::IDENTIFIER,
    SampleFields::IP,
    SampleFields::TID,
    SampleFields::TIME,
    SampleFields::ADDR,
    SampleFields::ID,
    SampleFields::STREAM_ID,
    SampleFields::CPU,
    SampleFields::PERIOD,
    ANY_WEIGHT,
    SampleFields::DATA_SRC,
    SampleFields::TRANSACTION,
    SampleFields::PHYS_ADDR,
    SampleFields::CGROUP,
    SampleFields::DATA_PAGE_SIZE,
    SampleFields::CODE_PAGE_SIZE,
];

const ANY_WEIGHT: SampleFields = SampleFields(SampleFields::WEIGHT.0 | SampleFields::WEIGHT_STRUCT.0);

/// Offset of a word that no sample has: behind the end of any.
const ABSENT: u16 = u16::MAX;

/// The cycles of the access in `PERF_SAMPLE_WEIGHT_STRUCT` (`var1_dw`). Both byte orders lay the struct out
/// so that the word's value is the same.
pub(super) fn weight_struct_latency(word: u64) -> u64 {
    word & 0xffff_ffff
}

/// Where in the body of a sample its fields are, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FixedOffsets {
    /// Bytes of a body.
    pub(super) size: usize,
    ip: u16,
    tid: u16,
    time: u16,
    addr: u16,
    cpu: u16,
    period: u16,
    weight: u16,
    is_weight_struct: bool,
    data_source: u16,
    physical_address: u16,
}

impl FixedOffsets {
    /// The offsets in samples with these fields; `None` if some field's size is known from the sample alone.
    pub(super) fn for_fields(fields: SampleFields) -> Option<Self> {
        if fields.intersects(VARIABLE_SIZE_FIELDS) {
            return None;
        }
        let offset = |field: SampleFields| {
            let before = FIXED_SIZE_ORDER.iter().take_while(|other| **other != field);
            let words = before.filter(|other| fields.intersects(**other)).count() as u16;
            if fields.intersects(field) { 8 * words } else { ABSENT }
        };
        Some(Self {
            size: 8 * FIXED_SIZE_ORDER.iter().filter(|field| fields.intersects(**field)).count(),
            ip: offset(SampleFields::IP),
            tid: offset(SampleFields::TID),
            time: offset(SampleFields::TIME),
            addr: offset(SampleFields::ADDR),
            cpu: offset(SampleFields::CPU),
            period: offset(SampleFields::PERIOD),
            weight: offset(ANY_WEIGHT),
            is_weight_struct: fields.contains(SampleFields::WEIGHT_STRUCT),
            data_source: offset(SampleFields::DATA_SRC),
            physical_address: offset(SampleFields::PHYS_ADDR),
        })
    }

    /// Reads the fields of a body that is as long as it should be.
    #[inline]
    pub(super) fn read(&self, body: &[u8], endian: Endian, sample: &mut Sample<'_>) {
        let word = |at: u16| Some(endian.u64(*body.get(usize::from(at)..)?.first_chunk()?));
        let half = |at: u16| Some(endian.u32(*body.get(usize::from(at)..)?.first_chunk()?));
        sample.ip = word(self.ip).map(LoadedAddress);
        sample.pid = half(self.tid);
        sample.tid = half(self.tid.saturating_add(4));
        sample.time = word(self.time);
        sample.addr = word(self.addr).and_then(DataAddress::new);
        sample.cpu = half(self.cpu);
        sample.period = word(self.period).unwrap_or(sample.period);
        let weight = word(self.weight);
        sample.latency = if self.is_weight_struct { weight.map(weight_struct_latency) } else { weight };
        sample.data_source = word(self.data_source).map(DataSource);
        sample.physical_address = word(self.physical_address).and_then(NonZeroU64::new);
    }
}
