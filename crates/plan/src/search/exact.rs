//! The cheapest of all orders, where they are few.

use crate::cost::Memo;
use crate::cost::{OrderState, Problem};
use crate::search::CostedOrder;

/// Most orders that are tried one by one: 7!.
const MOST: u64 = 5_040;

/// The cheapest order, if there are few; of equally cheap ones the first in lexicographic order of declared places.
pub fn try_all(problem: &Problem<'_>, start: &[usize]) -> Option<CostedOrder> {
    if count(problem, start) > MOST {
        return None;
    }
    let mut memo = Memo::default();
    let mut state = OrderState::new(problem, start, &mut memo);
    let cost = if state.fits() { state.cost() } else { u64::MAX };
    let mut best = CostedOrder { order: start.to_vec(), cost };
    let mut order = start.to_vec();
    while next(problem, &mut order) {
        if problem.constraints.check(&order).is_err() {
            continue;
        }
        state.reset(&order, &mut memo);
        if state.cost() < best.cost && state.fits() {
            best.cost = state.cost();
            best.order.copy_from_slice(&order);
        }
    }
    Some(best)
}

/// How many orders keep to their regions.
fn count(problem: &Problem<'_>, order: &[usize]) -> u64 {
    let region = |unit: usize| problem.constraints.units[unit].region;
    let mut count = 1_u64;
    let mut run = 1;
    for pair in order.windows(2) {
        run = if region(pair[0]) == region(pair[1]) { run + 1 } else { 1 };
        count = count.saturating_mul(run);
    }
    count
}

/// The next order, by each region's units lexicographically, regions like digits; ends when all are sorted downwards.
fn next(problem: &Problem<'_>, order: &mut [usize]) -> bool {
    let region = |unit: usize| problem.constraints.units[unit].region;
    let mut end = order.len();
    while end > 0 {
        let last = region(order[end - 1]);
        let first = order.iter().position(|unit| region(*unit) == last).unwrap_or(0);
        if permute(&mut order[first..end]) {
            return true;
        }
        end = first;
    }
    false
}

/// The next permutation; the first one again behind the last.
fn permute(units: &mut [usize]) -> bool {
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
        let mut seen = vec![units];
        while permute(&mut units) {
            seen.push(units);
        }
        assert_eq!(seen.len(), 24);
        assert_eq!(units, [0, 1, 2, 3]);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 24);
    }
}
