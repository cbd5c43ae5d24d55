//! Recordings made by `perf record` itself; `fixtures/perf/README.md` says how. The expectations beside
//! them are what `perf script` printed.

use crate::rows;
use fieldline_perfdata::perf_data::{Error, Mode, PerfFile, Record};
use fieldline_perfdata::sample::{CpuMode, SampleFields};

fn open(name: &str) -> PerfFile {
    PerfFile::open(&rows::fixture(name)).unwrap()
}

/// Calls `see` with each sample and counts them.
fn each_sample(file: &PerfFile, mut see: impl FnMut(&fieldline_perfdata::sample::Sample<'_>)) -> usize {
    let mut count = 0;
    let mut records = file.records();
    while let Some(record) = records.next_record().unwrap() {
        if let Record::Sample(sample) = record {
            see(&sample);
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
    for (name, mode, is_compressed) in [
        ("clock.data", Mode::File, false),
        ("stream.data", Mode::Pipe, false),
        ("packed.data", Mode::File, true),
        ("packed-stream.data", Mode::Pipe, true),
    ] {
        let file = open(name);
        let facts = file.facts();
        assert_eq!(
            (facts.mode, facts.is_compressed, facts.is_finished),
            (mode, is_compressed, true),
            "{name}"
        );
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
        let file = open(name);
        let image = file.kernel_image().unwrap().unwrap();
        assert_eq!(file.tally().unwrap().kernel_image(), Some(&image), "{name}");
        let (symbol, address) = image.reference_symbol().unwrap();
        assert!(["_text", "_stext"].contains(&symbol), "{name}: {symbol}");
        assert!((image.address..image.address + image.length).contains(&address), "{name}: {address:x}");
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
    let mut page_sizes = Vec::new();
    each_sample(&file, |sample| {
        let parts = sample.parts();
        assert!(parts.cgroup.unwrap() > 0);
        assert_eq!(parts.data_page_size, Some(0));
        page_sizes.extend(parts.code_page_size);
        assert_eq!(sample.weight.unwrap().latency, 0);
    });
    page_sizes.sort_unstable();
    page_sizes.dedup();
    // What x86-64 has, and zero where the kernel could not look.
    assert!(page_sizes.iter().all(|size| [0, 4096, 2 << 20, 1 << 30].contains(size)), "{page_sizes:?}");
    assert!(page_sizes.contains(&4096));
}

#[test]
fn registers_and_stacks_are_in_their_place() {
    /// `PERF_REG_X86_SP` and `PERF_REG_X86_IP`.
    const STACK_POINTER: u32 = 7;
    const INSTRUCTION_POINTER: u32 = 8;
    let file = open("registers.data");
    let mut filled = 0;
    each_sample(&file, |sample| {
        let parts = sample.parts();
        let registers = parts.interrupt_registers.unwrap();
        assert_eq!(registers.get(INSTRUCTION_POINTER), sample.ip);
        assert!(registers.get(2).is_none());
        if sample.cpu_mode == CpuMode::User {
            let user = parts.user_registers.unwrap();
            assert_eq!(user.get(INSTRUCTION_POINTER), sample.ip);
            assert_eq!(user.get(STACK_POINTER), registers.get(STACK_POINTER));
            filled += usize::from(parts.user_stack.unwrap().contents().len() == 512);
        }
        // User frames come from the stack, so only kernel samples have a chain.
        assert_eq!(parts.callchain.unwrap().is_empty(), sample.cpu_mode == CpuMode::User);
    });
    assert!(filled > 5, "{filled}");
}

#[test]
fn grouped_counters_grow() {
    let file = open("group.data");
    let ids: Vec<&[u64]> = file.facts().events.iter().map(|event| event.ids.as_slice()).collect();
    let mut last = std::collections::BTreeMap::new();
    let count = each_sample(&file, |sample| {
        let values: Vec<_> = sample.parts().read.unwrap().values().collect();
        assert_eq!(values.len(), 2);
        for (value, ids) in values.iter().zip(&ids) {
            let id = value.id.unwrap();
            assert!(ids.contains(&id));
            assert!(last.insert(id, value.value).unwrap_or(0) <= value.value);
        }
    });
    assert!(count > 20);
}

#[test]
fn a_recording_cut_at_any_fiftieth_is_an_error_in_file_mode_and_never_a_panic() {
    let names = ["clock.data", "packed.data", "memory.data", "stream.data", "packed-stream.data"];
    for name in names {
        let whole = std::fs::read(rows::fixture(name)).unwrap();
        for part in 0..50 {
            let cut = whole[..whole.len() * part / 50].to_vec();
            let read = PerfFile::of_bytes(cut).and_then(|file| file.tally());
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
        let read = PerfFile::of_bytes(bytes).and_then(|file| file.tally());
        refused += usize::from(matches!(read, Err(Error::Malformed { .. })));
    }
    assert!(refused > 100, "{refused} of {} were refused", whole.len());
}
