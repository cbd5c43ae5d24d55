//! One row a sample, in a form that both we and `perf script` can be brought to.

use fieldline_perfdata::address::DataAddress;
use fieldline_perfdata::data_source::DataSource;
use fieldline_perfdata::perf_data::{PerfFile, Record, RecordingFacts};
use fieldline_perfdata::sample::{Sample, SampleFields};
use std::num::NonZeroU64;

/// The columns of a row that a recording can have, with the words `perf script -F` has for them. Those
/// from the weight on are printed last.
pub(crate) const COLUMNS: [(SampleFields, &str); 9] = [
    (SampleFields::TID, "pid,tid"),
    (SampleFields::CPU, "cpu"),
    (SampleFields::TIME, "time"),
    (SampleFields::PERIOD, "period"),
    (SampleFields::ADDR, "addr"),
    (SampleFields::DATA_SRC, "data_src"),
    (SampleFields(SampleFields::WEIGHT.0), "weight"),
    (SampleFields::IP, "ip"),
    (SampleFields::PHYS_ADDR, "phys_addr"),
];

/// Columns that all sampled events have.
pub(crate) fn common_fields(facts: &RecordingFacts) -> SampleFields {
    let sampled = facts.events.iter().filter(|event| !event.attr.is_dummy());
    let all = sampled.map(|event| event.attr.sample_type.0).fold(u64::MAX, |all, fields| {
        // Either form of the weight is one column.
        let has_weight = fields & (SampleFields::WEIGHT | SampleFields::WEIGHT_STRUCT).0 != 0;
        all & (fields | if has_weight { SampleFields::WEIGHT.0 } else { 0 })
    });
    SampleFields(all)
}

/// The numbers of a sample in the order of `perf script`.
fn our_row(facts: &RecordingFacts, fields: SampleFields, sample: &Sample<'_>) -> String {
    let number = |value: Option<u64>| value.unwrap_or_default();
    let columns = [
        format!("{}/{}", sample.pid.unwrap_or_default() as i32, sample.tid.unwrap_or_default() as i32),
        format!("{}", sample.cpu.unwrap_or_default()),
        format!("{}", number(sample.time)),
        format!("{}", sample.period),
        format!("{:x}", number(sample.addr.map(DataAddress::get))),
        format!("{:x}", sample.data_source.map_or(0, |DataSource(word)| word)),
        format!("{}", number(sample.latency)),
        format!("{:x}", number(sample.ip.map(|ip| ip.0))),
        format!("{:x}", number(sample.physical_address.map(NonZeroU64::get))),
    ];
    let has = COLUMNS.iter().map(|(field, _)| fields.contains(*field));
    let columns = columns.into_iter().zip(has).filter(|(_, has)| *has).map(|(column, _)| column);
    let event = facts.event(sample.event).unwrap();
    format!("{} {}", event.name, columns.collect::<Vec<_>>().join(" "))
}

/// The rows of a recording in file order.
pub(crate) fn our_rows(file: &PerfFile, fields: SampleFields) -> Vec<String> {
    let mut rows = Vec::new();
    let mut records = file.records();
    while let Some(record) = records.next_record().unwrap() {
        if let Record::Sample(sample) = record {
            rows.push(our_row(file.facts(), fields, &sample));
        }
    }
    rows
}

/// The recordings of `fixtures/perf` that `perf script` prints sample by sample, in the order of their
/// names. It splits a sample of grouped events into one per event, so those are not among them.
pub(crate) fn fixtures() -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(fixture("")).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension().is_some_and(|ending| ending == "data") && !path.ends_with("group.data")
    });
    paths.sort();
    paths
}

/// A file of `fixtures/perf`.
pub(crate) fn fixture(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/perf").join(name)
}
