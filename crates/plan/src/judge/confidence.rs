//! How sure advice is: k-fold cross-validation and block bootstrap over time blocks.
//!
//! Samples close in time depend on each other, so blocks of time are left out or drawn, never samples
//! (Künsch, 1989). Figures on the samples of an order have an in-sample bias; those of cross-validation
//! don't.

use crate::random::{Random, mix};
use crate::result::{Interval, rounded};
use std::collections::BTreeSet;

/// Parts of the time, each left out once.
pub const FOLDS: usize = 5;
/// A grouping is advice if it comes again in this share of resamples.
pub const STABLE: f64 = 0.8;
/// 97.5th percentile of Student's distribution, by degrees of freedom from 1 on.
const STUDENT: [f64; 4] = [12.706, 4.303, 3.182, 2.776];

/// Half of the width for what samples can't show of visits, where they begin and end; at least this share of the lines.
/// With both constants 88 % of the replays of plans on other runs of guests lie within (`cargo xtask calibrate`).
const VISITS_LEAST: f64 = 0.05;
/// The same as a share of the change.
const VISITS_SHARE: f64 = 0.5;

impl Interval {
    /// Half of the width of the interval of a mean, by Student's distribution from a few independent changes. Nothing
    /// for fewer than two.
    pub fn half_width(changes: &[f64]) -> Option<f64> {
        let student = STUDENT.get(changes.len().checked_sub(2)?).copied().unwrap_or(STUDENT[3]);
        let count = changes.len() as f64;
        let mean = changes.iter().sum::<f64>() / count;
        let squares: f64 = changes.iter().map(|change| (change - mean) * (change - mean)).sum();
        Some(student * (squares / (count - 1.0) / count).sqrt())
    }

    /// Around a change, with half of the width that the choice of samples gives it.
    pub fn of_samples(change: f64, half: f64) -> Self {
        Self { change, low: change - half, high: change + half }.rounded()
    }

    /// Around a change, with half of the width that the choice of samples gives it, and what samples can't show of
    /// visits.
    pub fn of_visits(change: f64, sampling: f64) -> Self {
        Self::of_samples(change, sampling.hypot(VISITS_LEAST).hypot(VISITS_SHARE * change))
    }

    /// Around a change, from what it was in resamples: their percentiles.
    pub fn from_resamples(change: f64, mut resamples: Vec<f64>) -> Option<Self> {
        resamples.sort_by(f64::total_cmp);
        let last = resamples.len().checked_sub(1)?;
        let low = *resamples.get((0.025 * last as f64) as usize)?;
        let high = *resamples.get(last - (0.025 * last as f64) as usize)?;
        Some(Self { change, low, high }.rounded())
    }

    fn rounded(self) -> Self {
        let [change, low, high] = [self.change, self.low, self.high].map(|share| rounded(share, 10_000.0));
        Self { change, low, high }
    }
}

/// Weights of the blocks kept and of those left out in a fold: consecutive blocks, so that neighbours in time
/// stay together; where each recording is a fold, recordings are left out.
pub(crate) fn fold_weights(blocks: usize, fold: usize) -> (Vec<u64>, Vec<u64>) {
    let is_out = |block: usize| block * FOLDS / blocks.max(1) == fold;
    (0..blocks).map(|block| (u64::from(!is_out(block)), u64::from(is_out(block)))).unzip()
}

/// Weights of blocks drawn with replacement, the same for the same seed and number.
pub(crate) fn bootstrap_weights(blocks: usize, seed: u64, number: u64) -> Vec<u64> {
    let mut random = Random::new(mix(seed ^ mix(number)));
    let mut weights = vec![0; blocks];
    for _ in 0..blocks {
        weights[random.below(blocks)] += 1;
    }
    weights
}

/// Which units share a line: pairs, the lower first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitPairs(BTreeSet<(usize, usize)>);

impl UnitPairs {
    pub(crate) fn new(lines: &[Vec<usize>]) -> Self {
        let pairs = lines.iter().flat_map(|units| {
            units
                .iter()
                .flat_map(|this| units.iter().filter(|other| *other > this).map(|other| (*this, *other)))
        });
        Self(pairs.collect())
    }

    pub(crate) fn contains(&self, this: usize, other: usize) -> bool {
        self.0.contains(&(this.min(other), this.max(other)))
    }

    fn companions(&self, unit: usize) -> Vec<usize> {
        let pairs = self.0.iter().filter(|(this, other)| *this == unit || *other == unit);
        pairs.map(|(this, other)| if *this == unit { *other } else { *this }).collect()
    }
}

/// Share of resamples that repeat a unit's move: it shares a line with at least half of its companions. The
/// move of one without companions is repeated where at most half of those it was declared with are on its
/// line.
pub(super) fn stability(unit: usize, order: &UnitPairs, old: &UnitPairs, resamples: &[UnitPairs]) -> f64 {
    let (companions, left) = (order.companions(unit), old.companions(unit));
    let met = |pairs: &UnitPairs, others: &[usize]| {
        others.iter().filter(|other| pairs.contains(unit, **other)).count()
    };
    let is_repeated = |pairs: &&UnitPairs| match companions.is_empty() {
        false => 2 * met(pairs, &companions) >= companions.len(),
        true => 2 * met(pairs, &left) <= left.len(),
    };
    rounded_share(resamples.iter().filter(is_repeated).count(), resamples.len())
}

pub(crate) fn rounded_share(count: usize, all: usize) -> f64 {
    rounded(count as f64 / all.max(1) as f64, 10_000.0)
}

/// How often the pairs of a line come together again: the mean, and the least.
pub(crate) fn pair_shares(units: &[usize], resamples: &[UnitPairs]) -> Option<(f64, f64)> {
    let pairs = UnitPairs::new(&[units.to_vec()]);
    let together = |pair: &(usize, usize)| resamples.iter().filter(|pairs| pairs.0.contains(pair)).count();
    let count = resamples.len().max(1) as f64;
    let shares: Vec<f64> = pairs.0.iter().map(|pair| together(pair) as f64 / count).collect();
    let least = shares.iter().copied().min_by(f64::total_cmp)?;
    Some((rounded(shares.iter().sum::<f64>() / shares.len() as f64, 10_000.0), rounded(least, 10_000.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_is_left_out_once() {
        for blocks in [5, 7, 20, 41] {
            let mut out = vec![0; blocks];
            for number in 0..FOLDS {
                let (train, test) = fold_weights(blocks, number);
                assert!(test.contains(&1), "{blocks} {number}");
                for block in 0..blocks {
                    assert_eq!(train[block] + test[block], 1);
                    out[block] += test[block];
                }
            }
            assert!(out.iter().all(|count| *count == 1));
        }
    }

    #[test]
    fn draws_have_as_many_blocks_and_differ() {
        let draws: Vec<Vec<u64>> = (0..4).map(|number| bootstrap_weights(20, 7, number)).collect();
        assert!(draws.iter().all(|weights| weights.iter().sum::<u64>() == 20));
        assert!(draws.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!(draws[1], bootstrap_weights(20, 7, 1));
    }

    #[test]
    fn an_interval_of_few_is_students() {
        // Standard deviation 0.01581, error of the mean 0.00707, times 2.776.
        let half = Interval::half_width(&[-0.10, -0.12, -0.08, -0.11, -0.09]).unwrap();
        assert!((half - 0.01963).abs() < 1e-5, "{half}");
        assert_eq!(Interval::half_width(&[-0.1]), None);
    }

    #[test]
    fn an_interval_grows_with_the_change_and_the_spread_of_samples() {
        let width = |change, spread| {
            let interval = Interval::of_visits(change, spread);
            assert!(interval.low < interval.change && interval.change < interval.high);
            interval.high - interval.low
        };
        assert!(width(-0.2, 0.01) > width(-0.02, 0.01));
        assert!(width(-0.2, 0.05) > width(-0.2, 0.01));
    }

    #[test]
    fn an_interval_of_resamples_leaves_the_tails_out() {
        let interval =
            Interval::from_resamples(-0.2, (0..=200).map(|at| f64::from(at) / 1000.0).collect()).unwrap();
        assert_eq!((interval.change, interval.low, interval.high), (-0.2, 0.005, 0.195));
        assert_eq!(Interval::from_resamples(0.0, Vec::new()), None);
    }

    #[test]
    fn stability_counts_companions_not_line_numbers() {
        let order = UnitPairs::new(&[vec![0, 1, 2], vec![3]]);
        let declared = UnitPairs::new(&[vec![0, 3], vec![1, 2]]);
        let resamples = [
            UnitPairs::new(&[vec![3], vec![0, 1, 2]]),
            UnitPairs::new(&[vec![0, 1], vec![2, 3]]),
            UnitPairs::new(&[vec![0, 3], vec![1, 2]]),
        ];
        assert_eq!(stability(0, &order, &declared, &resamples), 0.6667);
        assert_eq!(stability(1, &order, &declared, &resamples), 1.0);
        // Brought away from 0, and again so in two.
        assert_eq!(stability(3, &order, &declared, &resamples), 0.6667);
        assert_eq!(pair_shares(&[0, 1, 2], &resamples), Some((0.5556, 0.3333)));
        assert_eq!(pair_shares(&[3], &resamples), None);
    }
}
