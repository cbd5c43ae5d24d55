//! Counts of straight-line ranges, and the sums they give to the accesses in them.

use super::sample_classes::SampleClass;
use crate::aggregate::ClassCounts;
use crate::attribute::{Attributed, StraightLineAccesses};
use fieldline_perfdata::perf_data::EventIndex;
use rustc_hash::FxHashMap;
use std::convert::identity;

/// Counts of each range of a program, in memory that grows with the ranges met only.
#[derive(Debug, Default)]
pub(super) struct RangeCounts {
    /// By range and CPU: samples and the sum of their periods.
    by_cpu: FxHashMap<(u32, Option<u32>), (u64, u64)>,
    /// Samples by range and block.
    by_block: FxHashMap<(u32, u32), u64>,
}

impl RangeCounts {
    #[inline]
    pub(super) fn count(&mut self, range: u32, cpu: Option<u32>, block: Option<u32>, period: u64) {
        let (samples, sum) = self.by_cpu.entry((range, cpu)).or_default();
        *samples += 1;
        *sum = sum.saturating_add(period);
        if let Some(block) = block {
            *self.by_block.entry((range, block)).or_default() += 1;
        }
    }

    /// Number of ranges met that fit the code.
    pub(super) fn count_fitting(&self, straight_line: &StraightLineAccesses) -> u64 {
        let fits = |range: u32| straight_line.access_range(range).end <= straight_line.readable;
        self.by_cpu.iter().filter(|((range, _), _)| fits(*range)).map(|(_, (samples, _))| samples).sum()
    }
}

/// Gives each access in ranges its sums: by event and CPU, then by event those of time blocks. Takes time
/// linear in ranges and accesses.
pub(super) fn for_each_access<'c>(
    part: usize,
    straight_line: &StraightLineAccesses,
    counts: impl Iterator<Item = &'c RangeCounts> + Clone,
    mut each: impl FnMut(&SampleClass, &ClassCounts),
) {
    let by_cpu = counts.clone().flat_map(|counts| &counts.by_cpu);
    let changes = by_cpu.map(|((range, cpu), (samples, period))| RangeChange {
        range: *range,
        key: *cpu,
        samples: i128::from(*samples),
        period: i128::from(*period),
    });
    let mut sum = (0, 0);
    sweep_accesses(straight_line, changes, identity, |(event, cpu), change, accesses| {
        sum = (sum.0 + change.samples, sum.1 + change.period);
        let counts = ClassCounts { samples: to_u64(sum.0), period: to_u64(sum.1), ..ClassCounts::default() };
        for access in accesses.iter().filter(|_| sum.0 > 0) {
            each(&SampleClass::for_range(part, event, cpu, *access), &counts);
        }
    });
    let by_block = counts.flat_map(|counts| &counts.by_block);
    let changes = by_block.map(|((range, block), samples)| RangeChange {
        range: *range,
        key: *block,
        samples: i128::from(*samples),
        period: 0,
    });
    let (mut all, mut blocks) = (0, Vec::new());
    let no_cpu = |_| None;
    sweep_accesses(straight_line, changes, no_cpu, |(event, _), change, accesses| {
        all += change.samples;
        let block = change.key as usize;
        if blocks.len() <= block {
            blocks.resize(block + 1, 0);
        }
        blocks.get_mut(block).into_iter().for_each(|sum| *sum += change.samples);
        if !accesses.is_empty() && all > 0 {
            let blocks = blocks.iter().map(|samples| to_u64(*samples)).collect();
            let counts = ClassCounts { blocks, ..ClassCounts::default() };
            accesses
                .iter()
                .for_each(|access| each(&SampleClass::for_range(part, event, None, *access), &counts));
        }
    });
}

/// Sums are never negative, differences are.
fn to_u64(sum: i128) -> u64 {
    u64::try_from(sum.max(0)).unwrap_or(u64::MAX)
}

/// The counts that a range adds to the accesses in it.
#[derive(Clone, Copy)]
struct RangeChange<K> {
    range: u32,
    /// The CPU or the time block that it is counted by.
    key: K,
    samples: i128,
    period: i128,
}

/// Sweeps over the accesses by event, and by CPU if `cpu` gives one: each change with the accesses up to
/// the next, which may be none.
fn sweep_accesses<K: Copy>(
    straight_line: &StraightLineAccesses,
    changes: impl Iterator<Item = RangeChange<K>>,
    cpu: impl Fn(K) -> Option<u32>,
    mut each: impl FnMut((EventIndex, Option<u32>), &RangeChange<K>, &[Attributed]),
) {
    let mut boundaries: Vec<((EventIndex, Option<u32>), u32, RangeChange<K>)> = Vec::new();
    for change in changes {
        let Some(linked) = straight_line.ranges.ranges().get(change.range as usize) else { continue };
        let range = straight_line.access_range(change.range);
        let group = (linked.event, cpu(change.key));
        let removal = RangeChange { samples: -change.samples, period: -change.period, ..change };
        if !range.is_empty() {
            boundaries.extend([(group, range.start, change), (group, range.end, removal)]);
        }
    }
    // The order of changes at one access does not matter.
    boundaries.sort_unstable_by_key(|(group, at, _)| (*group, *at));
    for (index, (group, at, change)) in boundaries.iter().enumerate() {
        let next = boundaries.get(index + 1).filter(|(next, ..)| next == group);
        let end = next.map_or(*at, |(_, end, _)| *end);
        each(*group, change, straight_line.accesses.get(*at as usize..end as usize).unwrap_or(&[]));
    }
}
