//! Weighted sets of touched ranges, one for each distinct visit.

use std::cmp::Reverse;

/// Distinct sets of touched ranges with their weights.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    range_count: usize,
    sets: Vec<(Vec<usize>, u64)>,
    total: u64,
}

impl Visits {
    /// Visits from sorted sets of touched ranges below `ranges`, with weights, in any order; equal sets become
    /// one visit.
    pub fn new(range_count: usize, mut sets: Vec<(Vec<usize>, u64)>) -> Self {
        sets.sort_unstable();
        sets.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            first.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        sets.sort_by_key(|set| Reverse(set.1));
        Self { range_count, total: sets.iter().map(|set| set.1).sum(), sets }
    }

    /// Ranges that a visit may touch.
    pub(crate) fn range_count(&self) -> usize {
        self.range_count
    }

    /// Each set of touched ranges once, with its weight, the heaviest first.
    pub(crate) fn sets(&self) -> &[(Vec<usize>, u64)] {
        &self.sets
    }

    /// Weight of all visits.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }
}
