//! Weights of visits summed without looking at each: sets as columns of bits, once for each digit of their weight.

use crate::visits::Visits;

/// Words counted at once, so that a processor keeps them in registers.
const LANES: usize = 8;

/// Bits of as many sets.
type Tile = [u64; LANES];

#[derive(Clone, Debug, Default)]
pub(crate) struct Counter {
    cells: usize,
    /// By tile and cell, a bit for each set.
    tiles: Vec<Tile>,
    /// How many tiles at the beginning hold sets of the least weight only.
    plain: usize,
    least: u64,
    /// By word of the other tiles, what each set in it weighs.
    weights: Vec<Tile>,
}

impl Counter {
    /// Sorts visits by the binary digits of their weights; the last digit fills whole tiles.
    pub(crate) fn new(visits: &Visits) -> Self {
        let sets = sets(visits);
        let least = visits.weights().iter().fold(0, |common, weight| gcd(common, *weight)).max(1);
        let mut words: Vec<(u64, Vec<&[u64]>)> = Vec::new();
        for digit in 0..u64::BITS {
            let chosen: Vec<&[u64]> = sets
                .iter()
                .filter(|(_, weight)| (*weight / least) >> digit & 1 == 1)
                .map(|(set, _)| set.as_slice())
                .collect();
            words.extend(chosen.chunks(64).map(|sets| (least << digit, sets.to_vec())));
        }
        let cells = visits.columns().len();
        let plain = words.iter().take_while(|(weight, _)| *weight == least).count() / LANES;
        let mut counter = Self { cells, plain, least, ..Self::default() };
        for (number, words) in words.chunks(LANES).enumerate() {
            counter.add_tile(words, number >= plain);
        }
        counter
    }

    fn add_tile(&mut self, words: &[(u64, Vec<&[u64]>)], is_mixed: bool) {
        let bits = |sets: &[&[u64]], cell: usize| {
            let bits = sets.iter().zip(0..).map(|(set, place)| (set[cell / 64] >> (cell % 64) & 1) << place);
            bits.fold(0, |word, bit| word | bit)
        };
        let word = |cell: usize, lane: usize| words.get(lane).map_or(0, |(_, sets)| bits(sets, cell));
        self.tiles.extend((0..self.cells).map(|cell| std::array::from_fn(|lane| word(cell, lane))));
        if is_mixed {
            self.weights.push(std::array::from_fn(|lane| words.get(lane).map_or(0, |(weight, _)| *weight)));
        }
    }

    pub(crate) fn is_touched(&self, cell: usize) -> bool {
        self.tiles.chunks_exact(self.cells.max(1)).any(|tile| tile[cell].iter().any(|word| *word != 0))
    }

    /// Weight of all visits that touch any of the cells.
    pub(crate) fn touching(&self, cells: &[u32]) -> u64 {
        let mut tiles = self.tiles.chunks_exact(self.cells.max(1));
        let plain: u64 = tiles.by_ref().take(self.plain).map(|tile| count(&union(tile, cells))).sum();
        let mixed = tiles.zip(&self.weights).map(|(tile, weights)| {
            let hit = union(tile, cells);
            let words = hit.iter().zip(weights);
            words.map(|(word, weight)| u64::from(word.count_ones()) * weight).sum::<u64>()
        });
        plain * self.least + mixed.sum::<u64>()
    }
}

/// The sets that hold any of the cells.
#[inline]
fn union(tile: &[Tile], cells: &[u32]) -> Tile {
    let mut hit = [0; LANES];
    for words in cells.iter().filter_map(|cell| tile.get(*cell as usize)) {
        for lane in 0..LANES {
            hit[lane] |= words[lane];
        }
    }
    hit
}

#[inline]
fn count(hit: &Tile) -> u64 {
    hit.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Visits as sets, a set being a bit for each cell, with their weights.
fn sets(visits: &Visits) -> Vec<(Vec<u64>, u64)> {
    let words = visits.columns().len().div_ceil(64);
    let mut sets: Vec<(Vec<u64>, u64)> =
        visits.weights().iter().map(|weight| (vec![0; words], *weight)).collect();
    for (cell, column) in visits.columns().iter().enumerate() {
        for (sets, word) in sets.chunks_mut(64).zip(column) {
            for (place, (set, _)) in sets.iter_mut().enumerate() {
                set[cell / 64] |= (word >> place & 1) << (cell % 64);
            }
        }
    }
    sets
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
