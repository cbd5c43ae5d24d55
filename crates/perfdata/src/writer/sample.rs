//! Samples of a recording under construction.

use super::bytes::Bytes;
use super::recording::RecordingWriter;
use crate::perf_data::{Attr, EventIndex, kind};
use crate::sample::{CpuMode, SampleFields};

/// The values of a sample; those that its event does not ask for are not written. Of fields that have no
/// value here zeros are written, as few as there can be.
#[derive(Debug, Clone, Copy, Default)]
pub struct SampleValues<'a> {
    /// In whose code.
    pub cpu_mode: CpuMode,
    /// The instruction is exact.
    pub exact_ip: bool,
    /// Identity of the event; its first one where not given.
    pub id: Option<u64>,
    /// Instruction.
    pub ip: u64,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Nanoseconds.
    pub time: u64,
    /// Data address.
    pub addr: u64,
    /// CPU.
    pub cpu: u32,
    /// Period.
    pub period: u64,
    /// Call chain.
    pub callchain: &'a [u64],
    /// Branches: from, to, flags.
    pub branches: &'a [[u64; 3]],
    /// The weight as a word.
    pub weight: u64,
    /// Data source.
    pub data_source: u64,
    /// Physical address.
    pub physical_address: u64,
}

impl RecordingWriter {
    /// Adds a sample of an event that was added before.
    pub fn sample(&mut self, event: EventIndex, values: &SampleValues<'_>) {
        let Some(event) = self.events.get(event.index()) else { return };
        let id = values.id.or(event.ids.first().copied()).unwrap_or(0);
        let mut body = Body { out: self.bytes(), attr: &event.attr };
        body.fields(values, id);
        let misc = values.cpu_mode as u16 | u16::from(values.exact_ip) << 14;
        let body = body.out.into_vec();
        self.record(kind::SAMPLE, misc, &body);
    }
}

/// The fields of a sample that its event asks for.
struct Body<'a> {
    out: Bytes,
    attr: &'a Attr,
}

impl Body<'_> {
    fn has(&self, field: SampleFields) -> bool {
        self.attr.sample_type.contains(field)
    }

    fn word(&mut self, field: SampleFields, value: u64) {
        self.words(field, &[value]);
    }

    fn words(&mut self, field: SampleFields, values: &[u64]) {
        if self.has(field) {
            self.out.words(values);
        }
    }

    fn half_words(&mut self, field: SampleFields, first: u32, second: u32) {
        if self.has(field) {
            self.out.u32(first).u32(second);
        }
    }

    fn fields(&mut self, values: &SampleValues<'_>, id: u64) {
        self.word(SampleFields::IDENTIFIER, id);
        self.word(SampleFields::IP, values.ip);
        self.half_words(SampleFields::TID, values.pid, values.tid);
        self.word(SampleFields::TIME, values.time);
        self.word(SampleFields::ADDR, values.addr);
        self.word(SampleFields::ID, id);
        self.word(SampleFields::STREAM_ID, id);
        self.half_words(SampleFields::CPU, values.cpu, 0);
        self.word(SampleFields::PERIOD, values.period);
        self.read();
        self.word(SampleFields::CALLCHAIN, values.callchain.len() as u64);
        self.words(SampleFields::CALLCHAIN, values.callchain);
        if self.has(SampleFields::RAW) {
            self.out.u32(0);
        }
        self.word(SampleFields::BRANCH_STACK, values.branches.len() as u64);
        if self.attr.branch_sample_type >> 17 & 1 != 0 {
            self.word(SampleFields::BRANCH_STACK, 0);
        }
        self.words(SampleFields::BRANCH_STACK, values.branches.as_flattened());
        self.word(SampleFields::REGS_USER, 0);
        self.word(SampleFields::STACK_USER, 0);
        if self.attr.sample_type.intersects(SampleFields::WEIGHT | SampleFields::WEIGHT_STRUCT) {
            self.out.u64(values.weight);
        }
        self.word(SampleFields::DATA_SRC, values.data_source);
        self.word(SampleFields::TRANSACTION, 0);
        self.word(SampleFields::REGS_INTR, 0);
        self.word(SampleFields::PHYS_ADDR, values.physical_address);
        self.word(SampleFields::CGROUP, 0);
        self.word(SampleFields::DATA_PAGE_SIZE, 0);
        self.word(SampleFields::CODE_PAGE_SIZE, 0);
        self.word(SampleFields::AUX, 0);
    }

    /// Counters: how many there are in a group, else the value of the only one; times; its id and losses.
    fn read(&mut self) {
        let is_group = self.attr.read_format >> 3 & 1 != 0;
        let beside = self.attr.read_format & if is_group { 0b00_0011 } else { 0b01_0111 };
        (0..=beside.count_ones()).for_each(|_| self.word(SampleFields::READ, 0));
    }
}
