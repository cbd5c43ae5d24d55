//! Weights of visits summed without looking at each: distinct sets of cells as columns of bits, one block of columns
//! for each binary digit of their weights.

use crate::visits::Visits;
use std::collections::BTreeMap;

/// Words counted at once, so that a processor keeps them in registers.
const LANES: usize = 8;

/// Visits ready to be counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counter {
    /// By cell, a bit for each visit of each block.
    columns: Vec<Vec<[u64; LANES]>>,
    /// Length of each block in chunks, and what a visit of it weighs.
    blocks: Vec<(usize, u64)>,
}

impl Counter {
    /// Sorts visits into blocks.
    pub(crate) fn new(visits: &Visits) -> Self {
        let distinct = distinct(visits);
        let common = distinct.values().fold(0, |common, weight| gcd(common, *weight)).max(1);
        let mut counter = Self { columns: vec![Vec::new(); visits.columns().len()], blocks: Vec::new() };
        for digit in 0..u64::BITS {
            let chosen: Vec<&[u64]> = distinct
                .iter()
                .filter(|(_, weight)| (*weight / common) >> digit & 1 == 1)
                .map(|(set, _)| set.as_slice())
                .collect();
            if !chosen.is_empty() {
                counter.add_block(&chosen, common << digit);
            }
        }
        counter
    }

    fn add_block(&mut self, sets: &[&[u64]], weight: u64) {
        let chunks = sets.len().div_ceil(64 * LANES);
        for (cell, column) in self.columns.iter_mut().enumerate() {
            let first = column.len();
            column.resize(first + chunks, [0; LANES]);
            for (place, set) in sets.iter().enumerate() {
                let bit = set[cell / 64] >> (cell % 64) & 1;
                column[first + place / (64 * LANES)][place / 64 % LANES] |= bit << (place % 64);
            }
        }
        self.blocks.push((chunks, weight));
    }

    /// Whether any visit touches a cell.
    pub(crate) fn is_touched(&self, cell: usize) -> bool {
        self.columns[cell].iter().flatten().any(|word| *word != 0)
    }

    /// Weight of all visits that touch any of the cells.
    pub(crate) fn touching(&self, cells: &[u32]) -> u64 {
        let mut sum = 0;
        let mut first = 0;
        for (chunks, weight) in &self.blocks {
            let mut count = 0;
            for chunk in first..first + chunks {
                let mut hit = [0_u64; LANES];
                for cell in cells {
                    for (hit, word) in hit.iter_mut().zip(&self.columns[*cell as usize][chunk]) {
                        *hit |= word;
                    }
                }
                count += hit.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            }
            sum += count * weight;
            first += chunks;
        }
        sum
    }
}

/// Weights by set, a set being a bit for each cell.
fn distinct(visits: &Visits) -> BTreeMap<Vec<u64>, u64> {
    let columns = visits.columns();
    let mut distinct: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for (visit, weight) in visits.weights().iter().enumerate() {
        let mut set = vec![0_u64; columns.len().div_ceil(64)];
        for (cell, column) in columns.iter().enumerate() {
            set[cell / 64] |= (column[visit / 64] >> (visit % 64) & 1) << (cell % 64);
        }
        *distinct.entry(set).or_default() += weight;
    }
    distinct
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn counts_are_those_of_the_visits() {
        let mut random = Random::new(3);
        let sets: Vec<(Vec<usize>, u64)> = (0..700)
            .map(|_| ((0..70).filter(|_| random.below(20) == 0).collect(), 6 * random.below(50) as u64))
            .collect();
        let visits = Visits::new(70, sets);
        let counter = Counter::new(&visits);
        for _ in 0..50 {
            let cells: Vec<u32> = (0..70).filter(|_| random.below(9) == 0).collect();
            assert_eq!(counter.touching(&cells), visits.touching(&cells, &mut Vec::new()));
        }
        assert_eq!(counter.touching(&[]), 0);
    }
}
