//! An order and its cost.

use crate::cost::OrderState;
use std::cmp::Reverse;

/// An order and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostedOrder {
    /// Units in order.
    pub order: Vec<usize>,
    /// Its cost.
    pub cost: u64,
}

impl CostedOrder {
    /// Takes over an order that has just changed, if it is cheaper and fits.
    pub(crate) fn take_if_cheaper(&mut self, state: &OrderState<'_>, changed: bool) {
        if changed && state.cost() < self.cost && state.fits() {
            self.cost = state.cost();
            self.order.copy_from_slice(state.order());
        }
    }
}

/// Orders as a chain takes them: the cheapest last.
pub(crate) fn costliest_first(found: &[CostedOrder]) -> Vec<Vec<usize>> {
    let mut found: Vec<&CostedOrder> = found.iter().collect();
    found.sort_by_key(|found| Reverse((found.cost, &found.order)));
    found.into_iter().map(|found| found.order.clone()).collect()
}

/// Moves `length` units from one position to another: the first position that changes, and the units from
/// there on.
pub(crate) fn insertion(order: &[usize], from: usize, length: usize, to: usize) -> (usize, Vec<usize>) {
    let first = from.min(to);
    let mut units = order[first..from.max(to) + length].to_vec();
    if from < to {
        units.rotate_left(length);
    } else {
        units.rotate_right(length);
    }
    (first, units)
}

/// The same, with the units at two positions exchanged, the first before the second.
pub(crate) fn exchange(order: &[usize], from: usize, to: usize) -> (usize, Vec<usize>) {
    let mut units = order[from..=to].to_vec();
    let last = units.len() - 1;
    units.swap(0, last);
    (from, units)
}
