//! How often runs were met, and what that makes of the accesses in them.

use super::rows::Alike;
use super::straight::Straight;
use crate::aggregate::Counts;
use crate::perf_data::EventIndex;
use std::collections::BTreeMap;

/// How often each run of a program was met.
pub(super) struct RunCounts {
    samples: Vec<u64>,
    period: Vec<u64>,
    /// By block, and in each by run.
    by_block: Vec<u64>,
}

impl RunCounts {
    pub(super) fn new(straight: &Straight, blocks: usize) -> Self {
        let runs = straight.runs.len();
        Self { samples: vec![0; runs], period: vec![0; runs], by_block: vec![0; blocks * runs] }
    }

    /// Counts a run.
    #[inline]
    pub(super) fn count(&mut self, run: u32, period: u64, block: Option<u32>) {
        let run = run as usize;
        if let (Some(samples), Some(sum)) = (self.samples.get_mut(run), self.period.get_mut(run)) {
            *samples += 1;
            *sum = sum.saturating_add(period);
        }
        let place = block.map(|block| block as usize * self.samples.len() + run);
        if let Some(count) = place.and_then(|place| self.by_block.get_mut(place)) {
            *count += 1;
        }
    }
}

/// What changes from one access to the next. Sums of these are never negative, differences are.
#[derive(Clone, Debug, Default)]
struct Change {
    samples: i64,
    period: i128,
    blocks: Vec<i64>,
}

impl Change {
    fn add(&mut self, other: &Self, sign: i64) {
        self.samples += sign * other.samples;
        self.period += i128::from(sign) * other.period;
        if self.blocks.len() < other.blocks.len() {
            self.blocks.resize(other.blocks.len(), 0);
        }
        for (sum, more) in self.blocks.iter_mut().zip(&other.blocks) {
            *sum += sign * more;
        }
    }

    fn counts(&self) -> Counts {
        let number = |number: i64| u64::try_from(number).unwrap_or(0);
        Counts {
            samples: number(self.samples),
            period: u64::try_from(self.period).unwrap_or(u64::MAX),
            blocks: self.blocks.iter().map(|samples| number(*samples)).collect(),
            ..Counts::default()
        }
    }
}

/// Gives each access of runs its sums, by event and CPU. Takes time by runs and by accesses, not by both.
pub(super) fn each<'c>(
    part: usize,
    straight: &Straight,
    blocks: usize,
    counts: impl Iterator<Item = &'c RunCounts>,
    each: &mut impl FnMut(&Alike, &Counts),
) {
    let counts: Vec<&RunCounts> = counts.collect();
    // By event and CPU: where among the accesses sums change.
    let mut groups: BTreeMap<(EventIndex, Option<u32>), BTreeMap<u32, Change>> = BTreeMap::new();
    for (number, (facts, range)) in straight.runs.iter().enumerate() {
        let change = of_run(number, blocks, &counts);
        if change.samples > 0 && !range.is_empty() {
            let group = groups.entry((facts.aside.event, facts.aside.cpu)).or_default();
            group.entry(range.start).or_default().add(&change, 1);
            group.entry(range.end).or_default().add(&change, -1);
        }
    }
    for ((event, cpu), changes) in groups {
        let mut sum = Change::default();
        let ends = changes.keys().copied().skip(1).chain([0]).collect::<Vec<u32>>();
        for ((begin, change), end) in changes.iter().zip(ends) {
            sum.add(change, 1);
            if sum.samples > 0 {
                let counts = sum.counts();
                let accesses = straight.accesses.get(*begin as usize..end as usize).unwrap_or(&[]);
                let alikes = accesses.iter().map(|found| Straight::alike(part, event, cpu, *found));
                alikes.for_each(|alike| each(&alike, &counts));
            }
        }
    }
}

/// How often a run was met in all slots.
fn of_run(number: usize, blocks: usize, counts: &[&RunCounts]) -> Change {
    let mut change = Change { blocks: vec![0; blocks], ..Change::default() };
    for counts in counts {
        change.samples += counts.samples.get(number).map_or(0, |samples| *samples as i64);
        change.period += counts.period.get(number).map_or(0, |period| i128::from(*period));
        for (block, sum) in change.blocks.iter_mut().enumerate() {
            let place = block * counts.samples.len() + number;
            *sum += counts.by_block.get(place).map_or(0, |samples| *samples as i64);
        }
    }
    change
}
