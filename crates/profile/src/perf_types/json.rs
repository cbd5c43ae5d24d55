//! The JSON of data-type profiles, version 1: programs, their types, and for each event samples by offset.
//! Unknown keys are passed over.

use super::counts::{Error, MemoryOperation, PerfOutputForm, TypeCountRow, TypeCounts};
use fieldline_access::access::SampleCount;
use serde::Deserialize;

#[derive(Deserialize)]
struct VersionHeader {
    version: Option<u64>,
}

#[derive(Deserialize)]
struct JsonDocument {
    dsos: Vec<JsonDso>,
}

#[derive(Deserialize)]
struct JsonDso {
    dso: String,
    build_id: Option<String>,
    #[serde(default)]
    types: Vec<JsonType>,
}

#[derive(Deserialize)]
struct JsonType {
    #[serde(rename = "type")]
    name: String,
    size: Option<u64>,
    #[serde(default)]
    histograms: Vec<JsonHistogram>,
}

#[derive(Deserialize)]
struct JsonHistogram {
    event: String,
    #[serde(default)]
    samples: Vec<JsonSamples>,
}

#[derive(Deserialize)]
struct JsonSamples {
    offset: u64,
    #[serde(default)]
    nr_samples_load: u64,
    #[serde(default)]
    nr_samples_store: u64,
    #[serde(default)]
    period_load: u64,
    #[serde(default)]
    period_store: u64,
}

pub(super) fn parse(text: &str) -> Result<TypeCounts, Error> {
    // Older drafts are the list of programs alone.
    let dsos: Vec<JsonDso> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text)?
    } else {
        let head: VersionHeader = serde_json::from_str(text)?;
        if let Some(found) = head.version.filter(|version| *version != 1) {
            return Err(Error::Version { found });
        }
        serde_json::from_str::<JsonDocument>(text)?.dsos
    };
    let mut counts = TypeCounts::new(PerfOutputForm::Json);
    for dso in &dsos {
        for json_type in &dso.types {
            for histogram in &json_type.histograms {
                let event = counts.event(&histogram.event);
                let rows = histogram.samples.iter().flat_map(|samples| rows(dso, json_type, event, samples));
                counts.rows.extend(rows);
            }
        }
    }
    Ok(counts)
}

/// Loads and stores at one offset.
fn rows(dso: &JsonDso, ty: &JsonType, event: usize, sum: &JsonSamples) -> impl Iterator<Item = TypeCountRow> {
    let row = |operation, samples, period| TypeCountRow {
        event,
        dso: Some(dso.dso.clone()),
        build_id: dso.build_id.clone(),
        type_name: ty.name.clone(),
        type_size: ty.size,
        offset: Some(sum.offset),
        size: 0,
        function: None,
        operation,
        tally: SampleCount { samples, period },
    };
    let loads = row(MemoryOperation::Load, sum.nr_samples_load, sum.period_load);
    let stores = row(MemoryOperation::Store, sum.nr_samples_store, sum.period_store);
    [loads, stores].into_iter().filter(|row| row.tally.samples > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DSOS: &str = r#"[{"dso": "/x/vmlinux", "build_id": "ab01", "new": 1, "types": [
        {"type": "struct thing", "size": 32, "members": [], "histograms": [
            {"event": "loads", "total_samples": 9, "samples": [
                {"offset": 8, "nr_samples_load": 4, "nr_samples_store": 2, "period_load": 40, "period_store": 20},
                {"offset": 16, "nr_samples_load": 3}]}]}]},
        {"dso": "[xfs]", "build_id": null}]"#;

    #[test]
    fn loads_and_stores_by_offset() {
        let counts = parse(&format!("{{\"version\": 1, \"machine\": {{}}, \"dsos\": {DSOS}}}")).unwrap();
        let rows: Vec<_> = counts.rows.iter().map(|row| (row.offset, row.operation, row.tally)).collect();
        let expected = [
            (Some(8), MemoryOperation::Load, SampleCount { samples: 4, period: 40 }),
            (Some(8), MemoryOperation::Store, SampleCount { samples: 2, period: 20 }),
            (Some(16), MemoryOperation::Load, SampleCount { samples: 3, period: 0 }),
        ];
        assert_eq!(rows, expected);
        let row = &counts.rows[0];
        assert_eq!(
            (row.build_id.as_deref(), row.type_size, counts.events.len()),
            (Some("ab01"), Some(32), 1)
        );
    }

    #[test]
    fn older_drafts_are_a_list() {
        assert_eq!(parse(DSOS).unwrap().rows.len(), 3);
    }
}
