//! Traces written by hand, and what they must cost.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use fieldline_compare::readers;
use fieldline_trial::{ALL_ACCESSES, FigureSet, ScoredMachine, TraceFigures, TraceInput, score};
use std::fs;

const STORE: u8 = 0x80;
const TIME_MARK: u8 = 0x7f;

/// A record of a trace (docs/formats.md).
fn record(address: u64, cpu: u8, flags: u8) -> Vec<u8> {
    let mut bytes = address.to_le_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend([cpu, flags, 0, 0]);
    bytes
}

fn load(address: u64, cpu: u8) -> Vec<u8> {
    record(address, cpu, 3)
}

fn store(address: u64, cpu: u8) -> Vec<u8> {
    record(address, cpu, STORE | 3)
}

fn scored(records: &[Vec<u8>], objects: &str) -> TraceFigures {
    let folder = tempfile::tempdir().unwrap();
    let (trace, table) = (folder.path().join("a.trace"), folder.path().join("a.tsv"));
    fs::write(&trace, records.concat()).unwrap();
    fs::write(&table, objects).unwrap();
    let machine = ScoredMachine { lines: vec![64, 128], caches: [1 << 10, 4 << 10, 64 << 10], visit_gap: 2 };
    let input = TraceInput { trace: &trace, objects: &table, vmlinux: None };
    score(input, &["entity".to_owned()], &machine).unwrap()
}

fn value(figures: &TraceFigures, set: FigureSet, test: &str, case: &str, measure: &str) -> f64 {
    let values = figures.values(set).iter();
    let found = values.filter(|value| {
        value.metric.test == test && value.metric.case == case && value.metric.measure == measure
    });
    let found: Vec<f64> = found.map(|value| value.value).collect();
    assert_eq!(found.len(), 1, "{test} {case} {measure}");
    found[0]
}

/// One CPU touches two lines of 64 bytes in its first visit and one in its second; another CPU's visit is its own.
#[test]
fn lines_are_counted_by_visit() {
    let elsewhere = [load(0x9000, 0), load(0x9008, 0), load(0x9010, 0)];
    let mut records = vec![load(0x1000, 0), load(0x1040, 0), load(0x1008, 0), load(0x1000, 1)];
    records.extend(elsewhere);
    records.push(load(0x1048, 0));
    let figures = scored(&records, "1000\tentity\t128\n9000\tother\t64\n");
    let lines = |case| value(&figures, FigureSet::Structs, "entity", case, "lines per visit");
    assert_eq!(lines("64 B"), 4.0 / 3.0);
    assert_eq!(lines("128 B"), 1.0);
    assert_eq!(figures.accesses, 8);
}

#[test]
fn a_line_that_another_cpu_wrote_is_a_hitm_and_the_first_access_a_miss() {
    let records = [store(0x1000, 0), load(0x1008, 1), load(0x1010, 1), load(0x1040, 1)];
    let figures = scored(&records, "1000 entity 128\n");
    let found = |case, measure| value(&figures, FigureSet::Structs, "entity", case, measure);
    // Two visits; figures are of 1000.
    assert_eq!(found("64 B", "modelled HITM"), 500.0);
    assert_eq!(
        (found("64 B", "modelled LLC misses"), found("128 B", "modelled LLC misses")),
        (1000.0, 500.0)
    );
    assert_eq!(found("64 B", "modelled L2 misses"), 1500.0);
    let all = value(&figures, FigureSet::Structs, ALL_ACCESSES, "64 B", "modelled LLC misses");
    assert_eq!(all, 500.0);
}

#[test]
fn an_object_counts_as_long_as_it_lives() {
    let records = [
        record(100, 0, TIME_MARK),
        load(0x1000, 0),
        record(200, 0, TIME_MARK),
        load(0x1000, 0),
        record(300, 0, TIME_MARK),
        load(0x1000, 0),
    ];
    let figures =
        scored(&records, "1000\tentity\t64\tname\tbegin=100 end=200\n1000\tentity\t64\tname\tbegin=300\n");
    let visits = |case| value(&figures, FigureSet::Structs, "entity", case, "lines per visit");
    // One access between both lives belongs to neither.
    assert_eq!(visits("64 B"), 1.0);
    let misses = value(&figures, FigureSet::Structs, "entity", "64 B", "modelled LLC misses");
    assert_eq!(misses, 500.0);
}

#[test]
fn small_caches_miss_more_and_files_are_read_by_compare() {
    // 768 lines, twice: 48 KiB fit into the shared cache of 64 KiB, and into half of it they don't.
    let records: Vec<Vec<u8>> =
        (0..2).flat_map(|_| (0..768_u64).map(|line| load(0x1_0000 + line * 64, 0))).collect();
    let figures = scored(&records, "1000 entity 64\n");
    let misses = |set| value(&figures, set, ALL_ACCESSES, "64 B", "modelled LLC misses");
    assert!(misses(FigureSet::HalfCaches) > misses(FigureSet::Structs));
    assert_eq!(misses(FigureSet::DoubleCaches), 500.0);
    let read = readers::read(&figures.csv(FigureSet::Structs, "how it was made\ntwo lines")).unwrap();
    assert_eq!(read.len(), figures.values(FigureSet::Structs).len());
    assert!(read.iter().all(|measurement| measurement.metric.test == ALL_ACCESSES));
}

#[test]
fn the_highest_address_is_no_error() {
    let figures = scored(&[load(u64::MAX, 0)], "ffffffffffffff80 entity 128\n");
    assert_eq!(value(&figures, FigureSet::Structs, "entity", "64 B", "lines per visit"), 1.0);
}
