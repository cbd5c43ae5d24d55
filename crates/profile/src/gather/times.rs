//! Times of samples, by groups of equal ones.

use super::sample_key::SampleTable;
use super::source::LinkedRecording;
use fieldline_perfdata::perf_data::Error;
use fieldline_perfdata::sample::Sample;
use fieldline_perfdata::scan::{RecordScan, scan_records};
use rustc_hash::FxHashMap;

/// The times of the samples of each group, unordered. `groups` are those of the table's keys, by number.
///
/// # Errors
/// If a record can't be read.
pub(crate) fn times_by_group<V: Sync>(
    source: &LinkedRecording<'_>,
    table: &SampleTable<V>,
    groups: &[Option<u32>],
) -> Result<FxHashMap<u32, Vec<u64>>, Error> {
    let states = scan_records(source.file, &GroupTimes { source, table, groups }, |()| ())?;
    let mut all: FxHashMap<u32, Vec<u64>> = FxHashMap::default();
    for (group, times) in states.into_iter().flatten() {
        all.entry(group).or_default().extend(times);
    }
    Ok(all)
}

struct GroupTimes<'s, 'f, V> {
    source: &'s LinkedRecording<'f>,
    table: &'s SampleTable<V>,
    groups: &'s [Option<u32>],
}

impl<V: Sync> RecordScan for GroupTimes<'_, '_, V> {
    type State = FxHashMap<u32, Vec<u64>>;
    type Output = ();

    fn new_state(&self, _number: usize) -> Self::State {
        FxHashMap::default()
    }

    fn add_sample(&self, times: &mut Self::State, sample: &Sample<'_>, _at: u64) {
        let number = self.table.find_number(&self.source.sample_facts(sample));
        let group = number.and_then(|number| self.groups.get(number as usize).copied().flatten());
        if let Some(group) = group {
            times.entry(group).or_default().push(sample.time.unwrap_or(0));
        }
    }

    fn finish_block(&self, _times: &mut Self::State) {}
}
