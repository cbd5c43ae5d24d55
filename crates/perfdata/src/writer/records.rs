//! The records of a recording under construction, apart from samples.

use super::bytes::Bytes;
use super::packing::WrittenRecord;
use super::recording::{RecordingWriter, SampleId};
use crate::perf_data::{BuildId, Mmap, TaskRecord, kind};
use crate::sample::{CpuMode, SampleFields};

/// `PERF_RECORD_MISC_COMM_EXEC`.
const MISC_COMM_EXEC: u16 = 1 << 13;

/// `PERF_RECORD_MISC_MMAP_DATA`.
const MISC_MMAP_DATA: u16 = 1 << 13;

/// Something mapped.
#[derive(Debug, Clone, Copy)]
pub struct Mapping<'a> {
    /// Process; all ones for the kernel.
    pub pid: u32,
    /// First address.
    pub address: u64,
    /// Bytes.
    pub length: u64,
    /// Offset in the file.
    pub page_offset: u64,
    /// Path.
    pub filename: &'a str,
    /// Whose it is.
    pub cpu_mode: CpuMode,
}

impl<'a> From<&'a Mmap<'_>> for Mapping<'a> {
    fn from(mmap: &'a Mmap<'_>) -> Self {
        let Mmap { pid, address, length, page_offset, cpu_mode, .. } = *mmap;
        Self { pid, address: address.0, length, page_offset, filename: &mmap.filename, cpu_mode }
    }
}

impl RecordingWriter {
    /// Sets thread, time and CPU of the records that follow; all zeros if never set.
    pub fn set_sample_id(&mut self, identity: SampleId) {
        self.sample_id = identity;
    }

    /// Adds a record with any kind and body. The kernel's kinds get the identity at their end that the
    /// first event asks for: the last sample ID that was set, and the event's id.
    pub fn record(&mut self, kind: u32, misc: u16, body: &[u8]) {
        // The first kind that perf writes and the kernel does not.
        let is_from_kernel = kind < kind::HEADER_ATTR;
        let mut whole = self.bytes();
        whole.bytes(body);
        if is_from_kernel && kind != kind::SAMPLE {
            self.write_sample_id(&mut whole);
        }
        let mut out = self.bytes();
        out.record(kind, misc, &whole.into_vec());
        self.push(out, is_from_kernel);
    }

    pub(super) fn push(&mut self, record: Bytes, is_from_kernel: bool) {
        self.records.push(WrittenRecord { bytes: record.into_vec(), is_from_kernel });
    }

    /// `struct sample_id` of the first event.
    fn write_sample_id(&self, out: &mut Bytes) {
        let Some(event) = self.events.first().filter(|event| event.attr.has_sample_id_all()) else { return };
        let id = event.ids.first().copied().unwrap_or(0);
        let has = |field| event.attr.sample_type.contains(field);
        let SampleId { pid, tid, time, cpu } = self.sample_id;
        if has(SampleFields::TID) {
            out.u32(pid).u32(tid);
        }
        let words = [(SampleFields::TIME, time), (SampleFields::ID, id), (SampleFields::STREAM_ID, id)];
        words.into_iter().filter(|(field, _)| has(*field)).for_each(|(_, value)| {
            out.u64(value);
        });
        if has(SampleFields::CPU) {
            out.u32(cpu).u32(0);
        }
        if has(SampleFields::IDENTIFIER) {
            out.u64(id);
        }
    }

    /// The mapping of the kernel image as perf makes it up: named after the reference symbol, whose
    /// loaded address is the page offset.
    pub fn kernel_map(&mut self, address: u64, length: u64, symbol: &str, page_offset: u64) {
        let (pid, cpu_mode) = (u32::MAX, CpuMode::Kernel);
        let filename = &format!("[kernel.kallsyms]{symbol}");
        self.mmap(&Mapping { pid, address, length, page_offset, filename, cpu_mode });
    }

    /// A `PERF_RECORD_MMAP`.
    pub fn mmap(&mut self, mapping: &Mapping<'_>) {
        let mut body = self.mapping_start(mapping);
        body.name(mapping.filename);
        self.record(kind::MMAP, mapping.cpu_mode as u16, &body.into_vec());
    }

    /// A `PERF_RECORD_MMAP2` with a build id.
    pub fn mmap_with_build_id(&mut self, mapping: &Mapping<'_>, build_id: BuildId) {
        let mut body = self.mapping_start(mapping);
        body.bytes(&[build_id.length, 0, 0, 0]).bytes(&build_id.bytes);
        body.u32(5).u32(2).name(mapping.filename); // PROT_READ | PROT_EXEC, MAP_PRIVATE
        self.record(kind::MMAP2, mapping.cpu_mode as u16 | 1 << 14, &body.into_vec());
    }

    /// A `PERF_RECORD_MMAP2` of data.
    pub fn mmap_data(&mut self, mapping: &Mapping<'_>, build_id: Option<BuildId>) {
        let mut body = self.mapping_start(mapping);
        let misc = match build_id {
            Some(build_id) => {
                body.bytes(&[build_id.length, 0, 0, 0]).bytes(&build_id.bytes);
                1 << 14
            }
            // Device, inode and its generation.
            None => {
                body.u32(0).u32(0).u64(0).u64(0);
                0
            }
        };
        body.u32(3).u32(2).name(mapping.filename); // PROT_READ | PROT_WRITE, MAP_PRIVATE
        self.record(kind::MMAP2, mapping.cpu_mode as u16 | MISC_MMAP_DATA | misc, &body.into_vec());
    }

    fn mapping_start(&self, mapping: &Mapping<'_>) -> Bytes {
        let mut body = self.bytes();
        let tid = if mapping.pid == u32::MAX { 0 } else { mapping.pid };
        body.u32(mapping.pid).u32(tid).u64(mapping.address).u64(mapping.length).u64(mapping.page_offset);
        body
    }

    /// A thread's name.
    pub fn comm(&mut self, pid: u32, tid: u32, name: &str) {
        self.name_record(pid, tid, name, 0);
    }

    /// A process that executed another program, by its new name.
    pub fn exec(&mut self, pid: u32, name: &str) {
        self.name_record(pid, pid, name, MISC_COMM_EXEC);
    }

    fn name_record(&mut self, pid: u32, tid: u32, name: &str, misc: u16) {
        let mut body = self.bytes();
        body.u32(pid).u32(tid).name(name);
        self.record(kind::COMM, misc, &body.into_vec());
    }

    /// A thread or a process that began.
    pub fn fork_task(&mut self, task: TaskRecord) {
        self.task(kind::FORK, task);
    }

    /// A thread or a process that ended.
    pub fn exit_task(&mut self, task: TaskRecord) {
        self.task(kind::EXIT, task);
    }

    /// A process that began, or a thread whose process doesn't matter.
    pub fn fork(&mut self, pid: u32, parent: u32, time: u64) {
        self.fork_task(TaskRecord { pid, parent_pid: parent, tid: pid, parent_tid: parent, time });
    }

    fn task(&mut self, kind: u32, task: TaskRecord) {
        let mut body = self.bytes();
        body.u32(task.pid).u32(task.parent_pid).u32(task.tid).u32(task.parent_tid).u64(task.time);
        self.record(kind, 0, &body.into_vec());
    }

    /// Records that did not fit the buffer.
    pub fn lost(&mut self, id: u64, count: u64) {
        self.words_record(kind::LOST, &[id, count]);
    }

    /// Samples that were lost.
    pub fn lost_samples(&mut self, count: u64) {
        self.words_record(kind::LOST_SAMPLES, &[count]);
    }

    /// The kernel paused an event.
    pub fn throttle(&mut self, id: u64) {
        self.words_record(kind::THROTTLE, &[0, id, id]);
    }

    fn words_record(&mut self, kind: u32, words: &[u64]) {
        let mut body = self.bytes();
        body.words(words);
        self.record(kind, 0, &body.into_vec());
    }

    /// The end of a round over the buffers.
    pub fn finished_round(&mut self) {
        self.record(kind::FINISHED_ROUND, 0, &[]);
    }

    /// Hardware trace data, which follows its record.
    pub fn aux_trace(&mut self, data: &[u8]) {
        let mut body = self.bytes();
        body.words(&[data.len() as u64, 0, 0, 0, 0]);
        let mut out = self.bytes();
        out.record(kind::AUXTRACE, 0, &body.into_vec()).bytes(data);
        self.push(out, false);
    }
}
