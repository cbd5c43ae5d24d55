//! The perf.data file under construction: samples, mappings, and the lives of threads.

use super::maps::{self, ProcessMapping};
use super::{host, tasks};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::perf_data::{Attr, BuildId, Endian, EventIndex, NotedAllocation, TaskRecord};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::writer::{Mapping, RecordingWriter, SampleId, SampleValues};
use nix::time::{ClockId, clock_gettime};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Flags of all events: exclude_hv, mmap, comm, task, mmap_data, sample_id_all, mmap2, comm_exec (`struct
/// perf_event_attr` of `include/uapi/linux/perf_event.h`).
const FLAGS: u64 = 1 << 6 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 17 | 1 << 18 | 1 << 23 | 1 << 24;

/// Bytes of an event's attribute: what Linux has known since 3.4, as more isn't used. Older tools refuse
/// files whose attributes are larger than theirs.
const ATTR_SIZE: u32 = 80;

/// Nanoseconds of the monotonic clock.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
    now.map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// A thread that touched memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TracedThread {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// Its number among the threads that run, recorded as its CPU.
    pub(crate) number: u32,
}

/// A sample to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JournalSample {
    pub(crate) who: TracedThread,
    /// Nanoseconds; now if not given.
    pub(crate) time: Option<u64>,
    pub(crate) ip: u64,
    /// The instruction is the one that touched memory.
    pub(crate) is_exact: bool,
    pub(crate) in_kernel: bool,
    pub(crate) address: u64,
    pub(crate) period: u64,
    pub(crate) data_source: u64,
}

pub(crate) struct Journal {
    recording: RecordingWriter,
    events: u64,
    /// Mappings of each process.
    mappings: FxHashMap<u32, Vec<ProcessMapping>>,
    build_ids: FxHashMap<String, Option<BuildId>>,
    last_time: u64,
    samples: u64,
    /// CPUs that samples have.
    cpus: u32,
}

impl Journal {
    pub(crate) fn new() -> Self {
        let mut recording = RecordingWriter::new(Endian::Little);
        recording.attr_size(ATTR_SIZE);
        host::describe(&mut recording);
        let (mappings, build_ids) = (FxHashMap::default(), FxHashMap::default());
        Self { recording, events: 0, mappings, build_ids, last_time: 0, samples: 0, cpus: 0 }
    }

    /// Adds an event; flags that all have are added, and so are the fields of samples, apart from `more`.
    pub(crate) fn add_event(&mut self, name: &str, attr: &Attr, extra_fields: SampleFields) -> EventIndex {
        let fields = [
            SampleFields::IDENTIFIER,
            SampleFields::IP,
            SampleFields::TID,
            SampleFields::TIME,
            SampleFields::CPU,
            SampleFields::PERIOD,
        ];
        let sample_type = fields.into_iter().fold(extra_fields, |all, field| all | field);
        self.events += 1;
        let attr = Attr { sample_type, flags: attr.flags | FLAGS, ..attr.clone() };
        self.recording.event(name, attr, &[self.events])
    }

    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    pub(crate) fn finish(mut self) -> RecordingWriter {
        host::describe_cpus(&mut self.recording, self.cpus);
        self.recording
    }

    /// The time now, later than any before.
    pub(crate) fn next_time(&mut self) -> u64 {
        self.last_time = now().max(self.last_time + 1);
        self.last_time
    }

    fn write_identity(&mut self, who: TracedThread) -> u64 {
        let time = self.next_time();
        self.recording.set_sample_id(SampleId { pid: who.pid, tid: who.tid, time, cpu: who.number });
        time
    }

    pub(crate) fn write_sample(&mut self, event: EventIndex, sample: &JournalSample) {
        let values = SampleValues {
            cpu_mode: if sample.in_kernel { CpuMode::Kernel } else { CpuMode::User },
            exact_ip: sample.is_exact,
            ip: sample.ip,
            addr: sample.address,
            period: sample.period,
            data_source: sample.data_source,
            ..SampleValues::default()
        };
        self.write(event, sample.who, sample.time, values);
    }

    /// Adds a sample of branches, the youngest first.
    pub(crate) fn write_branch_sample(
        &mut self,
        event: EventIndex,
        who: TracedThread,
        ip: u64,
        period: u64,
        branches: &[[u64; 3]],
    ) {
        let cpu_mode = CpuMode::User;
        let values = SampleValues { cpu_mode, ip, period, branches, ..SampleValues::default() };
        self.write(event, who, None, values);
    }

    fn write(&mut self, event: EventIndex, who: TracedThread, time: Option<u64>, values: SampleValues<'_>) {
        let time = time.unwrap_or_else(|| self.next_time());
        let values = SampleValues { pid: who.pid, tid: who.tid, cpu: who.number, time, ..values };
        self.recording.sample(event, &values);
        self.samples += 1;
        self.cpus = self.cpus.max(who.number.saturating_add(1));
    }

    /// Notes where the kernel is, by where its first symbol is.
    pub(crate) fn write_kernel_map(&mut self, LoadedAddress(text): LoadedAddress) {
        self.recording.kernel_map(text, u64::MAX - text, "_text", text);
    }

    pub(crate) fn write_lost(&mut self, count: u64) {
        self.recording.lost_samples(count);
    }

    pub(crate) fn write_comm(&mut self, who: TracedThread) {
        self.write_identity(who);
        self.recording.comm(who.pid, who.tid, &tasks::thread_name(who.pid, who.tid));
    }

    /// Notes a thread or process that began.
    pub(crate) fn write_fork(&mut self, who: TracedThread, parent: TracedThread) {
        let time = self.write_identity(parent);
        self.recording.fork_task(task(who, parent, time));
        if who.pid != parent.pid
            && let Some(maps) = self.mappings.get(&parent.pid).cloned()
        {
            self.mappings.insert(who.pid, maps);
        }
    }

    pub(crate) fn write_exit(&mut self, who: TracedThread) {
        let time = self.write_identity(who);
        self.recording.exit_task(task(who, who, time));
    }

    /// Notes a process that executed another program.
    pub(crate) fn write_exec(&mut self, who: TracedThread) {
        self.write_identity(who);
        self.recording.exec(who.pid, &tasks::thread_name(who.pid, who.tid));
        self.mappings.remove(&who.pid);
    }

    /// The mappings of a process that were noted.
    pub(crate) fn mappings(&self, pid: u32) -> &[ProcessMapping] {
        self.mappings.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Notes memory that was allocated and freed.
    pub(crate) fn write_allocations(&mut self, noted: &[NotedAllocation]) {
        if !noted.is_empty() {
            self.recording.allocations(noted);
        }
    }

    /// Whether an address lies in code that was noted.
    pub(crate) fn has_code_at(&self, pid: u32, ip: u64) -> bool {
        self.mappings.get(&pid).is_some_and(|maps| maps.iter().any(|map| map.is_code && map.contains(ip)))
    }

    /// Whether a process has code that is in no file, made at run time.
    pub(crate) fn has_anonymous_code(&self, pid: u32) -> bool {
        self.mappings
            .get(&pid)
            .is_some_and(|maps| maps.iter().any(|map| map.is_code && map.path.starts_with("//")))
    }

    /// Writes new mappings of a process, of code and of data. Returns whether any of code changed.
    pub(crate) fn update_mappings(&mut self, who: TracedThread) -> bool {
        let Ok(mut maps) = maps::read(who.pid) else { return false };
        maps.retain(|map| map.path != "[vsyscall]");
        let known = self.mappings.get(&who.pid).map_or(&[][..], Vec::as_slice);
        let code =
            |maps: &[ProcessMapping]| maps.iter().filter(|map| map.is_code).cloned().collect::<Vec<_>>();
        let is_code_new = code(known) != code(&maps);
        let new: Vec<ProcessMapping> = maps.iter().filter(|map| !known.contains(map)).cloned().collect();
        for map in &new {
            self.write_identity(who);
            self.write_mapping(who.pid, map);
        }
        self.mappings.insert(who.pid, maps);
        is_code_new
    }

    fn write_mapping(&mut self, pid: u32, map: &ProcessMapping) {
        let mapping = Mapping {
            pid,
            address: map.begin,
            length: map.end.saturating_sub(map.begin),
            page_offset: map.offset,
            filename: &map.path,
            cpu_mode: CpuMode::User,
        };
        match (map.is_code, self.build_id(pid, &map.path)) {
            (true, Some(build_id)) => self.recording.mmap_with_build_id(&mapping, build_id),
            (true, None) => self.recording.mmap(&mapping),
            (false, build_id) => self.recording.mmap_data(&mapping, build_id),
        }
    }

    /// The build id of a file as the process sees it, which may live in another root.
    fn build_id(&mut self, pid: u32, path: &str) -> Option<BuildId> {
        if let Some(known) = self.build_ids.get(path) {
            return *known;
        }
        let seen = path.strip_prefix('/').map(|path| Path::new("/proc").join(format!("{pid}/root/{path}")));
        let found = seen.filter(|_| !path.starts_with("//")).and_then(|path| file_build_id(&path));
        self.build_ids.insert(path.to_owned(), found);
        found
    }
}

/// The build id of a file, if it is an ELF file that has one.
fn file_build_id(path: &Path) -> Option<BuildId> {
    let bytes = FileBytes::open(path).ok()?;
    BuildId::new(Elf::parse(&bytes).ok()?.build_id()?)
}

fn task(who: TracedThread, parent: TracedThread, time: u64) -> TaskRecord {
    TaskRecord { pid: who.pid, parent_pid: parent.pid, tid: who.tid, parent_tid: parent.tid, time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::address::DataAddress;
    use fieldline_perfdata::perf_data::Record;
    use fieldline_perfdata::sample_file::SampleFile;

    const WHO: TracedThread = TracedThread { pid: 7, tid: 8, number: 1 };

    fn journal() -> Journal {
        let mut journal = Journal::new();
        journal.add_event("some", &Attr::default(), SampleFields::ADDR);
        journal
    }

    /// The contents of a recording, a line a record.
    fn lines(journal: Journal) -> Vec<String> {
        let file = SampleFile::from_bytes(journal.finish().to_file()).unwrap();
        let (mut records, mut lines) = (file.records(), Vec::new());
        let mut last = 0;
        while let Some(record) = records.next_record().unwrap() {
            let (line, time) = match record {
                Record::Sample(sample) => {
                    let operation = sample.data_source.unwrap().operation();
                    let line = format!(
                        "{:?} {:?} {:x?} {:x?} {:?} {} {} {}",
                        sample.pid,
                        sample.tid,
                        sample.ip.map(|ip| ip.0),
                        sample.addr.map(DataAddress::get),
                        sample.cpu,
                        sample.period,
                        operation.is_load(),
                        operation.is_store()
                    );
                    (line, sample.time)
                }
                Record::Fork(task) => (format!("fork {} {}", task.pid, task.tid), Some(task.time)),
                Record::Comm { pid, is_exec, time, .. } => (format!("comm {pid} {is_exec}"), time),
                other => (format!("{other:?}"), None),
            };
            let time = time.unwrap_or(last + 1);
            assert!(time > last, "{line}: times grow");
            last = time;
            lines.push(line);
        }
        lines
    }

    #[test]
    fn samples_have_thread_address_and_operation() {
        let mut journal = Journal::new();
        let event = journal.add_event("some", &Attr::default(), SampleFields::ADDR | SampleFields::DATA_SRC);
        let sample = JournalSample {
            who: WHO,
            time: None,
            ip: 0x4000,
            is_exact: true,
            in_kernel: false,
            address: 0x1234,
            period: 50,
            data_source: 2,
        };
        journal.write_sample(event, &sample);
        journal.write_sample(event, &JournalSample { ip: 0x4004, address: 0x1238, data_source: 4, ..sample });
        assert_eq!(journal.samples(), 2);
        assert_eq!(
            lines(journal),
            [
                "Some(7) Some(8) Some(4000) Some(1234) Some(1) 50 true false",
                "Some(7) Some(8) Some(4004) Some(1238) Some(1) 50 false true",
            ]
        );
    }

    #[test]
    fn threads_and_programs_are_recorded_with_their_times() {
        let mut journal = journal();
        let child = TracedThread { pid: 9, tid: 9, number: 2 };
        journal.write_fork(child, WHO);
        journal.write_exec(child);
        journal.write_comm(child);
        assert_eq!(lines(journal), ["fork 9 9", "comm 9 true", "comm 9 false"]);
    }

    #[test]
    fn each_code_mapping_is_written_once() {
        let pid = std::process::id();
        let who = TracedThread { pid, tid: pid, number: 0 };
        let mut journal = journal();
        assert!(journal.update_mappings(who));
        let here = each_code_mapping_is_written_once as fn() as usize as u64;
        assert!(journal.has_code_at(pid, here) && !journal.has_code_at(pid, 8));
        journal.update_mappings(who);
        let child = TracedThread { pid: u32::MAX - 1, tid: u32::MAX - 1, number: 1 };
        journal.write_fork(child, who);
        assert!(journal.has_code_at(child.pid, here), "a child has what its parent has");
        journal.write_exec(child);
        assert!(!journal.has_code_at(child.pid, here));
        let name = std::env::current_exe().unwrap().display().to_string();
        let file = SampleFile::from_bytes(journal.finish().to_file()).unwrap();
        let (mut records, mut seen, mut data) = (file.records(), 0, 0);
        while let Some(record) = records.next_record().unwrap() {
            let Record::Mmap(mmap) = record else { continue };
            if mmap.is_data {
                data += u32::from(mmap.filename == "[stack]");
            } else {
                let holds = (mmap.address..mmap.end()).contains(&LoadedAddress(here));
                assert_eq!(holds, mmap.filename == name, "{mmap:?}");
                seen += u32::from(holds);
            }
        }
        assert_eq!(seen, 1);
        assert!(data > 0, "mappings of data are marked");
    }
}
