//! Weights of visits summed with bit operations: sets as columns of bits, once for each binary digit of their
//! weight.

use crate::visits::Visits;

/// Words counted at once, so that a processor keeps them in registers.
const LANES: usize = 8;

/// Bits of as many sets.
type Tile = [u64; LANES];

#[derive(Clone, Debug, Default)]
pub(crate) struct VisitCounter {
    ranges: usize,
    /// By tile and touched range, a bit for each set.
    tiles: Vec<Tile>,
    /// How many tiles at the beginning hold sets of the least weight only.
    uniform_tiles: usize,
    least_weight: u64,
    /// By word of the other tiles, the weight of each set in it.
    weights: Vec<Tile>,
}

impl VisitCounter {
    /// Sorts visits by the binary digits of their weights; the last digit fills whole tiles.
    pub(crate) fn new(visits: &Visits) -> Self {
        let (ranges, sets) = (visits.range_count(), visits.sets());
        let least = sets.iter().fold(0, |common, (_, weight)| gcd(common, *weight)).max(1);
        let mut words: Vec<(u64, Vec<&[usize]>)> = Vec::new();
        for digit in 0..u64::BITS {
            let chosen = sets.iter().filter(|(_, weight)| (*weight / least) >> digit & 1 == 1);
            let chosen: Vec<&[usize]> = chosen.map(|(set, _)| set.as_slice()).collect();
            words.extend(chosen.chunks(64).map(|sets| (least << digit, sets.to_vec())));
        }
        let uniform = words.iter().take_while(|(weight, _)| *weight == least).count() / LANES;
        let mut counter = Self { ranges, uniform_tiles: uniform, least_weight: least, ..Self::default() };
        for (number, words) in words.chunks(LANES).enumerate() {
            let (mut tile, mut weights) = (vec![[0; LANES]; ranges], [0; LANES]);
            for (lane, (weight, sets)) in words.iter().enumerate() {
                weights[lane] = *weight;
                for (bit, set) in sets.iter().enumerate() {
                    set.iter().for_each(|range| tile[*range][lane] |= 1 << bit);
                }
            }
            counter.tiles.extend(tile);
            counter.weights.extend((number >= uniform).then_some(weights));
        }
        counter
    }

    pub(crate) fn is_touched(&self, range: usize) -> bool {
        self.tiles.chunks_exact(self.ranges.max(1)).any(|tile| tile[range].iter().any(|word| *word != 0))
    }

    /// Weight of all visits that touch any of the ranges.
    pub(crate) fn touching_weight(&self, ranges: &[u32]) -> u64 {
        let mut tiles = self.tiles.chunks_exact(self.ranges.max(1));
        let uniform: u64 =
            tiles.by_ref().take(self.uniform_tiles).map(|tile| count(&union(tile, ranges))).sum();
        let mixed = tiles.zip(&self.weights).map(|(tile, weights)| {
            let hit = union(tile, ranges);
            let words = hit.iter().zip(weights);
            words.map(|(word, weight)| u64::from(word.count_ones()) * weight).sum::<u64>()
        });
        uniform * self.least_weight + mixed.sum::<u64>()
    }
}

/// The sets that hold any of the touched ranges.
#[inline]
fn union(tile: &[Tile], ranges: &[u32]) -> Tile {
    let mut hit = [0; LANES];
    for words in ranges.iter().filter_map(|range| tile.get(*range as usize)) {
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
        let counter = VisitCounter::new(&visits);
        for _ in 0..50 {
            let ranges: Vec<u32> = (0..70).filter(|_| random.below(9) == 0).collect();
            let touches = |set: &[usize]| set.iter().any(|range| ranges.contains(&(*range as u32)));
            let touching = visits.sets().iter().filter(|(set, _)| touches(set)).map(|(_, weight)| weight);
            assert_eq!(counter.touching_weight(&ranges), touching.sum::<u64>());
        }
        assert_eq!(visits.sets().iter().map(|set| set.1).sum::<u64>(), visits.total());
        assert_eq!(counter.touching_weight(&[]), 0);
    }

    #[test]
    fn weights_are_summed_over_visits_that_touch_any_cell() {
        let mut sets: Vec<(Vec<usize>, u64)> = (0..100).map(|visit| (vec![visit % 3], 5)).collect();
        sets.push((vec![0, 2], 7));
        let visits = Visits::new(3, sets);
        let counter = VisitCounter::new(&visits);
        assert_eq!(counter.touching_weight(&[0]), 34 * 5 + 7);
        assert_eq!(counter.touching_weight(&[0, 2]), (34 + 33) * 5 + 7);
        assert_eq!(counter.touching_weight(&[0, 1, 2]), visits.total());
    }
}
