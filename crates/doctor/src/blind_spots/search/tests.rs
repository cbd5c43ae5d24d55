use super::*;
use fieldline_perfdata::perf_data::{Attr, Endian, PerfFile};
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

fn found(recording: &RecordingWriter) -> Vec<BlindSpot> {
    let file = PerfFile::of_bytes(recording.to_file()).unwrap();
    blind_spots(file.facts(), &file.tally().unwrap())
}

fn keys(recording: &RecordingWriter) -> Vec<&'static str> {
    found(recording).iter().map(BlindSpot::key).collect()
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
    assert_eq!(found(&recording("mem", loads(3), &good_samples())), []);
}

#[test]
fn a_clock_is_blind_to_code_with_interrupts_off() {
    for (config, name) in [(0, "cpu-clock"), (1, "task-clock")] {
        let sample_type = SampleFields(MEMORY.0 & !SampleFields::ADDR.0 & !SampleFields::DATA_SRC.0);
        let attr = Attr { kind: 1, config, sample_type, ..Attr::default() };
        let samples = [access(0, 0, CpuMode::Kernel), access(0, 0, CpuMode::User)];
        let spots = found(&recording(name, attr.clone(), &samples));
        assert_eq!(spots.first(), Some(&BlindSpot::ClockEvent { event: name.to_owned() }));
        assert!(
            spots[0].to_string().contains("interrupts are off") && spots[0].remedy().contains("perf mem")
        );
        // A clock that leaves the kernel out is not blind to it by being a clock.
        let user = Attr { flags: EXCLUDE_KERNEL, ..attr };
        let keys = keys(&recording(name, user, &samples[1..]));
        assert_eq!(keys, ["no-addresses", "no-data-source", "no-kernel-code"]);
    }
}

#[test]
fn other_software_events_are_no_clocks() {
    let attr = Attr { kind: 1, config: 2, sample_type: MEMORY, ..Attr::default() };
    assert!(!keys(&recording("page-faults", attr, &good_samples())).contains(&"clock-event"));
}

#[test]
fn a_load_threshold_is_said_with_its_cycles() {
    let samples = [access(LOAD_L3, 40, CpuMode::Kernel), access(STORE_L1, 0, CpuMode::User)];
    let spots = found(&recording("mem-loads", loads(30), &samples));
    let threshold =
        BlindSpot::LoadThreshold { event: "mem-loads".to_owned(), cycles: 30, is_asked_for: true };
    assert_eq!(spots, [threshold]);
    assert!(spots[0].to_string().contains("30 cycles"));
}

#[test]
fn a_threshold_that_no_attribute_tells_is_seen_in_the_loads() {
    let attr = Attr { kind: 11, config: 0, ..loads(0) };
    let samples = [access(LOAD_L3, 40, CpuMode::Kernel), access(STORE_L1, 0, CpuMode::User)];
    let spots = found(&recording("ibs_op//", attr, &samples));
    let threshold =
        BlindSpot::LoadThreshold { event: "ibs_op//".to_owned(), cycles: 40, is_asked_for: false };
    assert_eq!(spots, [threshold]);
}

#[test]
fn addresses_missing_for_either_reason() {
    let without = SampleFields(MEMORY.0 & !SampleFields::ADDR.0);
    let attr = Attr { sample_type: without, ..loads(3) };
    let spots = found(&recording("mem", attr, &good_samples()));
    assert_eq!(spots, [BlindSpot::NoAddresses { event: "mem".to_owned(), asked_for: false }]);
    let zeros = good_samples().map(|values| SampleValues { addr: 0, ..values });
    let spots = found(&recording("mem", loads(3), &zeros));
    assert_eq!(spots, [BlindSpot::NoAddresses { event: "mem".to_owned(), asked_for: true }]);
}

#[test]
fn fields_missing_that_visits_need() {
    let without = SampleFields(MEMORY.0 & !SampleFields::CPU.0 & !SampleFields::TIME.0);
    let attr = Attr { sample_type: without, ..loads(3) };
    let spots = found(&recording("mem", attr, &good_samples()));
    let missing = |field| BlindSpot::NoField { event: "mem".to_owned(), field };
    assert_eq!(spots, [missing("time"), missing("cpu")]);
}

#[test]
fn code_that_is_excluded_or_was_not_met() {
    let attr = Attr { flags: PRECISE | EXCLUDE_USER, ..loads(3) };
    let kernel = recording("mem", attr, &good_samples()[..2]);
    assert_eq!(found(&kernel), [BlindSpot::NoUserCode { is_excluded: true }]);
    let user = [access(LOAD_L1, 5, CpuMode::User), access(STORE_L1, 0, CpuMode::User)];
    let spots = found(&recording("mem", loads(3), &user));
    assert_eq!(spots, [BlindSpot::NoKernelCode { is_excluded: false }]);
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
    assert_eq!(found(&recording("mem", loads(3), &[load, user_load])), [BlindSpot::NoStores]);
    let user_store = SampleValues { cpu_mode: CpuMode::User, ..store };
    assert_eq!(found(&recording("mem", loads(3), &[store, user_store])), [BlindSpot::NoLoads]);
}

#[test]
fn losses_count_once_and_little_is_nothing() {
    let mut lossy = recording("mem", loads(3), &good_samples());
    lossy.lost(7, 100);
    lossy.lost_samples(90);
    lossy.throttle(7);
    let spots = found(&lossy);
    assert_eq!(spots, [BlindSpot::Lost { count: 100, share: 0.25 }, BlindSpot::Throttled { times: 1 }]);
    assert!(spots[0].to_string().contains("100 samples were lost (25.0 %)"));

    let mut samples = Vec::new();
    (0..40).for_each(|_| samples.extend(good_samples()));
    let mut hardly = recording("mem", loads(3), &samples);
    hardly.lost(7, 1);
    assert_eq!(found(&hardly), []);
}

#[test]
fn a_trace_that_is_not_decoded() {
    let mut trace = recording("mem", loads(3), &[]);
    trace.aux_trace(&[0; 64]);
    let spots = found(&trace);
    assert_eq!(spots, [BlindSpot::AuxTrace { bytes: 64 }, BlindSpot::NoSamples]);
    assert!(spots[0].remedy().contains("perf inject"));
}

#[test]
fn skid_of_events_that_are_not_precise() {
    let attr = Attr { kind: 0, config: 1, config1: 0, flags: 0, ..loads(0) };
    assert_eq!(keys(&recording("instructions", attr.clone(), &good_samples())), ["skid"]);
    let exact = good_samples().map(|values| SampleValues { exact_ip: true, ..values });
    assert_eq!(keys(&recording("instructions", attr, &exact)), [""; 0]);
}

#[test]
fn samples_of_events_that_are_not_described() {
    let mut strange = recording("mem", loads(3), &good_samples());
    let other = strange.event("mem-stores", loads(3), &[8]);
    strange.sample(other, &SampleValues { id: Some(99), ..good_samples()[0] });
    assert_eq!(found(&strange), [BlindSpot::UnknownEvents { samples: 1 }]);
}

#[test]
fn every_sentence_has_a_remedy_and_a_key_of_its_own() {
    let event = || "e".to_owned();
    let spots = [
        BlindSpot::NoSamples,
        BlindSpot::Unfinished,
        BlindSpot::ClockEvent { event: event() },
        BlindSpot::LoadThreshold { event: event(), cycles: 30, is_asked_for: false },
        BlindSpot::NoAddresses { event: event(), asked_for: true },
        BlindSpot::NoDataSource { event: event() },
        BlindSpot::Skid { event: event() },
        BlindSpot::NoField { event: event(), field: "cpu" },
        BlindSpot::NoKernelCode { is_excluded: true },
        BlindSpot::NoUserCode { is_excluded: true },
        BlindSpot::Guests { share: 0.5 },
        BlindSpot::NoStores,
        BlindSpot::NoLoads,
        BlindSpot::Lost { count: 1, share: 0.1 },
        BlindSpot::Throttled { times: 1 },
        BlindSpot::AuxTrace { bytes: 1 },
        BlindSpot::UnknownEvents { samples: 1 },
    ];
    let mut keys: Vec<_> = spots.iter().map(BlindSpot::key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), spots.len());
    assert!(spots.iter().all(|spot| !spot.to_string().is_empty() && !spot.remedy().is_empty()));
}
