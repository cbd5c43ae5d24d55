//! How much of the samples of each event in each DSO was attributed, and why not the rest.

use crate::addresses::dso::DsoMap;
use crate::aggregate::add_coverage;
use crate::attribute::{JointAttribution, for_each_access};
use fieldline_access::access::{EventCoverage, SampleCount};
use fieldline_perfdata::perf_data::{Error, Record};
use fieldline_perfdata::sample_file::SampleFile;
use fieldline_typeflow::operands::Reason;
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
pub fn coverage(joint: JointAttribution<'_, '_>, files: &[SampleFile]) -> Result<Vec<DsoCoverage>, Error> {
    let mut found: BTreeMap<(String, String), EventCoverage> = BTreeMap::new();
    let mut dsos = DsoMap::default();
    for (recording, file) in files.iter().enumerate() {
        dsos.clear_mappings();
        let parts = joint.parts(recording);
        let mut counted: FxHashMap<(usize, u32), EventCoverage> = FxHashMap::default();
        let mut records = file.records();
        while let Some(record) = records.next_record()? {
            let Record::Sample(sample) = record else {
                dsos.add_record(&record);
                continue;
            };
            for_each_access(&parts, &sample, &mut |sample, _, attributed| {
                let to_coverage = counted.entry((sample.event.index(), dsos.find(sample))).or_default();
                let reason = attributed.target.reason().map(Reason::id);
                add_coverage(to_coverage, reason, SampleCount { samples: 1, period: sample.period });
                Ok::<(), Error>(())
            })?;
        }
        for ((event, dso), row) in counted {
            let event = file.facts().events.get(event).map_or("?", |event| &event.name);
            let dso = dsos.names.get(dso as usize).map_or("?", String::as_str);
            merge(found.entry((event.to_owned(), dso.to_owned())).or_default(), &row);
        }
    }
    let row = |((event, dso), row)| DsoCoverage { dso, event: EventCoverage { event, ..row } };
    let mut rows: Vec<DsoCoverage> = found.into_iter().map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.event.total.samples));
    Ok(rows)
}

fn merge(sum: &mut EventCoverage, row: &EventCoverage) {
    add_coverage(sum, None, row.attributed);
    row.unattributed.iter().for_each(|(reason, tally)| add_coverage(sum, Some(reason), *tally));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_attributed_or_has_a_reason() {
        let mut row = EventCoverage::default();
        for (reason, period) in [(None, 10), (Some("unknown_offset"), 20), (Some("stack"), 30)] {
            add_coverage(&mut row, reason, SampleCount { samples: 1, period });
        }
        let mut sum = row.clone();
        merge(&mut sum, &row);
        let missed: u64 = sum.unattributed.values().map(|tally| tally.samples).sum();
        assert_eq!((sum.total.samples, sum.total.period, sum.attributed.samples, missed), (6, 120, 2, 4));
        let reasons: Vec<&str> = sum.unattributed.keys().map(String::as_str).collect();
        assert_eq!(reasons, ["stack", "unknown_offset"]);
        assert_eq!(sum.samples_off_stack(), Some(4));
    }

    #[test]
    fn samples_of_the_stack_have_the_reason_that_coverage_knows() {
        assert_eq!(fieldline_typeflow::operands::Reason::Stack.id(), fieldline_access::access::ON_STACK);
        assert_eq!(EventCoverage::default().samples_off_stack(), None);
    }
}
