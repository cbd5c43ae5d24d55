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
        let mut body = self.bytes();
        write_identity(&mut body, &event.attr, values, id);
        write_execution(&mut body, &event.attr, values);
        write_memory(&mut body, &event.attr, values);
        let misc = values.cpu_mode as u16 | u16::from(values.exact_ip) << 14;
        self.record(kind::SAMPLE, misc, &body.into_vec());
    }
}

fn write_identity(out: &mut Bytes, attr: &Attr, values: &SampleValues<'_>, id: u64) {
    let has = |field| attr.sample_type.contains(field);
    for (field, value) in [(SampleFields::IDENTIFIER, id), (SampleFields::IP, values.ip)] {
        if has(field) {
            out.u64(value);
        }
    }
    if has(SampleFields::TID) {
        out.u32(values.pid).u32(values.tid);
    }
    let middle = [
        (SampleFields::TIME, values.time),
        (SampleFields::ADDR, values.addr),
        (SampleFields::ID, id),
        (SampleFields::STREAM_ID, id),
    ];
    for (field, value) in middle {
        if has(field) {
            out.u64(value);
        }
    }
    if has(SampleFields::CPU) {
        out.u32(values.cpu).u32(0);
    }
    if has(SampleFields::PERIOD) {
        out.u64(values.period);
    }
}

fn write_execution(out: &mut Bytes, attr: &Attr, values: &SampleValues<'_>) {
    let has = |field| attr.sample_type.contains(field);
    if has(SampleFields::READ) {
        write_counters(out, attr.read_format, &values.read);
    }
    if has(SampleFields::CALLCHAIN) {
        out.u64(values.callchain.len() as u64).words(values.callchain);
    }
    if has(SampleFields::RAW) {
        out.u32(u32::try_from(values.raw.len()).unwrap_or(u32::MAX)).bytes(values.raw);
    }
    if has(SampleFields::BRANCH_STACK) {
        out.u64(values.branches.len() as u64);
        if attr.branch_sample_type >> 17 & 1 != 0 {
            out.u64(values.branch_index);
        }
        values.branches.iter().for_each(|branch| {
            out.words(branch);
        });
    }
    if has(SampleFields::REGS_USER) {
        write_registers(out, values.user_registers);
    }
    if has(SampleFields::STACK_USER) {
        out.u64(values.user_stack.len() as u64).bytes(values.user_stack);
        if !values.user_stack.is_empty() {
            out.u64(values.user_stack.len() as u64);
        }
    }
}

fn write_memory(out: &mut Bytes, attr: &Attr, values: &SampleValues<'_>) {
    let has = |field| attr.sample_type.contains(field);
    let weight = SampleFields::WEIGHT | SampleFields::WEIGHT_STRUCT;
    if attr.sample_type.intersects(weight) {
        out.u64(values.weight);
    }
    for (field, value) in
        [(SampleFields::DATA_SRC, values.data_source), (SampleFields::TRANSACTION, values.transaction)]
    {
        if has(field) {
            out.u64(value);
        }
    }
    if has(SampleFields::REGS_INTR) {
        write_registers(out, values.interrupt_registers);
    }
    let last = [
        (SampleFields::PHYS_ADDR, values.physical_address),
        (SampleFields::CGROUP, values.cgroup),
        (SampleFields::DATA_PAGE_SIZE, values.data_page_size),
        (SampleFields::CODE_PAGE_SIZE, values.code_page_size),
    ];
    for (field, value) in last {
        if has(field) {
            out.u64(value);
        }
    }
    if has(SampleFields::AUX) {
        out.u64(values.aux.len() as u64).bytes(values.aux);
    }
}

/// An ABI of 2, a 64-bit task, where there are registers, and 0 where there are none.
fn write_registers(out: &mut Bytes, registers: &[u64]) {
    out.u64(if registers.is_empty() { 0 } else { 2 }).words(registers);
}

fn write_counters(out: &mut Bytes, read_format: u64, read: &CounterValues<'_>) {
    let has = |bit: u32| read_format >> bit & 1 != 0;
    let is_group = has(3);
    let first = read.counters.first().map_or(0, |counter| counter.0);
    out.u64(if is_group { read.counters.len() as u64 } else { first });
    if has(0) {
        out.u64(read.time_enabled);
    }
    if has(1) {
        out.u64(read.time_running);
    }
    let counters = if is_group { read.counters } else { read.counters.get(..1).unwrap_or(&[(0, 0, 0)]) };
    for &(value, id, lost) in counters {
        if is_group {
            out.u64(value);
        }
        if has(2) {
            out.u64(id);
        }
        if has(4) {
            out.u64(lost);
        }
    }
}
