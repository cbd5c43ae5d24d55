//! Weighted sets of cells that one CPU touches of one object in one go.

use std::cmp::Reverse;

/// Visits, kept by cell: bit `v` of a cell's column tells whether visit `v` touches it.
#[derive(Clone, Debug, Default)]
pub struct Visits {
    columns: Vec<Vec<u64>>,
    weights: Vec<u64>,
    /// The one weight of 64 visits, if they have one weight.
    uniform: Vec<Option<u64>>,
    total: u64,
}

impl Visits {
    /// Visits from sets of cells below `cells`, with weights, in any order; equal sets become one visit.
    pub fn new(cells: usize, mut sets: Vec<(Vec<usize>, u64)>) -> Self {
        sets.sort_unstable();
        sets.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            first.1 += if is_same { next.1 } else { 0 };
            is_same
        });
        sets.sort_by_key(|set| Reverse(set.1));
        let mut columns = vec![vec![0_u64; sets.len().div_ceil(64)]; cells];
        for (visit, (set, _)) in sets.iter().enumerate() {
            for cell in set {
                columns[*cell][visit / 64] |= 1 << (visit % 64);
            }
        }
        let weights: Vec<u64> = sets.iter().map(|set| set.1).collect();
        let uniform = weights.chunks(64).map(|chunk| {
            let first = chunk[0];
            chunk.iter().all(|weight| *weight == first).then_some(first)
        });
        Self { columns, uniform: uniform.collect(), total: weights.iter().sum(), weights }
    }

    /// Weight of all visits that touch any of the cells. `hit` is room to work in.
    pub fn touching(&self, cells: &[u32], hit: &mut Vec<u64>) -> u64 {
        let Some((first, others)) = cells.split_first() else {
            return 0;
        };
        hit.clear();
        hit.extend_from_slice(&self.columns[*first as usize]);
        for cell in others {
            for (hit, word) in hit.iter_mut().zip(&self.columns[*cell as usize]) {
                *hit |= word;
            }
        }
        let mut sum = 0;
        for (word, (hit, uniform)) in hit.iter().zip(&self.uniform).enumerate() {
            sum += match uniform {
                Some(weight) => u64::from(hit.count_ones()) * weight,
                None => self.weigh(*hit, word),
            };
        }
        sum
    }

    /// By cell, a bit for each visit.
    pub(crate) fn columns(&self) -> &[Vec<u64>] {
        &self.columns
    }

    /// By visit, whether each cell is touched, and its weight.
    pub(crate) fn sets(&self) -> impl Iterator<Item = (impl Iterator<Item = bool> + '_, u64)> {
        self.weights.iter().enumerate().map(|(visit, weight)| {
            let touches = move |column: &Vec<u64>| column[visit / 64] >> (visit % 64) & 1 == 1;
            (self.columns.iter().map(touches), *weight)
        })
    }

    pub(crate) fn weights(&self) -> &[u64] {
        &self.weights
    }

    fn weigh(&self, mut hit: u64, word: usize) -> u64 {
        let mut sum = 0;
        while hit != 0 {
            sum += self.weights[word * 64 + hit.trailing_zeros() as usize];
            hit &= hit - 1;
        }
        sum
    }

    /// Weight of all visits.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_summed_over_visits_that_touch_any_cell() {
        let mut sets: Vec<(Vec<usize>, u64)> = (0..100).map(|visit| (vec![visit % 3], 5)).collect();
        sets.push((vec![0, 2], 7));
        let visits = Visits::new(3, sets);
        let mut hit = Vec::new();
        assert_eq!(visits.touching(&[0], &mut hit), 34 * 5 + 7);
        assert_eq!(visits.touching(&[0, 2], &mut hit), (34 + 33) * 5 + 7);
        assert_eq!(visits.touching(&[0, 1, 2], &mut hit), visits.total());
        assert_eq!(visits.touching(&[], &mut hit), 0);
    }
}
