//! 95 % confidence interval of a change between two layouts: a paired block bootstrap (Künsch, 1989).
//! Accesses of one time block depend on each other, so blocks are drawn, with both layouts' counts together.

use crate::random::Random;
use crate::result::Interval;

/// Resamples drawn.
const RESAMPLES: usize = 2_000;

/// The change of a ratio of sums; by block, what is counted and over what (misses over 1). Nothing if none
/// was counted.
pub fn bootstrap_change(blocks: &[[(f64, f64); 2]], seed: u64) -> Option<Interval> {
    let all: Vec<usize> = (0..blocks.len()).collect();
    let whole = relative_change(blocks, &all)?;
    let mut random = Random::new(seed);
    let mut draw = || (0..blocks.len()).map(|_| random.below(blocks.len())).collect::<Vec<usize>>();
    let mut resamples: Vec<f64> = (0..RESAMPLES).filter_map(|_| relative_change(blocks, &draw())).collect();
    resamples.sort_by(f64::total_cmp);
    let quantile = |share: f64| resamples.get((resamples.len() as f64 * share) as usize).copied();
    Some(Interval { change: whole, low: quantile(0.025)?, high: quantile(0.975)? })
}

fn relative_change(blocks: &[[(f64, f64); 2]], drawn: &[usize]) -> Option<f64> {
    let ratio = |side: usize| {
        let chosen = drawn.iter().filter_map(|block| Some(blocks.get(*block)?[side]));
        let (count, over) = chosen.fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        (over > 0.0).then(|| count / over)
    };
    let (before, after) = (ratio(0)?, ratio(1)?);
    (before > 0.0).then(|| after / before - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_give_a_narrow_interval_and_unequal_ones_a_wide_one() {
        let sure = bootstrap_change(&[[(10.0, 1.0), (9.0, 1.0)]; 20], 1).unwrap();
        assert!([sure.change, sure.low, sure.high].iter().all(|change| (change + 0.1).abs() < 1e-12));
        let mixed: Vec<[(f64, f64); 2]> =
            (0..20).map(|block| [(10.0, 1.0), (if block % 2 == 0 { 5.0 } else { 13.0 }, 1.0)]).collect();
        let unsure = bootstrap_change(&mixed, 1).unwrap();
        assert!((unsure.change + 0.1).abs() < 1e-12);
        assert!(unsure.low < -0.2 && unsure.high > 0.0, "{unsure:?}");
    }

    #[test]
    fn nothing_counted_is_no_change() {
        assert_eq!(bootstrap_change(&[], 1), None);
        assert_eq!(bootstrap_change(&[[(0.0, 0.0), (0.0, 0.0)]], 1), None);
    }
}
