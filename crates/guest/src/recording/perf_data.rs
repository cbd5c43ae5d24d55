//! Samples as a perf.data, as `perf mem record` writes it.

use super::sampler::{LINE, Sample};
use crate::machine::architecture::GuestArchitecture;
use fieldline_cachemodel::ServedLevel;
use fieldline_perfdata::data_source::{DataSource, Level, Snoop};
use fieldline_perfdata::perf_data::{Attr, BuildId, Endian, EventIndex};
use fieldline_perfdata::sample::{CpuMode, SampleFields as Field};
use fieldline_perfdata::writer::{Mapping, RecordingWriter, SampleValues};

/// `PERF_TYPE_RAW` (include/uapi/linux/perf_event.h).
const RAW_EVENT: u32 = 4;
/// The pid under which the kernel's own mappings stand.
const KERNEL_PID: u32 = u32::MAX;

/// A recording's facts about the guest.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedGuest {
    pub(crate) architecture: GuestArchitecture,
    pub(crate) release: String,
    pub(crate) cpus: u32,
    pub(crate) memory_kib: u64,
    pub(crate) period: u64,
    /// The options that matter, as words of a command.
    pub(crate) command: Vec<String>,
    /// Who says how accesses were served.
    pub(crate) processor: String,
    pub(crate) build_id: Option<BuildId>,
    /// Address of `_text` in the guest.
    pub(crate) text: u64,
    pub(crate) text_size: u64,
    pub(crate) modules: Vec<LoadedModule>,
    /// Process, thread, name.
    pub(crate) tasks: Vec<(u32, u32, String)>,
}

/// A module of the guest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoadedModule {
    pub(crate) name: String,
    pub(crate) text: u64,
    pub(crate) text_size: u64,
}

/// The bytes of the recording; samples in order of time.
pub(crate) fn write(guest: &RecordedGuest, samples: &[Sample]) -> Vec<u8> {
    let mut recording = RecordingWriter::new(Endian::Little);
    let cpus = u64::from(guest.cpus);
    let ids = |first: u64| (first..first + cpus).collect::<Vec<u64>>();
    let (first_load, first_store) = (1, 1 + cpus);
    let loads = recording.event("qemu/mem-loads/", attr(1, guest.period), &ids(first_load));
    let stores = recording.event("qemu/mem-stores/", attr(2, guest.period), &ids(first_store));
    // Records end as the events say, which must be known before.
    describe(&mut recording, guest);
    for (pid, tid, name) in &guest.tasks {
        recording.comm(*pid, *tid, name);
    }
    for sample in samples {
        let (event, first) = if sample.is_store { (stores, first_store) } else { (loads, first_load) };
        add(&mut recording, event, first + u64::from(sample.cpu), sample);
    }
    recording.to_file()
}

fn describe(recording: &mut RecordingWriter, guest: &RecordedGuest) {
    recording.hostname("guest");
    recording.os_release(&guest.release);
    recording.arch(guest.architecture.name());
    recording.cpus(guest.cpus, guest.cpus);
    recording.cpu_description(&guest.processor);
    recording.one_numa_node((guest.memory_kib, guest.memory_kib), guest.cpus);
    recording.command_line(&guest.command.iter().map(String::as_str).collect::<Vec<_>>());
    recording.cacheline_size(LINE as u32);
    recording.kernel_map(guest.text, guest.text_size, "_text", guest.text);
    for module in &guest.modules {
        let LoadedModule { name, text, text_size } = module;
        let filename = format!("[{name}]");
        let (pid, cpu_mode, page_offset) = (KERNEL_PID, CpuMode::Kernel, 0);
        let (address, length, filename) = (*text, *text_size, filename.as_str());
        recording.mmap(&Mapping { pid, address, length, page_offset, filename, cpu_mode });
    }
    if let Some(build_id) = guest.build_id {
        recording.build_id("[kernel.kallsyms]", CpuMode::Kernel, build_id);
    }
}

fn add(recording: &mut RecordingWriter, event: EventIndex, id: u64, sample: &Sample) {
    let values = SampleValues {
        cpu_mode: CpuMode::Kernel,
        exact_ip: true,
        id: Some(id),
        ip: sample.code,
        pid: sample.pid,
        tid: sample.tid,
        time: sample.time,
        addr: sample.address,
        cpu: sample.cpu,
        period: sample.period,
        weight: cycles(sample.level),
        data_source: data_source(sample).0,
        ..SampleValues::default()
    };
    recording.sample(event, &values);
}

/// An event of the kernel with a fixed period and exact instructions.
fn attr(config: u64, period: u64) -> Attr {
    let thread = Field::IDENTIFIER | Field::IP | Field::TID | Field::TIME | Field::CPU;
    let access = Field::ADDR | Field::PERIOD | Field::WEIGHT | Field::DATA_SRC;
    // Flags of include/uapi/linux/perf_event.h: exclude_user, exclude_hv, mmap, comm, precise_ip of 3,
    // sample_id_all, mmap2.
    let flags = 1 << 4 | 1 << 6 | 1 << 8 | 1 << 9 | 3 << 15 | 1 << 18 | 1 << 23;
    let (kind, sample_type, period_or_frequency) = (RAW_EVENT, thread | access, period);
    Attr { kind, config, period_or_frequency, sample_type, flags, ..Attr::default() }
}

/// Cycles that an access takes, about as many as on today's servers.
fn cycles(level: ServedLevel) -> u64 {
    match level {
        ServedLevel::First => 5,
        ServedLevel::Second => 14,
        ServedLevel::Shared => 46,
        ServedLevel::Modified => 110,
        ServedLevel::Memory => 230,
    }
}

fn data_source(sample: &Sample) -> DataSource {
    let (level, snoop) = match sample.level {
        ServedLevel::First => (Level::L1, Snoop::None),
        ServedLevel::Second => (Level::L2, Snoop::None),
        ServedLevel::Shared => (Level::L3, Snoop::Miss),
        ServedLevel::Modified => (Level::L3, Snoop::HitModified),
        ServedLevel::Memory => (Level::LocalRam, Snoop::Miss),
    };
    DataSource::of_access(sample.is_store, level, snoop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_perfdata::data_source::Operation;
    use fieldline_perfdata::perf_data::{PerfFile, Record};

    fn sample(level: ServedLevel, is_store: bool) -> Sample {
        let (code, address) = (0xffff_ffff_8100_1000, 0xffff_8880_0000_1000);
        Sample { cpu: 1, pid: 7, tid: 8, time: 40, code, address, is_store, period: 199, level }
    }

    #[test]
    fn samples_are_read_back() {
        let guest = RecordedGuest {
            cpus: 2,
            period: 200,
            text: 0xffff_ffff_8100_0000,
            text_size: 0x10_0000,
            tasks: vec![(7, 8, "worker".to_owned())],
            processor: "a model".to_owned(),
            ..RecordedGuest::default()
        };
        let samples = [sample(ServedLevel::Modified, false), sample(ServedLevel::Memory, true)];
        let recording = PerfFile::from_bytes(write(&guest, &samples)).unwrap();
        assert_eq!(recording.facts().cpu_description.as_deref(), Some("a model"));
        let mut records = recording.records();
        let mut seen = Vec::new();
        while let Some(record) = records.next_record().unwrap() {
            let Record::Sample(found) = record else { continue };
            let source: DataSource = found.data_source.unwrap();
            seen.push((
                found.cpu,
                found.tid,
                found.period,
                source.operation(),
                source.level(),
                source.is_hitm(),
            ));
        }
        let row = |operation, level, is_hitm| (Some(1), Some(8), 199, operation, level, is_hitm);
        assert_eq!(
            seen,
            [row(Operation::Load, Level::L3, true), row(Operation::Store, Level::LocalRam, false)]
        );
    }
}
