//! Visits drawn from access patterns: which functions run on an object together, and which ranges each
//! touches.

use crate::random::Random;
use crate::visits::{FunctionTouch, Mixture, WindowCorpus};
use rustc_hash::FxHashMap;

/// Probability that the rarer of two runs only together with the more frequent, as code of one basic block
/// and functions of one call do; otherwise both are independent. Samples don't show which: half of each errs
/// least.
const NESTED: f64 = 0.5;
/// Functions in a smaller share of a pattern's visits are left out of it.
const RARE: f64 = 0.001;

/// An access pattern: functions that run on an object together.
#[derive(Clone, Debug, Default)]
pub struct AccessPattern {
    /// Visits of it, in events.
    pub weight: f64,
    /// Index of a function's touch, and the share of visits it takes part in.
    pub functions: Vec<(usize, f64)>,
    /// Windows it was learnt from, an expected number.
    pub windows: f64,
    /// Those of them with several samples: only they show which functions run together.
    pub joint: f64,
    /// Samples of the struct in them.
    pub samples: f64,
}

/// One pattern for each function, as if each ran alone.
pub fn function_patterns(touches: &[FunctionTouch]) -> Vec<AccessPattern> {
    let patterns = touches.iter().enumerate().map(|(index, touch)| AccessPattern {
        weight: touch.runs,
        functions: vec![(index, 1.0)],
        ..AccessPattern::default()
    });
    patterns.collect()
}

/// How often a function runs on an object within a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOnObject {
    /// Once: a function that runs often, runs on many objects.
    One,
    /// Any number of times: a CPU has one object, so a loop stays on it.
    Many,
}

/// The patterns of a mixture. If functions run once on an object, a pattern has as many visits as its most frequent
/// function has runs: loops over objects do no harm. Else it has as many as the function of its median sample.
pub fn mixture_patterns(
    corpus: &WindowCorpus<'_>,
    mixture: &Mixture,
    touches: &[FunctionTouch],
    on_object: RunsOnObject,
) -> Vec<AccessPattern> {
    let known = touches.iter().enumerate().filter_map(|(index, touch)| {
        let numbers: Vec<_> = touch.entries.iter().filter_map(|word| corpus.entry_number(*word)).collect();
        let count = numbers.iter().map(|number| corpus.counts[*number]).sum();
        (count > 0.0).then_some(WindowedTouch { index, runs: touch.runs, numbers, count })
    });
    let known: Vec<WindowedTouch> = known.collect();
    let patterns = (0..mixture.windows.len()).filter_map(|pattern| {
        let samples = |known: &WindowedTouch| {
            known.numbers.iter().map(|number| mixture.expected[*number][pattern]).sum::<f32>()
        };
        let runs: Vec<f64> =
            known.iter().map(|known| f64::from(samples(known) / known.count) * known.runs).collect();
        let weight = visits(runs.iter().copied().zip(known.iter().map(samples)), on_object);
        let functions = known.iter().zip(runs).map(|(known, runs)| (known.index, (runs / weight).min(1.0)));
        (weight > 0.0).then(|| AccessPattern {
            weight,
            functions: functions.filter(|function| function.1 > RARE).collect(),
            windows: f64::from(mixture.windows[pattern]),
            joint: f64::from(mixture.joint[pattern]),
            samples: known.iter().map(|known| f64::from(samples(known))).sum(),
        })
    });
    patterns.collect()
}

/// Visits of a pattern, from runs of its functions and their samples in it.
fn visits(functions: impl Iterator<Item = (f64, f32)>, on_object: RunsOnObject) -> f64 {
    let mut functions: Vec<(f64, f32)> = functions.collect();
    functions.sort_by(|this, other| this.0.total_cmp(&other.0));
    let half = match on_object {
        RunsOnObject::One => f32::INFINITY,
        RunsOnObject::Many => functions.iter().map(|function| function.1).sum::<f32>() / 2.0,
    };
    let mut sum = 0.0;
    let median = functions.iter().find(|function| {
        sum += function.1;
        sum >= half
    });
    median.or(functions.last()).map_or(0.0, |function| function.0)
}

/// A touch whose function windows hold.
struct WindowedTouch {
    index: usize,
    runs: f64,
    /// Its entries' numbers in the corpus, and samples of them all.
    numbers: Vec<usize>,
    count: f32,
}

/// Draws `count` sets of touched ranges, shared out among patterns by weight, with how often each was drawn.
pub fn draw(
    patterns: &[AccessPattern],
    touches: &[FunctionTouch],
    count: usize,
    random: &mut Random,
) -> Vec<(Vec<usize>, u64)> {
    let total: f64 = patterns.iter().map(|pattern| pattern.weight).sum();
    let ranges = touches.iter().flat_map(|touch| &touch.ranges).map(|range| range.0 + 1).max().unwrap_or(0);
    let width = ranges.div_ceil(64).max(1);
    let mut sets = Vec::new();
    let mut owed = 0.0;
    for pattern in patterns {
        owed += pattern.weight / total * count as f64;
        let here = owed as usize;
        owed -= here as f64;
        let mut drawn = RangeBitSets { rows: vec![0; here * width], width };
        let mut order: Vec<usize> = (0..here).collect();
        random.shuffle(&mut order);
        for (index, share) in &pattern.functions {
            let mut visits = choose_visits(&order, round_randomly(share * here as f64, random), random);
            random.shuffle(&mut visits);
            touch_all(&touches[*index], &visits, &mut drawn, random);
        }
        sets.extend(drawn.into_distinct());
    }
    sets
}

/// Sets of touched ranges, a row of bits each.
struct RangeBitSets {
    rows: Vec<u64>,
    width: usize,
}

impl RangeBitSets {
    fn add(&mut self, set: usize, range: usize) {
        self.rows[set * self.width + range / 64] |= 1 << (range % 64);
    }

    /// Those that hold anything, each once, with how many there are.
    fn into_distinct(self) -> Vec<(Vec<usize>, u64)> {
        let mut counts: FxHashMap<&[u64], u64> = FxHashMap::default();
        for row in self.rows.chunks_exact(self.width).filter(|row| row.iter().any(|word| *word != 0)) {
            *counts.entry(row).or_default() += 1;
        }
        let mut counts: Vec<(&[u64], u64)> = counts.into_iter().collect();
        counts.sort_unstable();
        counts.into_iter().map(|(row, count)| (set_bits(row), count)).collect()
    }
}

/// The numbers of the bits that are set.
fn set_bits(row: &[u64]) -> Vec<usize> {
    let word_bits = |(base, word): (usize, &u64)| {
        let rest = std::iter::successors(Some(*word), |word| Some(word & word.wrapping_sub(1)));
        rest.take_while(|word| *word != 0).map(move |word| base * 64 + word.trailing_zeros() as usize)
    };
    row.iter().enumerate().flat_map(word_bits).collect()
}

/// The `wanted` visits that a function takes part in, in no order: those first in `order`, or any.
fn choose_visits(order: &[usize], wanted: usize, random: &mut Random) -> Vec<usize> {
    if wanted >= order.len() {
        return order.to_vec();
    }
    let ranked = order.iter().enumerate();
    let mut ranked: Vec<(f64, usize)> =
        ranked.map(|(position, visit)| (draw_quantile(position, order.len(), random), *visit)).collect();
    ranked
        .select_nth_unstable_by(wanted, |this, other| this.0.total_cmp(&other.0).then(this.1.cmp(&other.1)));
    ranked.truncate(wanted);
    ranked.into_iter().map(|(_, visit)| visit).collect()
}

/// Adds the ranges a function touches to its visits. Their order is random, so a position in it correlates
/// ranges touched together.
fn touch_all(touch: &FunctionTouch, visits: &[usize], sets: &mut RangeBitSets, random: &mut Random) {
    for (range, rate) in &touch.ranges {
        if *rate >= 1.0 {
            visits.iter().for_each(|visit| sets.add(*visit, *range));
            continue;
        }
        for (position, visit) in visits.iter().enumerate() {
            if draw_quantile(position, visits.len(), random) < *rate {
                sets.add(*visit, *range);
            }
        }
    }
}

/// A quantile from 0 to 1: that of a position among `count`, or uniform.
fn draw_quantile(position: usize, count: usize, random: &mut Random) -> f64 {
    if random.unit() < NESTED { (position as f64 + 0.5) / count as f64 } else { random.unit() }
}

/// A number rounded up or down, so that the mean is right.
fn round_randomly(number: f64, random: &mut Random) -> usize {
    number as usize + usize::from(random.unit() < number.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(word: (i32, u32), runs: f64, ranges: &[(usize, f64)]) -> FunctionTouch {
        FunctionTouch {
            function: word.1,
            entries: vec![word],
            samples: 0,
            far: 0,
            runs,
            ranges: ranges.to_vec(),
        }
    }

    #[test]
    fn ranges_are_drawn_as_often_as_they_are_touched() {
        let touches = [touch((0, 1), 30.0, &[(0, 1.0), (1, 0.25)]), touch((0, 2), 10.0, &[(2, 1.0)])];
        let sets = draw(&function_patterns(&touches), &touches, 4000, &mut Random::new(9));
        let drawn = |sets: &[(Vec<usize>, u64)]| sets.iter().map(|set| set.1).sum::<u64>() as f64;
        let with = |range| -> Vec<_> { sets.iter().filter(|set| set.0.contains(&range)).cloned().collect() };
        let share = |range| drawn(&with(range)) / drawn(&sets);
        assert!((share(0) - 0.75).abs() < 0.01);
        assert!((share(1) - 0.75 * 0.25).abs() < 0.03);
        assert!((share(2) - 0.25).abs() < 0.01);
    }

    #[test]
    fn functions_of_one_pattern_share_visits() {
        let touches = [touch((0, 1), 10.0, &[(0, 1.0)]), touch((0, 2), 10.0, &[(1, 1.0)])];
        let pattern =
            AccessPattern { weight: 10.0, functions: vec![(0, 1.0), (1, 0.5)], ..AccessPattern::default() };
        let sets = draw(&[pattern], &touches, 1000, &mut Random::new(9));
        assert_eq!(sets, [(vec![0], 500), (vec![0, 1], 500)]);
    }

    #[test]
    fn a_loop_over_objects_makes_visits_and_a_loop_on_one_object_does_not() {
        let functions = || [(40.0, 30.0), (10.0, 25.0), (10.0, 25.0)].into_iter();
        assert_eq!(visits(functions(), RunsOnObject::One), 40.0);
        assert_eq!(visits(functions(), RunsOnObject::Many), 10.0);
        assert_eq!(visits([].into_iter(), RunsOnObject::Many), 0.0);
    }

    #[test]
    fn ranges_beyond_64_are_drawn() {
        let touches = [touch((0, 1), 1.0, &[(0, 1.0), (63, 1.0), (64, 1.0), (200, 1.0)])];
        let sets = draw(&function_patterns(&touches), &touches, 10, &mut Random::new(9));
        assert_eq!(sets, [(vec![0, 63, 64, 200], 10)]);
        assert_eq!(draw(&[], &[], 10, &mut Random::new(9)), []);
    }
}
