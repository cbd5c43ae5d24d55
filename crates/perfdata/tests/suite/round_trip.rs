//! The reader reads back all that the writer writes: in both modes, both byte orders, packed and not.

use fieldline_perfdata::address::{DataAddress, LoadedAddress};
use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::{Attr, BuildId, Endian, EventIndex, PerfFile, Record, TaskRecord};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::writer::{Mapping, Packing, RecordingWriter, SampleValues};
use std::num::NonZeroU64;

const FIELDS: SampleFields = SampleFields(
    SampleFields::IDENTIFIER.0
        | SampleFields::IP.0
        | SampleFields::TID.0
        | SampleFields::TIME.0
        | SampleFields::ADDR.0
        | SampleFields::CPU.0
        | SampleFields::PERIOD.0
        | SampleFields::WEIGHT_STRUCT.0
        | SampleFields::DATA_SRC.0
        | SampleFields::PHYS_ADDR.0,
);
const SAMPLE_ID_ALL: u64 = 1 << 18;
const KERNEL: u64 = 0xffff_ffff_8100_0000;

fn kernel_id() -> BuildId {
    BuildId::new(&[0xc0; 20]).unwrap()
}

fn module_id() -> BuildId {
    BuildId::new(&[0x0d; 16]).unwrap()
}

fn values(index: u64) -> SampleValues<'static> {
    SampleValues {
        cpu_mode: if index.is_multiple_of(3) { CpuMode::User } else { CpuMode::Kernel },
        exact_ip: index.is_multiple_of(2),
        ip: KERNEL + index,
        pid: 100 + index as u32,
        tid: 200 + index as u32,
        time: 1_000_000 + index,
        addr: 0xffff_8880_0000_0000 + 8 * index,
        cpu: (index % 8) as u32,
        period: 200,
        weight: 0x0003_0002_0000_0000 | index,
        data_source: 0x2_2810_0142,
        physical_address: 0x1000 + index,
        ..SampleValues::default()
    }
}

/// Two events, every kind of record, 1000 samples.
fn recording(endian: Endian) -> RecordingWriter {
    let mut recording = RecordingWriter::new(endian);
    let attr = Attr {
        kind: 4,
        config: 0x1cd,
        config1: 3,
        sample_type: FIELDS,
        flags: SAMPLE_ID_ALL | 3 << 15,
        ..Attr::default()
    };
    let loads = recording.event("cpu/mem-loads/P", attr.clone(), &[11, 12]);
    let stores = recording.event("cpu/mem-stores/P", Attr { config: 0x82d0, ..attr }, &[21]);
    recording.hostname("guest");
    recording.os_release("6.12.0");
    recording.arch("s390x");
    recording.cpu_description("a processor");
    recording.cpus(4, 8);
    recording.command_line(&["perf", "mem", "record", "-a"]);
    recording.cacheline_size(128);
    recording.cpu_id("GenuineIntel,6,151,2");
    recording.pmus(&[(4, "cpu_core"), (10, "cpu_atom")]);
    recording.hybrid_cpus(&[("cpu_core", "0-15"), ("cpu_atom", "16-23")]);
    recording.pmu_cap("cpu_atom", "max_precise", "3");
    recording.build_id("[kernel.kallsyms]", CpuMode::Kernel, kernel_id());
    recording.kernel_map(KERNEL, 0x100_0000, "_text", KERNEL);
    let module = Mapping {
        pid: u32::MAX,
        address: 0xffff_ffff_c000_0000,
        length: 0x4000,
        page_offset: 0,
        filename: "[xfs]",
        cpu_mode: CpuMode::Kernel,
    };
    recording.mmap_with_build_id(&module, module_id());
    recording.comm(100, 200, "worker");
    recording.fork(101, 100, 5);
    for index in 0..1000_u64 {
        let event = if index.is_multiple_of(4) { stores } else { loads };
        recording.sample(event, &values(index));
        if index == 500 {
            recording.finished_round();
        }
    }
    recording.exit_task(TaskRecord { pid: 101, parent_pid: 100, tid: 101, parent_tid: 100, time: 6 });
    recording.lost(11, 17);
    recording.lost_samples(16);
    recording.throttle(11);
    recording.aux_trace(b"sixteen bytes...");
    recording.finished_round();
    recording
}

fn all_forms() -> Vec<(String, PerfFile)> {
    let mut forms = Vec::new();
    for endian in [Endian::Little, Endian::Big] {
        let plain = [recording(endian).to_file(), recording(endian).to_pipe()];
        for packing in [Packing::None, Packing::Compressed(777), Packing::Compressed2(50_001)] {
            let mut recording = recording(endian);
            recording.set_packing(packing);
            for (mode, bytes) in [("file", recording.to_file()), ("pipe", recording.to_pipe())] {
                assert_eq!(plain.contains(&bytes), packing == Packing::None);
                let file = PerfFile::from_bytes(bytes).unwrap();
                assert_eq!(file.facts().endian, endian);
                forms.push((format!("{endian:?} {packing:?} {mode}"), file));
            }
        }
    }
    forms
}

#[test]
fn facts_of_every_form() {
    for (form, file) in all_forms() {
        let facts = file.facts();
        let names: Vec<_> = facts.events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["cpu/mem-loads/P", "cpu/mem-stores/P"], "{form}");
        let [loads, stores] = facts.events.as_slice() else { panic!("{form}") };
        assert_eq!((loads.ids.as_slice(), stores.ids.as_slice()), (&[11, 12][..], &[21][..]), "{form}");
        assert_eq!((loads.attr.kind, loads.attr.config, loads.attr.config1), (4, 0x1cd, 3), "{form}");
        assert_eq!((loads.attr.sample_type, loads.attr.precise_ip()), (FIELDS, 3), "{form}");
        assert!(loads.attr.has_sample_id_all() && !loads.attr.excludes_kernel(), "{form}");
        assert_eq!(facts.hostname.as_deref(), Some("guest"), "{form}");
        assert_eq!(facts.os_release.as_deref(), Some("6.12.0"), "{form}");
        assert_eq!(facts.arch.as_deref(), Some("s390x"), "{form}");
        assert_eq!(facts.cpu_description.as_deref(), Some("a processor"), "{form}");
        assert_eq!(facts.cpus.map(|cpus| (cpus.online, cpus.available)), Some((4, 8)), "{form}");
        assert_eq!(facts.command_line, ["perf", "mem", "record", "-a"], "{form}");
        assert_eq!(facts.cacheline_size, Some(128), "{form}");
        assert_eq!(facts.cpu_id.as_deref(), Some("GenuineIntel,6,151,2"), "{form}");
        assert_eq!((facts.pmu_name(10), facts.pmu_name(11)), (Some("cpu_atom"), None), "{form}");
        assert_eq!(facts.hybrid_cpus.last().map(|kind| kind.1.as_str()), Some("16-23"), "{form}");
        let of_atom = &facts.pmu_caps[0];
        assert_eq!((of_atom.pmu.as_str(), of_atom.caps[0].1.as_str()), ("cpu_atom", "3"), "{form}");
        assert_eq!(facts.kernel_build_id(), Some(kernel_id()), "{form}");
    }
}

#[test]
fn samples_of_every_form_in_file_order() {
    for (form, file) in all_forms() {
        let mut records = file.records();
        let mut index = 0_u64;
        while let Some(record) = records.next_record().unwrap() {
            let Record::Sample(sample) = record else { continue };
            let wanted = values(index);
            let event = EventIndex(u32::from(index.is_multiple_of(4)));
            assert_eq!((sample.event, sample.cpu_mode), (event, wanted.cpu_mode), "{form} {index}");
            assert_eq!(
                (sample.ip, sample.addr),
                (Some(LoadedAddress(wanted.ip)), DataAddress::new(wanted.addr)),
                "{form} {index}"
            );
            assert_eq!((sample.pid, sample.tid), (Some(wanted.pid), Some(wanted.tid)), "{form} {index}");
            assert_eq!((sample.time, sample.cpu), (Some(wanted.time), Some(wanted.cpu)), "{form} {index}");
            assert_eq!((sample.period, sample.exact_ip), (200, wanted.exact_ip), "{form} {index}");
            assert_eq!(sample.latency, Some(index), "{form} {index}");
            assert_eq!((sample.callchain, sample.branch_stack), (None, None), "{form} {index}");
            assert_eq!(sample.addr.map(DataAddress::get), Some(wanted.addr), "{form} {index}");
            assert_eq!(sample.data_source, Some(DataSource(wanted.data_source)), "{form} {index}");
            assert_eq!(sample.physical_address, NonZeroU64::new(wanted.physical_address), "{form} {index}");
            assert_eq!(sample.dso, None, "{form} {index}");
            index += 1;
        }
        assert_eq!(index, 1000, "{form}");
        assert!(records.next_record().unwrap().is_none(), "{form}");
    }
}

#[test]
fn other_records_of_every_form() {
    for (form, file) in all_forms() {
        let mut seen = Vec::new();
        let mut records = file.records();
        while let Some(record) = records.next_record().unwrap() {
            match record {
                Record::Mmap(mmap) => {
                    let id = mmap.build_id.map(|id| id.to_string()).unwrap_or_default();
                    assert!(mmap.is_kernel() && mmap.time == Some(0), "{form}");
                    seen.push(format!("mmap {:x} {:x} {} {id}", mmap.address, mmap.length, mmap.filename));
                }
                Record::Comm { pid, tid, name, .. } => seen.push(format!("comm {pid} {tid} {name}")),
                Record::Fork(task) => {
                    seen.push(format!("fork {} {} {}", task.pid, task.parent_pid, task.time))
                }
                Record::Exit(task) => {
                    seen.push(format!("exit {} {} {}", task.tid, task.parent_tid, task.time))
                }
                Record::Lost { count } => seen.push(format!("lost {count}")),
                Record::LostSamples { count, by_filter } => seen.push(format!("lost {count} {by_filter}")),
                Record::Throttle { is_start } => seen.push(format!("throttle {is_start}")),
                _ => {}
            }
        }
        let wanted = [
            "mmap ffffffff81000000 1000000 [kernel.kallsyms]_text ",
            "mmap ffffffffc0000000 4000 [xfs] 0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d",
            "comm 100 200 worker",
            "fork 101 100 5",
            "exit 101 100 6",
            "lost 17",
            "lost 16 false",
            "throttle true",
        ];
        assert_eq!(seen, wanted, "{form}");
    }
}

#[test]
fn record_counts_of_every_form() {
    for (form, file) in all_forms() {
        let tally = SampleFile::from(file).count_records().unwrap();
        let counts: Vec<_> = tally.events.iter().map(|event| (event.samples, event.period)).collect();
        assert_eq!(counts, [(750, 150_000), (250, 50_000)], "{form}");
        assert_eq!((tally.in_mode(CpuMode::Kernel), tally.in_mode(CpuMode::User)), (666, 334), "{form}");
        assert_eq!((tally.lost_records, tally.lost_samples, tally.throttles), (17, 16, 1), "{form}");
        assert_eq!(tally.aux_bytes, 16, "{form}");
        let image = tally.kernel_image().unwrap();
        assert_eq!(
            (image.address.0, image.reference_symbol()),
            (KERNEL, Some(("_text", LoadedAddress(KERNEL)))),
            "{form}"
        );
        assert_eq!(tally.kernel_maps.len(), 2, "{form}");
        assert_eq!(tally.kernel_maps[1].build_id, Some(module_id()), "{form}");
    }
}

#[test]
fn records_can_be_read_twice_and_by_two_readers_at_once() {
    let file = PerfFile::from_bytes(recording(Endian::Little).to_file()).unwrap();
    let (mut a, mut b) = (file.records(), file.records());
    loop {
        let (a, b) = (a.next_raw().unwrap(), b.next_raw().unwrap());
        assert_eq!(a, b);
        if a.is_none() {
            break;
        }
    }
}

#[test]
fn attributes_of_other_kernels() {
    for size in [64, 72, 96, 112, 136, 144, 400] {
        let mut recording = recording(Endian::Little);
        recording.attr_size(size);
        for bytes in [recording.to_file(), recording.to_pipe()] {
            let file = PerfFile::from_bytes(bytes).unwrap();
            assert_eq!(file.facts().events[0].attr.size, size);
            assert_eq!(file.facts().events[0].ids, [11, 12]);
            assert_eq!(SampleFile::from(file).count_records().unwrap().samples(), 1000);
        }
    }
}

#[test]
fn a_recording_on_disk_reads_as_one_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("perf.data");
    let bytes = recording(Endian::Big).to_file();
    std::fs::write(&path, &bytes).unwrap();
    let (on_disk, in_memory) = (PerfFile::open(&path).unwrap(), PerfFile::from_bytes(bytes).unwrap());
    assert_eq!(on_disk.facts(), in_memory.facts());
    let tally = |file| SampleFile::from(file).count_records().unwrap();
    assert_eq!(tally(on_disk), tally(in_memory));
}

#[test]
fn events_without_names_get_some() {
    let mut recording = RecordingWriter::new(Endian::Little);
    let attr = Attr { kind: 1, config: 0, sample_type: SampleFields::IDENTIFIER, ..Attr::default() };
    recording.event("", attr.clone(), &[1]);
    recording.event("", Attr { kind: 4, config: 0x1cd, ..attr }, &[2]);
    recording.finished_round();
    for bytes in [recording.to_file(), recording.to_pipe()] {
        let file = PerfFile::from_bytes(bytes).unwrap();
        let names: Vec<_> = file.facts().events.iter().map(|event| event.name.as_str()).collect();
        assert_eq!(names, ["cpu-clock", "r1cd"]);
    }
}
