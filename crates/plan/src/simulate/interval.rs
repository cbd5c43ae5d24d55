//! How sure a change between two layouts is: a paired block bootstrap (Künsch, 1989). Accesses of one stretch of time
//! depend on each other, so stretches are drawn, and both layouts' counts of a stretch are drawn together.

use crate::random::Random;
use crate::result::Interval;

/// How many samples of blocks are drawn.
const RESAMPLES: usize = 2_000;

/// The change of a ratio of sums; by block, what is counted and over what (misses over 1). Nothing if none was counted.
pub fn change(blocks: &[[(f64, f64); 2]], seed: u64) -> Option<Interval> {
    let all: Vec<usize> = (0..blocks.len()).collect();
    let whole = of(blocks, &all)?;
    let mut random = Random::new(seed);
    let mut draw = || (0..blocks.len()).map(|_| random.below(blocks.len())).collect::<Vec<usize>>();
    let mut resamples: Vec<f64> = (0..RESAMPLES).filter_map(|_| of(blocks, &draw())).collect();
    resamples.sort_by(f64::total_cmp);
    let quantile = |share: f64| resamples.get((resamples.len() as f64 * share) as usize).copied();
    Some(Interval { change: whole, low: quantile(0.025)?, high: quantile(0.975)? })
}

fn of(blocks: &[[(f64, f64); 2]], drawn: &[usize]) -> Option<f64> {
    let ratio = |side: usize| {
        let chosen = drawn.iter().filter_map(|block| Some(blocks.get(*block)?[side]));
        let (count, over) = chosen.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (over > 0.0).then(|| count / over)
    };
    let (before, after) = (ratio(0)?, ratio(1)?);
    (before > 0.0).then(|| after / before - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_blocks_leave_no_doubt_and_unequal_ones_some() {
        let sure = change(&[[(10.0, 1.0), (9.0, 1.0)]; 20], 1).unwrap();
        assert!([sure.change, sure.low, sure.high].iter().all(|change| (change + 0.1).abs() < 1e-12));
        let mixed: Vec<[(f64, f64); 2]> =
            (0..20).map(|block| [(10.0, 1.0), (if block % 2 == 0 { 5.0 } else { 13.0 }, 1.0)]).collect();
        let unsure = change(&mixed, 1).unwrap();
        assert!((unsure.change + 0.1).abs() < 1e-12);
        assert!(unsure.low < -0.2 && unsure.high > 0.0, "{unsure:?}");
    }

    #[test]
    fn nothing_counted_is_no_change() {
        assert_eq!(change(&[], 1), None);
        assert_eq!(change(&[[(0.0, 0.0), (0.0, 0.0)]], 1), None);
    }
}
