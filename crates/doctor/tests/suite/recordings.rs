//! Recordings with a known truth, where `FIELDLINE_DATA` names the folder that has them unpacked.

use std::path::PathBuf;

use fieldline_doctor::DoctorFinding;
use fieldline_doctor::blind_spots::blind_spots;
use fieldline_perfdata::address::LoadedAddress;
use fieldline_perfdata::data_source::{Level, Operation, Snoop};
use fieldline_perfdata::perf_data::{Record, RecordCounts};
use fieldline_perfdata::sample_file::SampleFile;

const KERNEL: &str = "e1b6c81f7afcf08c49c197583920e5307d281cdf";

fn open(name: &str) -> SampleFile {
    let folder = PathBuf::from(std::env::var_os("FIELDLINE_DATA").unwrap());
    SampleFile::open(&folder.join(name)).unwrap()
}

fn spots(file: &SampleFile) -> (RecordCounts, Vec<DoctorFinding>) {
    let tally = file.count_records().unwrap();
    let spots = blind_spots(file.facts(), &tally, None);
    (tally, spots)
}

fn keys(spots: &[DoctorFinding]) -> Vec<&str> {
    spots.iter().map(|spot| spot.key.as_str()).collect()
}

#[test]
#[ignore = "reads the recordings that FIELDLINE_DATA names; cargo xtask kernel runs it"]
fn loads_and_stores_of_the_whole_kernel() {
    let file = open("c1.mem.perf.data");
    let (tally, spots) = spots(&file);
    assert_eq!(file.facts().kernel_build_id().unwrap().to_string(), KERNEL);
    let counts: Vec<_> =
        tally.events.iter().map(|event| (event.samples, event.loads, event.stores)).collect();
    assert_eq!(counts, [(105_170, 105_170, 0), (62_566, 0, 62_566)]);
    let image = tally.kernel_image().unwrap();
    assert_eq!(image.reference_symbol(), Some(("_text", LoadedAddress(0xffff_ffff_8100_0000))));
    // A threshold of three cycles hides nothing; the trace is of kernel code alone.
    assert_eq!(keys(&spots), ["no-user-code"]);
}

#[test]
#[ignore = "reads the recordings that FIELDLINE_DATA names; cargo xtask kernel runs it"]
fn levels_and_snoops_follow_from_the_data_source() {
    let file = open("c1.mem.perf.data");
    let mut transfers = 0;
    let mut records = file.records();
    while let Some(record) = records.next_record().unwrap() {
        let Record::Sample(sample) = record else { continue };
        let source = sample.data_source.unwrap();
        assert!(matches!(source.operation(), Operation::Load | Operation::Store));
        assert_ne!(source.level(), Level::NotAvailable);
        if source.is_l1_hit() {
            assert!(sample.latency.unwrap() < 10);
        }
        transfers += u64::from(source.snoop() == Snoop::HitModified);
    }
    assert!(transfers > 1000);
}

#[test]
#[ignore = "reads the recordings that FIELDLINE_DATA names; cargo xtask kernel runs it"]
fn a_load_threshold_of_thirty_cycles() {
    let file = open("c1.mem-ldlat30.perf.data");
    let (_, spots) = spots(&file);
    assert_eq!(keys(&spots), ["load-threshold", "no-user-code"]);
    assert!(spots[0].message.contains("samples only loads that take 30 cycles or more"));
}

#[test]
#[ignore = "reads the recordings that FIELDLINE_DATA names; cargo xtask kernel runs it"]
fn instructions_with_few_addresses() {
    let file = open("c1.insn.perf.data");
    let (tally, spots) = spots(&file);
    assert_eq!(tally.samples(), 231_669);
    assert_eq!(keys(&spots), ["no-data-source"]);
}

#[test]
#[ignore = "reads the recordings that FIELDLINE_DATA names; cargo xtask kernel runs it"]
fn a_genuine_clock_recording() {
    let file = open("b1.cpu-clock.perf.data");
    let (tally, spots) = spots(&file);
    assert_eq!(tally.samples(), 56_876);
    assert_eq!(keys(&spots), ["clock-event", "no-addresses", "no-data-source", "throttled"]);
}
