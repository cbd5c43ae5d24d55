//! Samples whose fields are all of fixed size: where each field is, found once an event.

use super::fields::SampleFields;

pub(super) const VARIABLE: SampleFields = SampleFields(
    SampleFields::READ.0
        | SampleFields::CALLCHAIN.0
        | SampleFields::RAW.0
        | SampleFields::BRANCH_STACK.0
        | SampleFields::REGS_USER.0
        | SampleFields::STACK_USER.0
        | SampleFields::REGS_INTR.0
        | SampleFields::AUX.0,
);

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

/// Where in the body of a sample its fields are, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
    /// Bytes of a body.
    pub(super) size: usize,
    pub(super) ip: u16,
    pub(super) tid: u16,
    pub(super) time: u16,
    pub(super) addr: u16,
    pub(super) cpu: u16,
    pub(super) period: u16,
    pub(super) weight: u16,
    pub(super) is_weight_struct: bool,
    pub(super) data_source: u16,
    pub(super) physical_address: u16,
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
}
