//! How far apart samples of one CPU are.

use super::rounds::{ByCpu, Rounds};
use rustc_hash::FxHashMap;

/// Distances told apart. With more, distances close to each other are counted as one.
const TOLD_APART: usize = 1 << 18;

/// Counts times between consecutive samples of one CPU. Which distances count as one depends on what they are, not on
/// their order.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    rounds: Rounds<u64>,
    counted: Counted,
}

#[derive(Debug, Default)]
struct Counted {
    last: ByCpu<Option<u64>>,
    /// By distance without its lowest bits, as many as `dropped` says.
    counts: FxHashMap<u64, u64>,
    dropped: u32,
}

impl Gaps {
    /// Takes the time of a CPU's sample in nanoseconds.
    pub(crate) fn push(&mut self, cpu: u32, time: u64) {
        self.rounds.push(cpu, time);
    }

    /// A round of the recorder is over.
    pub(crate) fn end_round(&mut self) {
        let Self { rounds, counted } = self;
        rounds.end_round(&mut |cpu, time| counted.take(cpu, time));
    }

    /// The median; 0 of none.
    pub(crate) fn median(self) -> u64 {
        let Self { rounds, mut counted } = self;
        rounds.finish(&mut |cpu, time| counted.take(cpu, time));
        let middle = counted.counts.values().sum::<u64>() / 2;
        let mut sorted: Vec<(u64, u64)> = counted.counts.into_iter().collect();
        sorted.sort_unstable();
        let mut passed = 0;
        let found = sorted.into_iter().find(|(_, count)| {
            passed += count;
            passed > middle
        });
        found.map_or(0, |(gap, _)| gap << counted.dropped)
    }
}

impl Counted {
    fn take(&mut self, cpu: u32, time: u64) {
        let Some(last) = self.last.of(cpu).replace(time) else { return };
        let gap = time.saturating_sub(last) >> self.dropped;
        *self.counts.entry(gap).or_default() += 1;
        while self.counts.len() > TOLD_APART {
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
        let mut gaps = Gaps::default();
        for (cpu, time) in [(0, 10), (1, 7), (0, 40), (0, 20), (1, 8)] {
            gaps.push(cpu, time);
        }
        // 10 and 20 of the first CPU, 1 of the second.
        assert_eq!(gaps.median(), 10);
        assert_eq!(Gaps::default().median(), 0);
    }

    #[test]
    fn many_different_gaps_are_told_apart_as_far_as_memory_goes() {
        let mut gaps = Gaps::default();
        let mut time = 0;
        for number in 0..2 * TOLD_APART as u64 {
            gaps.push(0, time);
            time += 1_000_000 + number;
            if number % 1000 == 0 {
                gaps.end_round();
            }
        }
        let (exact, found) = (1_000_000 + TOLD_APART as u64, gaps.median());
        assert!(found.abs_diff(exact) <= 2, "{found} and not {exact}");
    }
}
