//! How far apart samples of one CPU are.

use super::finished_rounds::{ByCpu, FinishedRoundQueue};
use rustc_hash::FxHashMap;

/// Distinct distances counted. With more, close distances are merged.
const MAX_DISTINCT_GAPS: usize = 1 << 18;

/// Counts times between consecutive samples of one CPU. The merging of distances depends on their values, not
/// on their order.
#[derive(Debug, Default)]
pub(crate) struct SampleGaps {
    queue: FinishedRoundQueue<u64>,
    counts: GapCounts,
}

#[derive(Debug, Default)]
struct GapCounts {
    last: ByCpu<Option<u64>>,
    /// By distance without its lowest bits, as many as `dropped` says.
    counts: FxHashMap<u64, u64>,
    dropped: u32,
}

impl SampleGaps {
    /// Takes the time of a CPU's sample in nanoseconds.
    pub(crate) fn push(&mut self, cpu: u32, time: u64) {
        self.queue.push(cpu, time);
    }

    /// A round of the recorder is over.
    pub(crate) fn end_round(&mut self) {
        let Self { queue: rounds, counts: counted } = self;
        rounds.end_round(&mut |cpu, time| counted.add(cpu, time));
    }

    /// The median; 0 of none.
    pub(crate) fn median(self) -> u64 {
        let Self { queue: rounds, counts: mut counted } = self;
        rounds.finish(&mut |cpu, time| counted.add(cpu, time));
        let middle = counted.counts.values().sum::<u64>() / 2;
        let mut sorted: Vec<(u64, u64)> = counted.counts.into_iter().collect();
        sorted.sort_unstable();
        let mut samples_passed = 0;
        let found = sorted.into_iter().find(|(_, count)| {
            samples_passed += count;
            samples_passed > middle
        });
        found.map_or(0, |(gap, _)| gap << counted.dropped)
    }
}

impl GapCounts {
    fn add(&mut self, cpu: u32, time: u64) {
        let Some(last) = self.last.get_or_default(cpu).replace(time) else { return };
        let gap = time.saturating_sub(last) >> self.dropped;
        *self.counts.entry(gap).or_default() += 1;
        while self.counts.len() > MAX_DISTINCT_GAPS {
            self.dropped += 1;
            for (gap, count) in std::mem::take(&mut self.counts) {
                *self.counts.entry(gap >> 1).or_default() += count;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_the_sorted_gaps() {
        let mut gaps = SampleGaps::default();
        for (cpu, time) in [(0, 10), (1, 7), (0, 40), (0, 20), (1, 8)] {
            gaps.push(cpu, time);
        }
        // 10 and 20 of the first CPU, 1 of the second.
        assert_eq!(gaps.median(), 10);
        assert_eq!(SampleGaps::default().median(), 0);
    }

    #[test]
    fn many_different_gaps_are_merged_within_memory() {
        let mut gaps = SampleGaps::default();
        let mut time = 0;
        for number in 0..2 * MAX_DISTINCT_GAPS as u64 {
            gaps.push(0, time);
            time += 1_000_000 + number;
            if number % 1000 == 0 {
                gaps.end_round();
            }
        }
        let (exact, found) = (1_000_000 + MAX_DISTINCT_GAPS as u64, gaps.median());
        assert!(found.abs_diff(exact) <= 2, "{found} and not {exact}");
    }
}
