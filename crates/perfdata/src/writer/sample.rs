//! Samples of a recording under construction.

use super::bytes::Bytes;
use super::recording::RecordingWriter;
use crate::perf_data::{Attr, EventIndex, kind};
use crate::sample::{CpuMode, SampleFields};

/// The values of a sample; those that its event does not ask for are not written.
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
    /// Counters.
    pub read: CounterValues<'a>,
    /// Call chain.
    pub callchain: &'a [u64],
    /// Opaque data; its length is four less than a multiple of eight, as the kernel pads it.
    pub raw: &'a [u8],
    /// Branches: from, to, flags.
    pub branches: &'a [[u64; 3]],
    /// Index of the youngest branch.
    pub branch_index: u64,
    /// User registers, as many as the event's mask has bits.
    pub user_registers: &'a [u64],
    /// User stack, a multiple of eight bytes.
    pub user_stack: &'a [u8],
    /// The weight as a word.
    pub weight: u64,
    /// Data source.
    pub data_source: u64,
    /// Transaction.
    pub transaction: u64,
    /// Registers at the interrupt, as many as the event's mask has bits.
    pub interrupt_registers: &'a [u64],
    /// Physical address.
    pub physical_address: u64,
    /// Control group.
    pub cgroup: u64,
    /// Page size of the data.
    pub data_page_size: u64,
    /// Page size of the code.
    pub code_page_size: u64,
    /// AUX data, a multiple of eight bytes.
    pub aux: &'a [u8],
}

/// The counters of a sample.
#[derive(Debug, Clone, Copy, Default)]
pub struct CounterValues<'a> {
    /// Nanoseconds enabled.
    pub time_enabled: u64,
    /// Nanoseconds counting.
    pub time_running: u64,
    /// Value, id and losses of each counter; one unless events are grouped.
    pub counters: &'a [(u64, u64, u64)],
}

impl RecordingWriter {
    /// Adds a sample of an event that was added before.
    pub fn sample(&mut self, event: EventIndex, values: &SampleValues<'_>) {
        let Some(event) = self.events.get(event.index()) else { return };
        let id = values.id.or(event.ids.first().copied()).unwrap_or(0);
        let mut body = Body { out: self.bytes(), attr: &event.attr };
        body.identity(values, id);
        body.execution(values);
        body.memory(values);
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

    fn identity(&mut self, values: &SampleValues<'_>, id: u64) {
        self.word(SampleFields::IDENTIFIER, id);
        self.word(SampleFields::IP, values.ip);
        self.half_words(SampleFields::TID, values.pid, values.tid);
        self.word(SampleFields::TIME, values.time);
        self.word(SampleFields::ADDR, values.addr);
        self.word(SampleFields::ID, id);
        self.word(SampleFields::STREAM_ID, id);
        self.half_words(SampleFields::CPU, values.cpu, 0);
        self.word(SampleFields::PERIOD, values.period);
    }

    fn execution(&mut self, values: &SampleValues<'_>) {
        if self.has(SampleFields::READ) {
            self.counters(&values.read);
        }
        self.word(SampleFields::CALLCHAIN, values.callchain.len() as u64);
        self.words(SampleFields::CALLCHAIN, values.callchain);
        if self.has(SampleFields::RAW) {
            self.out.u32(u32::try_from(values.raw.len()).unwrap_or(u32::MAX)).bytes(values.raw);
        }
        self.word(SampleFields::BRANCH_STACK, values.branches.len() as u64);
        if self.attr.branch_sample_type >> 17 & 1 != 0 {
            self.word(SampleFields::BRANCH_STACK, values.branch_index);
        }
        self.words(SampleFields::BRANCH_STACK, values.branches.as_flattened());
        self.registers(SampleFields::REGS_USER, values.user_registers);
        if self.has(SampleFields::STACK_USER) {
            let length = values.user_stack.len() as u64;
            self.out.u64(length).bytes(values.user_stack);
            if length > 0 {
                self.out.u64(length);
            }
        }
    }

    fn memory(&mut self, values: &SampleValues<'_>) {
        if self.attr.sample_type.intersects(SampleFields::WEIGHT | SampleFields::WEIGHT_STRUCT) {
            self.out.u64(values.weight);
        }
        self.word(SampleFields::DATA_SRC, values.data_source);
        self.word(SampleFields::TRANSACTION, values.transaction);
        self.registers(SampleFields::REGS_INTR, values.interrupt_registers);
        self.word(SampleFields::PHYS_ADDR, values.physical_address);
        self.word(SampleFields::CGROUP, values.cgroup);
        self.word(SampleFields::DATA_PAGE_SIZE, values.data_page_size);
        self.word(SampleFields::CODE_PAGE_SIZE, values.code_page_size);
        if self.has(SampleFields::AUX) {
            self.out.u64(values.aux.len() as u64).bytes(values.aux);
        }
    }

    /// An ABI of 2, a 64-bit task, where there are registers, and 0 where there are none.
    fn registers(&mut self, field: SampleFields, registers: &[u64]) {
        self.word(field, if registers.is_empty() { 0 } else { 2 });
        self.words(field, registers);
    }

    fn counters(&mut self, read: &CounterValues<'_>) {
        let has = |bit: u32| self.attr.read_format >> bit & 1 != 0;
        let is_group = has(3);
        let first = read.counters.first().map_or(0, |counter| counter.0);
        let mut words = vec![if is_group { read.counters.len() as u64 } else { first }];
        words.extend(has(0).then_some(read.time_enabled));
        words.extend(has(1).then_some(read.time_running));
        let counters = if is_group { read.counters } else { read.counters.get(..1).unwrap_or(&[(0, 0, 0)]) };
        for &(value, id, lost) in counters {
            words.extend(is_group.then_some(value));
            words.extend(has(2).then_some(id));
            words.extend(has(4).then_some(lost));
        }
        self.out.words(&words);
    }
}
