//! Recordings made by `perf record` itself; `fixtures/perf/README.md` says how. The expectations beside
//! them are what `perf script` printed.

use crate::rows;
use fieldline_perfdata::perf_data::{Error, PerfFile, Record};
use fieldline_perfdata::sample::{CpuMode, SampleFields};
use fieldline_perfdata::sample_file::SampleFile;

fn open(name: &str) -> PerfFile {
    PerfFile::open(&rows::fixture(name)).unwrap()
}

/// Calls `see` with each sample and counts them.
fn each_sample(file: &PerfFile, mut handle: impl FnMut(&fieldline_perfdata::sample::Sample<'_>)) -> usize {
    let mut count = 0;
    let mut records = file.records();
    while let Some(record) = records.next_record().unwrap() {
        if let Record::Sample(sample) = record {
            handle(&sample);
            count += 1;
        }
    }
    count
}

#[test]
fn samples_are_those_that_perf_script_printed() {
    for path in rows::fixtures() {
        let file = PerfFile::open(&path).unwrap();
        let mut ours = rows::our_rows(&file, rows::common_fields(file.facts()));
        ours.sort_unstable();
        let theirs = std::fs::read_to_string(path.with_extension("samples")).unwrap();
        assert!(ours.len() > 20, "{}: {} samples", path.display(), ours.len());
        assert_eq!(ours, theirs.lines().collect::<Vec<_>>(), "{}", path.display());
    }
}

#[test]
fn facts_that_perf_wrote() {
    for name in ["clock.data", "stream.data", "packed.data", "packed-stream.data"] {
        let file = open(name);
        let facts = file.facts();
        assert!(facts.is_finished, "{name}");
        assert_eq!(facts.events.len(), 1, "{name}");
        assert_eq!(facts.events[0].name, "cpu-clock", "{name}");
        assert_eq!(facts.hostname.as_deref(), Some("fixture"), "{name}");
        assert_eq!(facts.arch.as_deref(), Some("x86_64"), "{name}");
        assert_eq!(facts.cpus.unwrap().online, 2, "{name}");
        assert_eq!(facts.command_line[1], "record", "{name}");
        assert!(!facts.has_aux_trace, "{name}");
    }
    // Pipe mode leaves the caches out.
    assert_eq!(open("clock.data").facts().cacheline_size, Some(64));
}

#[test]
fn build_ids_from_the_features_and_from_mappings() {
    let file = open("clock.data");
    assert!(file.facts().build_ids.iter().any(|entry| entry.filename.ends_with("/dash")));
    let file = open("mapped.data");
    assert!(file.facts().build_ids.is_empty());
    let mut mapped = Vec::new();
    let mut records = file.records();
    while let Some(record) = records.next_record().unwrap() {
        if let Record::Mmap(mmap) = record {
            mapped.extend(mmap.build_id.map(|id| (mmap.filename.into_owned(), id)));
        }
    }
    let of_dash = |entries: &[(String, _)]| {
        entries.iter().find(|(filename, _)| filename.ends_with("/dash")).map(|(_, id)| *id)
    };
    let in_features: Vec<_> = open("clock.data")
        .facts()
        .build_ids
        .iter()
        .map(|entry| (entry.filename.clone(), entry.build_id))
        .collect();
    assert!(of_dash(&mapped).is_some());
    assert_eq!(of_dash(&mapped), of_dash(&in_features));
}

#[test]
fn the_kernel_image_is_mapped_with_its_reference_symbol() {
    for name in ["clock.data", "packed.data", "stream.data"] {
        let file = SampleFile::from(open(name));
        let image = file.kernel_image().unwrap().unwrap();
        assert_eq!(file.count_records().unwrap().kernel_image(), Some(&image), "{name}");
        let (symbol, address) = image.reference_symbol().unwrap();
        assert!(["_text", "_stext"].contains(&symbol), "{name}: {symbol}");
        assert!(
            (image.address..image.address.saturating_add(image.length)).contains(&address),
            "{name}: {address:x}"
        );
    }
}

#[test]
fn every_field_behind_the_weight_is_in_its_place() {
    let file = open("memory.data");
    let fields = file.facts().events[0].attr.sample_type;
    let wanted = SampleFields::WEIGHT_STRUCT
        | SampleFields::DATA_SRC
        | SampleFields::PHYS_ADDR
        | SampleFields::CGROUP
        | SampleFields::DATA_PAGE_SIZE
        | SampleFields::CODE_PAGE_SIZE;
    assert!(fields.contains(wanted));
    // The fields behind the weight: a record with more or less would be refused.
    let mut physical = 0;
    let count = each_sample(&file, |sample| {
        assert_eq!(sample.latency, Some(0));
        assert!(sample.data_source.is_some());
        assert_eq!(sample.addr, None);
        physical += usize::from(sample.physical_address.is_some());
        assert!(sample.ip.is_some_and(|ip| ip.0 != 0));
    });
    assert!(count > 20 && physical == 0, "{physical} of {count}");
}

#[test]
fn registers_and_stacks_are_in_their_place() {
    let file = open("registers.data");
    let attr = &file.facts().events[0].attr;
    let wanted = SampleFields::REGS_USER | SampleFields::STACK_USER | SampleFields::REGS_INTR;
    assert!(attr.sample_type.contains(wanted));
    assert!(attr.user_registers != 0 && attr.interrupt_registers != 0);
    let mut of_user = 0;
    let count = each_sample(&file, |sample| {
        // User frames come from the stack, so only kernel samples have a chain.
        let is_user = sample.cpu_mode == CpuMode::User;
        assert_eq!(sample.callchain.unwrap().iter().next().is_none(), is_user);
        of_user += usize::from(is_user);
        assert!(sample.time.is_some());
    });
    assert!(of_user > 5 && of_user <= count, "{of_user} of {count}");
}

#[test]
fn samples_of_groups_are_read() {
    let file = open("group.data");
    let attr = &file.facts().events[0].attr;
    assert!(attr.sample_type.contains(SampleFields::READ) && attr.read_format >> 3 & 1 != 0);
    assert_eq!(file.facts().events.len(), 2);
    let mut last = 0;
    let count = each_sample(&file, |sample| {
        assert!(sample.period > 0 && sample.ip.is_some_and(|ip| ip.0 != 0));
        last = last.max(sample.time.unwrap());
    });
    assert!(count > 20 && last > 0);
}

#[test]
fn a_recording_cut_at_any_fiftieth_is_an_error_in_file_mode_and_never_a_panic() {
    let names = ["clock.data", "packed.data", "memory.data", "stream.data", "packed-stream.data"];
    for name in names {
        let whole = std::fs::read(rows::fixture(name)).unwrap();
        for part in 0..50 {
            let cut = whole[..whole.len() * part / 50].to_vec();
            let read = SampleFile::from_bytes(cut).and_then(|file| file.count_records());
            let is_file = !name.contains("stream");
            assert!(!is_file || read.is_err(), "{name} cut at {part}/50");
        }
    }
}

#[test]
fn a_flipped_byte_in_what_zstd_packed_is_read_or_refused() {
    let whole = std::fs::read(rows::fixture("packed.data")).unwrap();
    let mut refused = 0;
    for index in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[index] ^= 0x55;
        let read = SampleFile::from_bytes(bytes).and_then(|file| file.count_records());
        refused += usize::from(matches!(read, Err(Error::Malformed { .. })));
    }
    assert!(refused > 100, "{refused} of {} were refused", whole.len());
}
