//! Visits drawn from what was learnt: which functions run on an object in one go, and what each touches.

use crate::random::Random;
use crate::visits::{Corpus, Mixture, Touch};
use rustc_hash::FxHashMap;

/// With this probability what runs less often runs only where what runs more often does, as code of one basic block and
/// functions of one call do; otherwise each runs for itself. Nobody knows which: half of each errs least.
const TOGETHER: f64 = 0.5;
/// Functions in fewer visits of a class than this are left out of it.
const RARE: f64 = 0.001;

/// Functions that run on an object in one go.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Visits of it, in events.
    pub weight: f64,
    /// Index of a touch and in which share of the visits it takes part.
    pub parts: Vec<(usize, f64)>,
    /// Windows it was learnt from, an expected number.
    pub windows: f64,
    /// Those of them with several samples: only they tell what runs together.
    pub joint: f64,
    /// Samples of the struct in them.
    pub samples: f64,
}

/// One class for each function, as if each ran alone.
pub fn function_classes(touches: &[Touch]) -> Vec<Class> {
    let classes = touches.iter().enumerate().map(|(index, touch)| Class {
        weight: touch.runs,
        parts: vec![(index, 1.0)],
        ..Class::default()
    });
    classes.collect()
}

/// The classes of a mixture, with as many visits as its most frequent function has runs: loops over objects do no harm.
pub fn mixture_classes(corpus: &Corpus, mixture: &Mixture, touches: &[Touch]) -> Vec<Class> {
    let known = touches.iter().enumerate().filter_map(|(index, touch)| {
        let numbers: Vec<usize> = touch.words.iter().filter_map(|word| corpus.number(*word)).collect();
        let count = numbers.iter().map(|number| corpus.counts[*number]).sum();
        (count > 0.0).then_some(Known { index, runs: touch.runs, numbers, count })
    });
    let known: Vec<Known> = known.collect();
    let classes = (0..mixture.windows.len()).filter_map(|class| {
        let samples =
            |known: &Known| known.numbers.iter().map(|number| mixture.expected[*number][class]).sum::<f32>();
        let runs: Vec<f64> =
            known.iter().map(|known| f64::from(samples(known) / known.count) * known.runs).collect();
        let weight = runs.iter().copied().fold(0.0, f64::max);
        let parts = known.iter().zip(runs).map(|(known, runs)| (known.index, runs / weight));
        (weight > 0.0).then(|| Class {
            weight,
            parts: parts.filter(|part| part.1 > RARE).collect(),
            windows: f64::from(mixture.windows[class]),
            joint: f64::from(mixture.joint[class]),
            samples: known.iter().map(|known| f64::from(samples(known))).sum(),
        })
    });
    classes.collect()
}

/// A touch whose function windows hold.
struct Known {
    index: usize,
    runs: f64,
    /// Its words' numbers in the corpus, and samples of them all.
    numbers: Vec<usize>,
    count: f32,
}

/// Draws `count` sets of cells, shared out among classes by weight, with how often each was drawn.
pub fn draw(
    classes: &[Class],
    touches: &[Touch],
    count: usize,
    random: &mut Random,
) -> Vec<(Vec<usize>, u64)> {
    let total: f64 = classes.iter().map(|class| class.weight).sum();
    let cells = touches.iter().flat_map(|touch| &touch.cells).map(|(cell, _)| cell + 1).max().unwrap_or(0);
    let width = cells.div_ceil(64).max(1);
    let mut sets = Vec::new();
    let mut owed = 0.0;
    for class in classes {
        owed += class.weight / total * count as f64;
        let here = owed as usize;
        owed -= here as f64;
        let mut drawn = Sets { rows: vec![0; here * width], width };
        let mut order: Vec<usize> = (0..here).collect();
        random.shuffle(&mut order);
        for (index, share) in &class.parts {
            let mut present = present(&order, round(share * here as f64, random), random);
            random.shuffle(&mut present);
            touch_all(&touches[*index], &present, &mut drawn, random);
        }
        sets.extend(drawn.different());
    }
    sets
}

/// Sets of cells, a row of bits each.
struct Sets {
    rows: Vec<u64>,
    width: usize,
}

impl Sets {
    fn add(&mut self, set: usize, cell: usize) {
        self.rows[set * self.width + cell / 64] |= 1 << (cell % 64);
    }

    /// Those that hold anything, each once, with how many there are.
    fn different(self) -> Vec<(Vec<usize>, u64)> {
        let mut counts: FxHashMap<&[u64], u64> = FxHashMap::default();
        for row in self.rows.chunks_exact(self.width).filter(|row| row.iter().any(|word| *word != 0)) {
            *counts.entry(row).or_default() += 1;
        }
        let mut counts: Vec<(&[u64], u64)> = counts.into_iter().collect();
        counts.sort_unstable();
        counts.into_iter().map(|(row, count)| (cells_of(row), count)).collect()
    }
}

/// The numbers of the bits that are set.
fn cells_of(row: &[u64]) -> Vec<usize> {
    let of_word = |(base, word): (usize, &u64)| {
        let rest = std::iter::successors(Some(*word), |word| Some(word & word.wrapping_sub(1)));
        rest.take_while(|word| *word != 0).map(move |word| base * 64 + word.trailing_zeros() as usize)
    };
    row.iter().enumerate().flat_map(of_word).collect()
}

/// The `wanted` visits that a function takes part in, in no order: those first in `order`, or any.
fn present(order: &[usize], wanted: usize, random: &mut Random) -> Vec<usize> {
    let ranked = order.iter().enumerate();
    let mut ranked: Vec<(f64, usize)> =
        ranked.map(|(place, visit)| (chance(place, order.len(), random), *visit)).collect();
    if wanted < ranked.len() {
        ranked
            .select_nth_unstable_by(wanted, |one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        ranked.truncate(wanted);
    }
    ranked.into_iter().map(|(_, visit)| visit).collect()
}

/// Adds what a function touches to its visits. Their order is random, so a place in it ties cells touched together.
fn touch_all(touch: &Touch, present: &[usize], sets: &mut Sets, random: &mut Random) {
    for (cell, rate) in &touch.cells {
        if *rate >= 1.0 {
            present.iter().for_each(|visit| sets.add(*visit, *cell));
            continue;
        }
        for (place, visit) in present.iter().enumerate() {
            if chance(place, present.len(), random) < *rate {
                sets.add(*visit, *cell);
            }
        }
    }
}

/// A number from 0 to 1: a place among `count` ones, or any.
fn chance(place: usize, count: usize, random: &mut Random) -> f64 {
    if random.unit() < TOGETHER { (place as f64 + 0.5) / count as f64 } else { random.unit() }
}

/// A number rounded up or down, so that the mean is right.
fn round(number: f64, random: &mut Random) -> usize {
    number as usize + usize::from(random.unit() < number.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(word: (i32, u32), runs: f64, cells: &[(usize, f64)]) -> Touch {
        Touch { function: word.1, words: vec![word], samples: 0, runs, cells: cells.to_vec() }
    }

    #[test]
    fn cells_are_drawn_as_often_as_they_are_touched() {
        let touches = [touch((0, 1), 30.0, &[(0, 1.0), (1, 0.25)]), touch((0, 2), 10.0, &[(2, 1.0)])];
        let sets = draw(&function_classes(&touches), &touches, 4000, &mut Random::new(9));
        let drawn = |sets: &[(Vec<usize>, u64)]| sets.iter().map(|set| set.1).sum::<u64>() as f64;
        let with = |cell| -> Vec<_> { sets.iter().filter(|set| set.0.contains(&cell)).cloned().collect() };
        let share = |cell| drawn(&with(cell)) / drawn(&sets);
        assert!((share(0) - 0.75).abs() < 0.01);
        assert!((share(1) - 0.75 * 0.25).abs() < 0.03);
        assert!((share(2) - 0.25).abs() < 0.01);
    }

    #[test]
    fn functions_of_one_class_share_visits() {
        let touches = [touch((0, 1), 10.0, &[(0, 1.0)]), touch((0, 2), 10.0, &[(1, 1.0)])];
        let class = Class { weight: 10.0, parts: vec![(0, 1.0), (1, 0.5)], ..Class::default() };
        let sets = draw(&[class], &touches, 1000, &mut Random::new(9));
        assert_eq!(sets, [(vec![0], 500), (vec![0, 1], 500)]);
    }

    #[test]
    fn many_cells_are_as_good_as_few() {
        let touches = [touch((0, 1), 1.0, &[(0, 1.0), (63, 1.0), (64, 1.0), (200, 1.0)])];
        let sets = draw(&function_classes(&touches), &touches, 10, &mut Random::new(9));
        assert_eq!(sets, [(vec![0, 63, 64, 200], 10)]);
        assert_eq!(draw(&[], &[], 10, &mut Random::new(9)), []);
    }
}
