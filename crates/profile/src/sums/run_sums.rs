//! How often runs were met, and what that makes of the accesses in them.

use super::rows::Alike;
use crate::aggregate::Counts;
use crate::attribute::{Attributed, Straight};
use fieldline_perfdata::perf_data::EventIndex;
use rustc_hash::FxHashMap;

/// How often each run of a program was met: what there was, no more, however many runs, CPUs and blocks there are.
#[derive(Debug, Default)]
pub(super) struct RunCounts {
    /// By run and CPU: samples and the sum of their periods.
    by_cpu: FxHashMap<(u32, Option<u32>), (u64, u64)>,
    /// Samples by run and block.
    by_block: FxHashMap<(u32, u32), u64>,
}

impl RunCounts {
    #[inline]
    pub(super) fn count(&mut self, run: u32, cpu: Option<u32>, block: Option<u32>, period: u64) {
        let (samples, sum) = self.by_cpu.entry((run, cpu)).or_default();
        *samples += 1;
        *sum = sum.saturating_add(period);
        if let Some(block) = block {
            *self.by_block.entry((run, block)).or_default() += 1;
        }
    }

    /// How many runs were met that fit the code.
    pub(super) fn fitting(&self, straight: &Straight) -> u64 {
        let fit = |run: u32| straight.range(run).end <= straight.lost;
        self.by_cpu.iter().filter(|((run, _), _)| fit(*run)).map(|(_, (samples, _))| samples).sum()
    }
}

/// Gives each access of runs its sums: by event and CPU, then by event those of blocks of time. Takes time by runs and by
/// accesses, not by both.
pub(super) fn each<'c>(
    part: usize,
    straight: &Straight,
    counts: impl Iterator<Item = &'c RunCounts> + Clone,
    mut each: impl FnMut(&Alike, &Counts),
) {
    let by_cpu = counts.clone().flat_map(|counts| &counts.by_cpu);
    let changes = by_cpu.map(|((run, of), (samples, period))| Change {
        run: *run,
        of: *of,
        samples: i128::from(*samples),
        period: i128::from(*period),
    });
    let mut sum = (0, 0);
    sweep(straight, changes, true, |(event, cpu), change, accesses| {
        sum = (sum.0 + change.samples, sum.1 + change.period);
        let counts = Counts { samples: number(sum.0), period: number(sum.1), ..Counts::default() };
        for access in accesses.iter().filter(|_| sum.0 > 0) {
            each(&Alike::of_run(part, event, cpu, *access), &counts);
        }
    });
    let by_block = counts.flat_map(|counts| &counts.by_block);
    let changes = by_block.map(|((run, block), samples)| Change {
        run: *run,
        of: Some(*block),
        samples: i128::from(*samples),
        period: 0,
    });
    let (mut all, mut blocks) = (0, Vec::new());
    sweep(straight, changes, false, |(event, _), change, accesses| {
        all += change.samples;
        let block = change.of.unwrap_or(0) as usize;
        if blocks.len() <= block {
            blocks.resize(block + 1, 0);
        }
        blocks.get_mut(block).into_iter().for_each(|sum| *sum += change.samples);
        if !accesses.is_empty() && all > 0 {
            let blocks = blocks.iter().map(|samples| number(*samples)).collect();
            let counts = Counts { blocks, ..Counts::default() };
            accesses.iter().for_each(|access| each(&Alike::of_run(part, event, None, *access), &counts));
        }
    });
}

/// Sums are never negative, differences are.
fn number(sum: i128) -> u64 {
    u64::try_from(sum.max(0)).unwrap_or(u64::MAX)
}

/// What a run adds to the accesses in it.
#[derive(Clone, Copy)]
struct Change {
    run: u32,
    /// Its CPU or block.
    of: Option<u32>,
    samples: i128,
    period: i128,
}

/// Goes along the accesses by event, and by what changes are of if these are groups of their own: each change with the
/// accesses from there to the next, which may be none.
fn sweep(
    straight: &Straight,
    changes: impl Iterator<Item = Change>,
    is_grouped: bool,
    mut each: impl FnMut((EventIndex, Option<u32>), &Change, &[Attributed]),
) {
    let mut points: Vec<((EventIndex, Option<u32>), u32, Change)> = Vec::new();
    for change in changes {
        let Some(facts) = straight.runs.facts(change.run) else { continue };
        let range = straight.range(change.run);
        let group = (facts.aside.event, change.of.filter(|_| is_grouped));
        let back = Change { samples: -change.samples, period: -change.period, ..change };
        if !range.is_empty() {
            points.extend([(group, range.start, change), (group, range.end, back)]);
        }
    }
    // What is added at one place doesn't depend on the order there.
    points.sort_unstable_by_key(|(group, at, _)| (*group, *at));
    for (index, (group, at, change)) in points.iter().enumerate() {
        let next = points.get(index + 1).filter(|(next, ..)| next == group);
        let end = next.map_or(*at, |(_, end, _)| *end);
        each(*group, change, straight.accesses.get(*at as usize..end as usize).unwrap_or(&[]));
    }
}
