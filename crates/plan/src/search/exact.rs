//! The cheapest of all orders, where they are few.

use crate::cost::{CostCache, OrderState, Problem};
use crate::search::CostedOrder;

/// Most orders that are tried one by one: 7!.
const MAX_ORDERS: u64 = 5_040;

/// The cheapest order, if there are few; of equally cheap ones the lexicographically first.
pub fn search_all_orders(problem: &Problem<'_>, start: &[usize]) -> Option<CostedOrder> {
    if count_orders(problem, start) > MAX_ORDERS {
        return None;
    }
    let mut memo = CostCache::default();
    let mut state = OrderState::new(problem, start, &mut memo);
    let mut best = CostedOrder { order: start.to_vec(), cost: u64::MAX };
    best.take_if_cheaper(&state, true);
    let mut order = start.to_vec();
    while next_order(problem, &mut order) {
        if problem.constraints.check(&order).is_ok() {
            state.reset(&order, &mut memo);
            best.take_if_cheaper(&state, true);
        }
    }
    Some(best)
}

/// How many orders keep to their regions.
fn count_orders(problem: &Problem<'_>, order: &[usize]) -> u64 {
    let region = |unit: &usize| problem.constraints.units[*unit].region;
    let runs = order.chunk_by(|this, other| region(this) == region(other));
    runs.flat_map(|run| 1..=run.len() as u64).fold(1, u64::saturating_mul)
}

/// The next order, by each region's units lexicographically, regions like digits; ends when all are sorted
/// downwards.
fn next_order(problem: &Problem<'_>, order: &mut [usize]) -> bool {
    let region = |unit: &usize| problem.constraints.units[*unit].region;
    let runs: Vec<&mut [usize]> = order.chunk_by_mut(|this, other| region(this) == region(other)).collect();
    runs.into_iter().rev().any(next_permutation)
}

/// The next permutation; the first one again behind the last.
fn next_permutation(units: &mut [usize]) -> bool {
    let Some(pivot) = (1..units.len()).rev().find(|place| units[place - 1] < units[*place]) else {
        units.reverse();
        return false;
    };
    let larger = (pivot..units.len()).rev().find(|place| units[*place] > units[pivot - 1]);
    units.swap(pivot - 1, larger.unwrap_or(pivot));
    units[pivot..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_come_once_each() {
        let mut units = [0, 1, 2, 3];
        let mut permutations = vec![units];
        while next_permutation(&mut units) {
            permutations.push(units);
        }
        assert_eq!(permutations.len(), 24);
        assert_eq!(units, [0, 1, 2, 3]);
        permutations.sort_unstable();
        permutations.dedup();
        assert_eq!(permutations.len(), 24);
    }
}
