//! All accesses, in 16 bytes each (docs/formats.md, Traces).

use std::io::{self, Write};

/// Accesses from one mark of time to the next.
const MARK_DISTANCE: u64 = 4096;
const TIME_MARK: u8 = 0x7f;
const SWITCH_MARK: u8 = 0x7e;
const STORE: u8 = 0x80;

/// Writes a trace.
pub(crate) struct TraceWriter<'w> {
    out: &'w mut dyn Write,
    count: u64,
}

impl<'w> TraceWriter<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Self {
        Self { out, count: 0 }
    }

    pub(crate) fn access(
        &mut self,
        access: &crate::stream::Access,
        (cpu, tid): (usize, u32),
        time: u64,
    ) -> io::Result<()> {
        if self.count.is_multiple_of(MARK_DISTANCE) {
            let number = self.count as u32;
            self.record(time, number, cpu, TIME_MARK, 0)?;
        }
        self.count += 1;
        let flags = access.size_log2 | if access.is_store { STORE } else { 0 };
        self.record(access.address, access.code, cpu, flags, tid)
    }

    /// Another task runs on a CPU.
    pub(crate) fn switch(&mut self, task: u64, (cpu, tid): (usize, u32)) -> io::Result<()> {
        self.record(task, tid, cpu, SWITCH_MARK, tid)
    }

    fn record(&mut self, address: u64, code: u32, cpu: usize, flags: u8, tid: u32) -> io::Result<()> {
        let mut bytes = [0; 16];
        let (words, rest) = bytes.split_at_mut(12);
        words[..8].copy_from_slice(&address.to_le_bytes());
        words[8..].copy_from_slice(&code.to_le_bytes());
        rest[0] = u8::try_from(cpu).unwrap_or(u8::MAX);
        rest[1] = flags;
        rest[2..].copy_from_slice(&(tid as u16).to_le_bytes());
        self.out.write_all(&bytes)
    }
}
