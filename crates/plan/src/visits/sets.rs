//! Weighted sets of cells that one CPU touches of one object in one go.

use std::cmp::Reverse;

/// Visits: different sets of cells, and how often each comes.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    cells: usize,
    sets: Vec<(Vec<usize>, u64)>,
    total: u64,
}

impl Visits {
    /// Visits from sorted sets of cells below `cells`, with weights, in any order; equal sets become one visit.
    pub fn new(cells: usize, mut sets: Vec<(Vec<usize>, u64)>) -> Self {
        sets.sort_unstable();
        sets.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            first.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        sets.sort_by_key(|set| Reverse(set.1));
        Self { cells, total: sets.iter().map(|set| set.1).sum(), sets }
    }

    /// Cells that a visit may touch.
    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    /// Each set of cells once, with its weight, the heaviest first.
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
