//! p-values of many tests together (Holm 1979): the chance that any of them is wrong stays below the level.

/// Adjusted p-values, in the order given. Those of tests that could not be made (`None`) count for nothing.
#[must_use]
pub fn adjust(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> =
        p_values.iter().enumerate().filter_map(|(index, p)| p.map(|p| (index, p))).collect();
    order.sort_by(|(first, left), (second, right)| left.total_cmp(right).then(first.cmp(second)));
    let mut adjusted = vec![None; p_values.len()];
    let (count, mut largest) = (order.len(), 0.0_f64);
    for (rank, (index, p)) in order.into_iter().enumerate() {
        largest = largest.max((p * (count - rank) as f64).min(1.0));
        if let Some(slot) = adjusted.get_mut(index) {
            *slot = Some(largest);
        }
    }
    adjusted
}
