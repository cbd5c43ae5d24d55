//! How much of the samples of each event in each DSO was attributed, and why not the rest.

use crate::addresses::dso::Dsos;
use crate::attribute::{Joint, each_access};
use fieldline_access::access::EventCoverage;
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::Target;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Samples of one event in one program, library or module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DsoCoverage {
    /// Path, or a name in brackets.
    pub dso: String,
    /// Where its samples went.
    pub event: EventCoverage,
}

/// Coverage of all recordings by event and DSO, those with most samples first.
///
/// # Errors
/// If a record can't be read.
pub fn coverage(joint: Joint<'_, '_>, files: &[SampleFile]) -> Result<Vec<DsoCoverage>, Error> {
    let mut found: BTreeMap<(String, String), EventCoverage> = BTreeMap::new();
    let mut dsos = Dsos::default();
    for (recording, file) in files.iter().enumerate() {
        dsos.begin();
        let parts = joint.parts(recording);
        let mut counted: FxHashMap<(usize, u32), EventCoverage> = FxHashMap::default();
        let mut records = file.records();
        while let Some(record) = records.next_record()? {
            let Record::Sample(sample) = record else {
                dsos.note(&record);
                continue;
            };
            each_access(&parts, &sample, &mut |sample, _, attributed| {
                let row = counted.entry((sample.event.index(), dsos.of(sample).0)).or_default();
                add(row, &attributed.target, sample.period);
                Ok::<(), Error>(())
            })?;
        }
        for ((event, dso), row) in counted {
            let event = file.facts().events.get(event).map_or("?", |event| &event.name);
            let dso = dsos.names.get(dso as usize).map_or("?", String::as_str);
            merge(found.entry((event.to_owned(), dso.to_owned())).or_default(), row);
        }
    }
    let rows = found
        .into_iter()
        .map(|((event, dso), coverage)| DsoCoverage { dso, event: EventCoverage { event, ..coverage } });
    let mut rows: Vec<DsoCoverage> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.event.total.samples));
    Ok(rows)
}

fn add<T>(row: &mut EventCoverage, target: &Target<T>, period: u64) {
    row.total.count(period);
    let Some(reason) = target.reason() else { return row.attributed.count(period) };
    match row.unattributed.get_mut(reason.word()) {
        Some(tally) => tally.count(period),
        None => row.unattributed.entry(reason.word().to_owned()).or_default().count(period),
    }
}

fn merge(sum: &mut EventCoverage, row: EventCoverage) {
    sum.total.add(row.total);
    sum.attributed.add(row.attributed);
    for (reason, tally) in row.unattributed {
        sum.unattributed.entry(reason).or_default().add(tally);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_typeflow::operands::Reason;

    #[test]
    fn every_sample_is_attributed_or_has_a_reason() {
        let mut row = EventCoverage::default();
        add(&mut row, &Target::Place { ty: 0, offset: 8 }, 10);
        add(&mut row, &Target::Within { ty: 0 }, 20);
        add::<u32>(&mut row, &Target::Unknown(Reason::Stack), 30);
        let mut sum = row.clone();
        merge(&mut sum, row);
        let missed: u64 = sum.unattributed.values().map(|tally| tally.samples).sum();
        assert_eq!((sum.total.samples, sum.total.period, sum.attributed.samples, missed), (6, 120, 2, 4));
        let reasons: Vec<&str> = sum.unattributed.keys().map(String::as_str).collect();
        assert_eq!(reasons, ["stack", "unknown_offset"]);
    }
}
