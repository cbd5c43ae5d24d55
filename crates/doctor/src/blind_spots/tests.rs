use super::*;
use fieldline_perfdata::perf_data::{Attr, Endian};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_perfdata::writer::{RecordingWriter, SampleValues};

const MEMORY: SampleFields = SampleFields(
    SampleFields::IDENTIFIER.0
        | SampleFields::IP.0
        | SampleFields::TID.0
        | SampleFields::TIME.0
        | SampleFields::ADDR.0
        | SampleFields::CPU.0
        | SampleFields::WEIGHT.0
        | SampleFields::DATA_SRC.0,
);
/// A load and a store that the first-level cache served, and a load that the third level did.
const LOAD_L1: u64 = 2 | (8 | 2) << 5 | 1 << 33;
const STORE_L1: u64 = 4 | (8 | 2) << 5 | 1 << 33;
const LOAD_L3: u64 = 2 | (0x40 | 2) << 5 | 3 << 33;
const EXCLUDE_USER: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const PRECISE: u64 = 3 << 15;

fn loads(threshold: u64) -> Attr {
    Attr {
        kind: 4,
        config: 0x1cd,
        config1: threshold,
        sample_type: MEMORY,
        flags: PRECISE,
        ..Attr::default()
    }
}

fn access(data_source: u64, weight: u64, cpu_mode: CpuMode) -> SampleValues<'static> {
    SampleValues { addr: 0x1000, ip: 0x2000, data_source, weight, cpu_mode, ..SampleValues::default() }
}

/// A recording of one event with 100 samples of each of `samples`.
fn recording(name: &str, attr: Attr, samples: &[SampleValues<'_>]) -> RecordingWriter {
    let mut recording = RecordingWriter::new(Endian::Little);
    let event = recording.event(name, attr, &[7]);
    for values in samples {
        (0..100).for_each(|_| recording.sample(event, values));
    }
    recording
}

fn find_blind_spots(recording: &RecordingWriter) -> Vec<DoctorFinding> {
    let file = SampleFile::from_bytes(recording.to_file()).unwrap();
    blind_spots(file.facts(), &file.count_records().unwrap(), None)
}

fn keys_of(spots: &[DoctorFinding]) -> Vec<&str> {
    spots.iter().map(|spot| spot.key.as_str()).collect()
}

fn keys(recording: &RecordingWriter) -> Vec<String> {
    find_blind_spots(recording).into_iter().map(|spot| spot.key).collect()
}

/// The key of the only spot, and whether its sentence and its evidence say something.
fn assert_only(spots: &[DoctorFinding], key: &str, what: &str, why: &str) {
    assert_eq!(keys_of(spots), [key]);
    assert!(spots[0].message.contains(what) && spots[0].evidence.contains(why), "{spots:?}");
}

fn good_samples() -> [SampleValues<'static>; 3] {
    [
        access(LOAD_L1, 5, CpuMode::Kernel),
        access(STORE_L1, 0, CpuMode::Kernel),
        access(LOAD_L1, 5, CpuMode::User),
    ]
}

#[test]
fn a_recording_of_loads_and_stores_everywhere_has_no_blind_spot() {
    assert_eq!(find_blind_spots(&recording("mem", loads(3), &good_samples())), []);
}

#[test]
fn a_clock_is_blind_to_code_with_interrupts_off() {
    for (config, name) in [(0, "cpu-clock"), (1, "task-clock")] {
        let sample_type = SampleFields(MEMORY.0 & !SampleFields::ADDR.0 & !SampleFields::DATA_SRC.0);
        let attr = Attr { kind: 1, config, sample_type, ..Attr::default() };
        let samples = [access(0, 0, CpuMode::Kernel), access(0, 0, CpuMode::User)];
        let spots = find_blind_spots(&recording(name, attr.clone(), &samples));
        assert_eq!((spots[0].key.as_str(), spots[0].severity), ("clock-event", Severity::CannotAnswer));
        assert!(
            spots[0].message.starts_with(name) && spots[0].evidence.contains(&format!("config {config};"))
        );
        assert!(spots[0].message.contains("interrupts are off") && spots[0].remedy.contains("perf mem"));
        // A clock that leaves the kernel out is not blind to it by being a clock.
        let user = Attr { flags: EXCLUDE_KERNEL, ..attr };
        let keys = keys(&recording(name, user, &samples[1..]));
        assert_eq!(keys, ["no-addresses", "no-data-source", "no-kernel-code"]);
    }
}

#[test]
fn other_software_events_are_no_clocks() {
    let attr = Attr { kind: 1, config: 2, sample_type: MEMORY, ..Attr::default() };
    assert!(!keys(&recording("page-faults", attr, &good_samples())).contains(&"clock-event".to_owned()));
}

#[test]
fn a_load_threshold_is_reported_with_its_cycles() {
    let samples = [access(LOAD_L3, 40, CpuMode::Kernel), access(STORE_L1, 0, CpuMode::User)];
    let spots = find_blind_spots(&recording("mem-loads", loads(30), &samples));
    assert_only(
        &spots,
        "load-threshold",
        "mem-loads samples only loads that take 30 cycles",
        "asks for 30 cycles",
    );
    assert_eq!(spots[0].severity, Severity::CannotAnswer, "none hit the nearest cache");
}

#[test]
fn a_threshold_without_an_attribute_is_found_by_the_loads() {
    let attr = Attr { kind: 11, config: 0, ..loads(0) };
    let samples = [access(LOAD_L3, 40, CpuMode::Kernel), access(STORE_L1, 0, CpuMode::User)];
    let spots = find_blind_spots(&recording("ibs_op//", attr, &samples));
    assert_only(&spots, "load-threshold", "no load of ibs_op// took fewer than 40", "less than 40 cycles");
}

#[test]
fn addresses_missing_for_either_reason() {
    let without = SampleFields(MEMORY.0 & !SampleFields::ADDR.0);
    let attr = Attr { sample_type: without, ..loads(3) };
    let spots = find_blind_spots(&recording("mem", attr, &good_samples()));
    assert_only(&spots, "no-addresses", "samples of mem have no data address", "0 of 300 samples of mem");
    let zeros = good_samples().map(|values| SampleValues { addr: 0, ..values });
    let spots = find_blind_spots(&recording("mem", loads(3), &zeros));
    assert_only(&spots, "no-addresses", "mem asked for data addresses", "0 of 300 samples of mem");
}

#[test]
fn fields_missing_that_visits_need() {
    let without = SampleFields(MEMORY.0 & !SampleFields::CPU.0 & !SampleFields::TIME.0);
    let attr = Attr { sample_type: without, ..loads(3) };
    let spots = find_blind_spots(&recording("mem", attr, &good_samples()));
    assert_eq!(keys_of(&spots), ["no-field"; 2]);
    assert!(
        spots[0].message.contains("have no time,") && spots[1].message.contains("have no cpu,"),
        "{spots:?}"
    );
}

#[test]
fn code_that_is_excluded_or_was_not_met() {
    let attr = Attr { flags: PRECISE | EXCLUDE_USER, ..loads(3) };
    let kernel = recording("mem", attr, &good_samples()[..2]);
    assert_only(&find_blind_spots(&kernel), "no-user-code", "was excluded", "exclude_user is set");
    let user = [access(LOAD_L1, 5, CpuMode::User), access(STORE_L1, 0, CpuMode::User)];
    let spots = find_blind_spots(&recording("mem", loads(3), &user));
    assert_only(&spots, "no-kernel-code", "no sample is of kernel code", "0 of 200 samples");
    assert_eq!(spots[0].severity, Severity::Limits);
}

#[test]
fn levels_of_an_emulator_are_a_models() {
    let samples = [access(LOAD_L1, 5, CpuMode::Kernel), access(STORE_L1, 0, CpuMode::Kernel)];
    let mut recording =
        recording("qemu/mem-loads/", Attr { flags: EXCLUDE_USER | PRECISE, ..loads(0) }, &samples);
    recording.cpu_description("QEMU 10.0; modelled caches of 1, 2 and 3 KiB");
    let spots = find_blind_spots(&recording);
    let modelled: Vec<_> = spots.iter().filter(|spot| spot.key == "modelled-levels").collect();
    assert_eq!(modelled.len(), 1);
    assert!(modelled[0].evidence.contains("QEMU 10.0; modelled caches of 1, 2 and 3 KiB"));
}

#[test]
fn guests_only() {
    let guest = [access(LOAD_L1, 5, CpuMode::GuestKernel), access(STORE_L1, 0, CpuMode::GuestUser)];
    let keys = keys(&recording("mem", loads(3), &guest));
    assert_eq!(keys, ["no-kernel-code", "no-user-code", "guests"]);
}

#[test]
fn one_sided_operations() {
    let [load, store, user_load] = good_samples();
    assert_eq!(keys(&recording("mem", loads(3), &[load, user_load])), ["no-stores"]);
    let user_store = SampleValues { cpu_mode: CpuMode::User, ..store };
    assert_eq!(keys(&recording("mem", loads(3), &[store, user_store])), ["no-loads"]);
}

#[test]
fn losses_count_once_and_few_are_ignored() {
    let mut lossy = recording("mem", loads(3), &good_samples());
    lossy.lost(7, 100);
    lossy.lost_samples(90);
    lossy.throttle(7);
    let spots = find_blind_spots(&lossy);
    assert_eq!(keys_of(&spots), ["lost", "throttled"]);
    assert!(
        spots[0].message.contains("100 samples were lost (25.0 %)")
            && spots[1].evidence.starts_with("1 THROTTLE")
    );

    let mut samples = Vec::new();
    (0..40).for_each(|_| samples.extend(good_samples()));
    let mut hardly = recording("mem", loads(3), &samples);
    hardly.lost(7, 1);
    assert_eq!(find_blind_spots(&hardly), []);
}

#[test]
fn a_trace_that_is_not_decoded() {
    let mut trace = recording("mem", loads(3), &[]);
    trace.aux_trace(&[0; 64]);
    let spots = find_blind_spots(&trace);
    assert_eq!(keys_of(&spots), ["aux-trace", "no-samples"]);
    assert!(spots[0].message.starts_with("64 bytes") && spots[0].remedy.contains("perf inject"));
}

#[test]
fn skid_of_events_that_are_not_precise() {
    let attr = Attr { kind: 0, config: 1, config1: 0, flags: 0, ..loads(0) };
    assert_eq!(keys(&recording("instructions", attr.clone(), &good_samples())), ["skid"]);
    let exact = good_samples().map(|values| SampleValues { exact_ip: true, ..values });
    assert_eq!(keys(&recording("instructions", attr, &exact)), Vec::<String>::new());
}

#[test]
fn samples_of_events_that_are_not_described() {
    let mut strange = recording("mem", loads(3), &good_samples());
    let other = strange.event("mem-stores", loads(3), &[8]);
    strange.sample(other, &SampleValues { id: Some(99), ..good_samples()[0] });
    assert_only(
        &find_blind_spots(&strange),
        "unknown-events",
        "1 samples belong to events",
        "1 samples carry an id",
    );
}

#[test]
fn severity_depends_on_the_program() {
    let file = SampleFile::from_bytes(
        recording("mem", loads(3), &[access(LOAD_L1, 5, CpuMode::GuestUser)]).to_file(),
    );
    let file = file.unwrap();
    let severities = |program: Option<bool>| {
        let program = program.map(|is_kernel| ExaminedProgram { is_kernel, text: Vec::new() });
        let spots = blind_spots(file.facts(), &file.count_records().unwrap(), program.as_ref());
        assert_eq!(keys_of(&spots), ["no-kernel-code", "no-user-code", "guests", "no-stores"]);
        [spots[0].severity, spots[1].severity, spots[2].severity]
    };
    let (grave, limits, note) = (Severity::CannotAnswer, Severity::Limits, Severity::Note);
    assert_eq!(severities(None), [limits, note, grave]);
    assert_eq!(severities(Some(true)), [grave, note, grave]);
    assert_eq!(severities(Some(false)), [note, grave, grave]);
}

#[test]
fn every_sentence_has_a_remedy_and_a_key_of_its_own() {
    // Everything that can be wrong at once, of two events.
    let facts = RecordingFacts {
        events: vec![
            Event { name: "clock".to_owned(), attr: Attr { kind: 1, ..Attr::default() }, ids: Vec::new() },
            Event { name: "mem".to_owned(), attr: loads(30), ids: Vec::new() },
            Event { name: "one".to_owned(), attr: Attr { kind: 4, ..Attr::default() }, ids: Vec::new() },
        ],
        ..RecordingFacts::default()
    };
    let counts = SampleCounts { samples: 100, ..SampleCounts::default() };
    let loading = SampleCounts { loads: 100, ..counts };
    let mut tally = RecordCounts { events: vec![counts.clone(), loading, counts], ..RecordCounts::default() };
    (tally.unknown_samples, tally.lost_samples, tally.throttles, tally.aux_bytes) = (1, 100, 1, 1);
    for event in &mut tally.events {
        event.by_cpu_mode[CpuMode::GuestUser as usize] = 100;
    }
    let all = blind_spots(&facts, &tally, None);
    let mut keys = keys_of(&all);
    keys.sort_unstable();
    keys.dedup();
    let wanted = [
        "aux-trace",
        "clock-event",
        "guests",
        "load-threshold",
        "lost",
        "no-addresses",
        "no-data-source",
        "no-field",
        "no-kernel-code",
        "no-stores",
        "no-user-code",
        "skid",
        "throttled",
        "unfinished",
        "unknown-events",
    ];
    assert_eq!(keys, wanted);
    let has_all_texts =
        |spot: &DoctorFinding| ![&spot.message, &spot.evidence, &spot.remedy].contains(&&String::new());
    assert!(all.iter().all(has_all_texts));
    assert_eq!(blind_spot_messages(&facts, &tally).len(), all.len());
}
