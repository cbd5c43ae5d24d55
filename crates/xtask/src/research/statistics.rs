//! Rank correlation and shares.

/// A share in percent; of nothing, 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// Rank correlation (Spearman, 1904) of pairs, from -1 to 1; 0 if either side has one rank only. Ties share their mean rank.
pub(crate) fn rank_correlation(pairs: &[(u64, u64)]) -> f64 {
    let left = ranks(pairs.iter().map(|pair| pair.0));
    let right = ranks(pairs.iter().map(|pair| pair.1));
    let mean = (pairs.len() as f64 + 1.0) / 2.0;
    let product = |left: &[f64], right: &[f64]| -> f64 {
        left.iter().zip(right).map(|(left, right)| (left - mean) * (right - mean)).sum()
    };
    let spread = (product(&left, &left) * product(&right, &right)).sqrt();
    if spread > 0.0 { product(&left, &right) / spread } else { 0.0 }
}

fn ranks(values: impl Iterator<Item = u64>) -> Vec<f64> {
    let values: Vec<u64> = values.collect();
    let mut sorted = values.clone();
    sorted.sort_unstable();
    let rank = |value: &u64| {
        let below = sorted.partition_point(|other| other < value);
        let not_above = sorted.partition_point(|other| other <= value);
        (below + not_above + 1) as f64 / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_counts_and_distance_does_not() {
        assert!((rank_correlation(&[(1, 10), (2, 11), (9, 5000)]) - 1.0).abs() < 1e-9);
        assert!((rank_correlation(&[(1, 3), (2, 2), (3, 1)]) + 1.0).abs() < 1e-9);
    }

    #[test]
    fn ties_share_a_rank() {
        // Ranks 1 2.5 2.5 4 against 1 2 3 4: 4.5 / sqrt(4.5 * 5).
        let found = rank_correlation(&[(1, 1), (2, 2), (2, 3), (3, 4)]);
        assert!((found - 4.5 / (4.5_f64 * 5.0).sqrt()).abs() < 1e-9);
    }
}
