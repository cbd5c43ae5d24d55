//! Samples whose fields are all of fixed size: where each field is, found once an event.

use super::fields::SampleFields;
use super::parts::Sample;
use crate::data_source::DataSource;
use crate::perf_data::Endian;

/// The fields between the period and the weight, which most recordings have none of.
pub(super) const EXECUTION: SampleFields = SampleFields(
    SampleFields::READ.0
        | SampleFields::CALLCHAIN.0
        | SampleFields::RAW.0
        | SampleFields::BRANCH_STACK.0
        | SampleFields::REGS_USER.0
        | SampleFields::STACK_USER.0,
);
pub(super) const VARIABLE: SampleFields =
    SampleFields(EXECUTION.0 | SampleFields::REGS_INTR.0 | SampleFields::AUX.0);

/// The fields of fixed size, a word each, in the kernel's order. One of both weights at most.
const ORDER: [SampleFields; 16] = [
    SampleFields::IDENTIFIER,
    SampleFields::IP,
    SampleFields::TID,
    SampleFields::TIME,
    SampleFields::ADDR,
    SampleFields::ID,
    SampleFields::STREAM_ID,
    SampleFields::CPU,
    SampleFields::PERIOD,
    WEIGHT,
    SampleFields::DATA_SRC,
    SampleFields::TRANSACTION,
    SampleFields::PHYS_ADDR,
    SampleFields::CGROUP,
    SampleFields::DATA_PAGE_SIZE,
    SampleFields::CODE_PAGE_SIZE,
];

const WEIGHT: SampleFields = SampleFields(SampleFields::WEIGHT.0 | SampleFields::WEIGHT_STRUCT.0);

/// Where a word is that no sample has: behind the end of any.
const NOWHERE: u16 = u16::MAX;

/// The cycles of the access in `PERF_SAMPLE_WEIGHT_STRUCT` (`var1_dw`). Both byte orders lay the struct out so that the
/// word's value is the same.
pub(super) fn latency_of_struct(word: u64) -> u64 {
    word & 0xffff_ffff
}

/// Where in the body of a sample its fields are, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
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

impl Places {
    /// The places of samples with these fields; none if some field's size is known from the sample alone.
    pub(super) fn of(fields: SampleFields) -> Option<Self> {
        if fields.intersects(VARIABLE) {
            return None;
        }
        let place = |field: SampleFields| {
            let before = ORDER.iter().take_while(|other| **other != field);
            let words = before.filter(|other| fields.intersects(**other)).count() as u16;
            if fields.intersects(field) { 8 * words } else { NOWHERE }
        };
        Some(Self {
            size: 8 * ORDER.iter().filter(|field| fields.intersects(**field)).count(),
            ip: place(SampleFields::IP),
            tid: place(SampleFields::TID),
            time: place(SampleFields::TIME),
            addr: place(SampleFields::ADDR),
            cpu: place(SampleFields::CPU),
            period: place(SampleFields::PERIOD),
            weight: place(WEIGHT),
            is_weight_struct: fields.contains(SampleFields::WEIGHT_STRUCT),
            data_source: place(SampleFields::DATA_SRC),
            physical_address: place(SampleFields::PHYS_ADDR),
        })
    }

    /// Reads the fields of a body that is as long as it should be.
    #[inline]
    pub(super) fn read(&self, body: &[u8], endian: Endian, sample: &mut Sample<'_>) {
        let word = |at: u16| Some(endian.u64(*body.get(usize::from(at)..)?.first_chunk()?));
        let half = |at: u16| Some(endian.u32(*body.get(usize::from(at)..)?.first_chunk()?));
        sample.ip = word(self.ip);
        sample.pid = half(self.tid);
        sample.tid = half(self.tid.saturating_add(4));
        sample.time = word(self.time);
        sample.addr = word(self.addr);
        sample.cpu = half(self.cpu);
        sample.period = word(self.period).unwrap_or(sample.period);
        let weight = word(self.weight);
        sample.latency = if self.is_weight_struct { weight.map(latency_of_struct) } else { weight };
        sample.data_source = word(self.data_source).map(DataSource);
        sample.physical_address = word(self.physical_address);
    }
}
