//! What becomes a perf.data file: samples, and what was mapped and ran when.

use super::maps::{self, Map};
use super::{host, tasks};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_perfdata::perf_data::{Attr, BuildId, Endian, EventIndex, Task};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::writer::{Identity, Mapping, RecordingWriter, SampleValues};
use nix::time::{ClockId, clock_gettime};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Flags of all events: exclude_hv, mmap, comm, task, sample_id_all, mmap2, comm_exec (`struct perf_event_attr` of
/// `include/uapi/linux/perf_event.h`).
const FLAGS: u64 = 1 << 6 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24;

/// Nanoseconds of the monotonic clock.
pub(crate) fn now() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC);
    now.map_or(0, |now| now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64)
}

/// A thread that touched memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Who {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    /// Its number among the threads that run: stands for a CPU of its own.
    pub(crate) number: u32,
}

/// One sample, taken in somebody's code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caught {
    pub(crate) who: Who,
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
    /// What each process has mapped that holds code.
    mapped: FxHashMap<u32, Vec<Map>>,
    build_ids: FxHashMap<String, Option<BuildId>>,
    last: u64,
    samples: u64,
}

impl Journal {
    pub(crate) fn new() -> Self {
        let mut recording = RecordingWriter::new(Endian::Little);
        host::describe(&mut recording);
        let (mapped, build_ids) = (FxHashMap::default(), FxHashMap::default());
        Self { recording, events: 0, mapped, build_ids, last: 0, samples: 0 }
    }

    /// Adds an event; flags that all have are added, and so are the fields of samples, apart from `more`.
    pub(crate) fn event(&mut self, name: &str, attr: &Attr, more: SampleFields) -> EventIndex {
        let fields = [
            SampleFields::IDENTIFIER,
            SampleFields::IP,
            SampleFields::TID,
            SampleFields::TIME,
            SampleFields::CPU,
            SampleFields::PERIOD,
        ];
        let sample_type = fields.into_iter().fold(more, |all, field| all | field);
        self.events += 1;
        let attr = Attr { sample_type, flags: attr.flags | FLAGS, ..attr.clone() };
        self.recording.event(name, attr, &[self.events])
    }

    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    pub(crate) fn finish(self) -> RecordingWriter {
        self.recording
    }

    /// The time now, later than any before.
    fn time(&mut self) -> u64 {
        self.last = now().max(self.last + 1);
        self.last
    }

    fn identify(&mut self, who: Who) -> u64 {
        let time = self.time();
        self.recording.identity(Identity { pid: who.pid, tid: who.tid, time, cpu: who.number });
        time
    }

    pub(crate) fn sample(&mut self, event: EventIndex, caught: &Caught) {
        let values = SampleValues {
            cpu_mode: if caught.in_kernel { CpuMode::Kernel } else { CpuMode::User },
            exact_ip: caught.is_exact,
            ip: caught.ip,
            addr: caught.address,
            period: caught.period,
            data_source: caught.data_source,
            ..SampleValues::default()
        };
        self.write(event, caught.who, caught.time, values);
    }

    /// Adds a sample of branches, the youngest first.
    pub(crate) fn branches(
        &mut self,
        event: EventIndex,
        who: Who,
        ip: u64,
        period: u64,
        branches: &[[u64; 3]],
    ) {
        let cpu_mode = CpuMode::User;
        self.write(
            event,
            who,
            None,
            SampleValues { cpu_mode, ip, period, branches, ..SampleValues::default() },
        );
    }

    fn write(&mut self, event: EventIndex, who: Who, time: Option<u64>, values: SampleValues<'_>) {
        let time = time.unwrap_or_else(|| self.time());
        let values = SampleValues { pid: who.pid, tid: who.tid, cpu: who.number, time, ..values };
        self.recording.sample(event, &values);
        self.samples += 1;
    }

    /// Notes where the kernel is, by where its first symbol is.
    pub(crate) fn kernel(&mut self, text: u64) {
        self.recording.kernel_map(text, u64::MAX - text, "_text", text);
    }

    pub(crate) fn lost(&mut self, count: u64) {
        self.recording.lost_samples(count);
    }

    pub(crate) fn named(&mut self, who: Who) {
        self.identify(who);
        self.recording.comm(who.pid, who.tid, &tasks::name(who.pid, who.tid));
    }

    /// Notes a thread or process that began.
    pub(crate) fn began(&mut self, who: Who, parent: Who) {
        let time = self.identify(parent);
        self.recording.began(task(who, parent, time));
        if who.pid != parent.pid
            && let Some(maps) = self.mapped.get(&parent.pid).cloned()
        {
            self.mapped.insert(who.pid, maps);
        }
    }

    pub(crate) fn ended(&mut self, who: Who) {
        let time = self.identify(who);
        self.recording.ended(task(who, who, time));
    }

    /// Notes a process that executed another program.
    pub(crate) fn executed(&mut self, who: Who) {
        self.identify(who);
        self.recording.exec(who.pid, &tasks::name(who.pid, who.tid));
        self.mapped.remove(&who.pid);
    }

    /// Whether an address lies in code that was noted.
    pub(crate) fn knows(&self, pid: u32, ip: u64) -> bool {
        self.mapped.get(&pid).is_some_and(|maps| maps.iter().any(|map| map.contains(ip)))
    }

    /// Whether a process has code that is in no file, made at run time.
    pub(crate) fn has_code_in_no_file(&self, pid: u32) -> bool {
        self.mapped.get(&pid).is_some_and(|maps| maps.iter().any(|map| map.path.starts_with("//")))
    }

    /// Looks what a process has mapped now, and notes what is new. Says whether anything changed.
    pub(crate) fn look(&mut self, who: Who) -> bool {
        let Ok(mut maps) = maps::read(who.pid) else { return false };
        maps.retain(|map| map.is_code);
        let known = self.mapped.get(&who.pid).map_or(&[][..], Vec::as_slice);
        if *known == *maps {
            return false;
        }
        let new: Vec<Map> = maps.iter().filter(|map| !known.contains(map)).cloned().collect();
        for map in &new {
            self.identify(who);
            self.map(who.pid, map);
        }
        self.mapped.insert(who.pid, maps);
        true
    }

    fn map(&mut self, pid: u32, map: &Map) {
        let mapping = Mapping {
            pid,
            address: map.begin,
            length: map.end.saturating_sub(map.begin),
            page_offset: map.offset,
            filename: &map.path,
            cpu_mode: CpuMode::User,
        };
        match self.build_id(pid, &map.path) {
            Some(build_id) => self.recording.mmap_with_build_id(&mapping, build_id),
            None => self.recording.mmap(&mapping),
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

fn task(who: Who, parent: Who, time: u64) -> Task {
    Task { pid: who.pid, parent_pid: parent.pid, tid: who.tid, parent_tid: parent.tid, time }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::perf_data::Record;
    use fieldline_perfdata::sample_file::SampleFile;

    const WHO: Who = Who { pid: 7, tid: 8, number: 1 };

    fn journal() -> Journal {
        let mut journal = Journal::new();
        journal.event("some", &Attr::default(), SampleFields::ADDR);
        journal
    }

    /// What a recording holds, a line a record.
    fn lines(journal: Journal) -> Vec<String> {
        let file = SampleFile::of_bytes(journal.finish().to_file()).unwrap();
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
                        sample.ip,
                        sample.addr,
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
    fn samples_say_who_touched_what_and_how() {
        let mut journal = Journal::new();
        let event = journal.event("some", &Attr::default(), SampleFields::ADDR | SampleFields::DATA_SRC);
        let caught = Caught {
            who: WHO,
            time: None,
            ip: 0x4000,
            is_exact: true,
            in_kernel: false,
            address: 0x1234,
            period: 50,
            data_source: 2,
        };
        journal.sample(event, &caught);
        journal.sample(event, &Caught { ip: 0x4004, address: 0x1238, data_source: 4, ..caught });
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
    fn threads_and_programs_are_noted_with_their_times() {
        let mut journal = journal();
        let child = Who { pid: 9, tid: 9, number: 2 };
        journal.began(child, WHO);
        journal.executed(child);
        journal.named(child);
        assert_eq!(lines(journal), ["fork 9 9", "comm 9 true", "comm 9 false"]);
    }

    #[test]
    fn a_process_maps_what_it_maps_once() {
        let pid = std::process::id();
        let who = Who { pid, tid: pid, number: 0 };
        let mut journal = journal();
        assert!(journal.look(who));
        let here = a_process_maps_what_it_maps_once as fn() as usize as u64;
        assert!(journal.knows(pid, here) && !journal.knows(pid, 8));
        journal.look(who);
        let child = Who { pid: u32::MAX - 1, tid: u32::MAX - 1, number: 1 };
        journal.began(child, who);
        assert!(journal.knows(child.pid, here), "a child has what its parent has");
        journal.executed(child);
        assert!(!journal.knows(child.pid, here));
        let name = std::env::current_exe().unwrap().display().to_string();
        let file = SampleFile::of_bytes(journal.finish().to_file()).unwrap();
        let (mut records, mut seen) = (file.records(), 0);
        while let Some(record) = records.next_record().unwrap() {
            if let Record::Mmap(mmap) = record {
                let holds = mmap.address <= here && here - mmap.address < mmap.length;
                assert_eq!(holds, mmap.filename == name, "{mmap:?}");
                seen += u32::from(holds);
            }
        }
        assert_eq!(seen, 1);
    }
}
