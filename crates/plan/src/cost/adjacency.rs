//! Which units may be neighbours, and what reordered neighbours cost.

use crate::cost::line_requests;
use fieldline_layout::constraint::{Constraints, Unit};

/// Cost of two neighbours not in declared order, as a share of a line in every visit: breaks ties of visits.
const REORDERED_SHARE: u64 = 4_000;
/// Cost of two neighbours under different `#if` conditions, likewise.
const GUARD_SHARE: u64 = 4_000;

/// Two neighbours that aren't in the declared order.
pub(crate) const REORDERED: u8 = 1;
/// Two under different `#if` conditions.
pub(crate) const GUARD: u8 = 2;
/// Two of which one belongs to a group that the other doesn't.
const GROUP: u8 = 4;
/// Two that can't be neighbours in this order.
const FORBIDDEN: u8 = 8;

/// Units up to which the kinds of all pairs are kept in a table that fits a processor's cache.
const TABLE_UNITS: usize = 1 << 9;

#[derive(Clone, Debug)]
pub(crate) struct AdjacencyCosts<'a> {
    units: &'a [Unit],
    /// By unit, the group it belongs to.
    groups: Vec<Option<u32>>,
    /// By unit and its successor, their kind; empty if there are too many.
    pairs: Vec<u8>,
    costs: [u64; FORBIDDEN as usize],
    /// By unit, whether it keeps its order among others; empty if none does.
    keeps_order: Vec<bool>,
}

impl<'a> AdjacencyCosts<'a> {
    /// The units of a struct. `scale` is the cost of one line more touched in every visit.
    pub(crate) fn new(constraints: &'a Constraints, scale: u64) -> Self {
        let units = constraints.units.as_slice();
        let keeps_order: Vec<bool> = units.iter().map(Unit::keeps_order).collect();
        let group = scale.saturating_mul(line_requests::VIOLATION) / 2;
        let weights = [(REORDERED, scale / REORDERED_SHARE), (GUARD, scale / GUARD_SHARE), (GROUP, group)];
        let cost = |pair: usize| {
            let parts = weights.iter().filter(|(bit, _)| pair & usize::from(*bit) != 0);
            parts.map(|(_, weight)| weight).sum()
        };
        let mut costs = Self {
            units,
            groups: line_requests::unit_groups(constraints),
            pairs: Vec::new(),
            costs: std::array::from_fn(cost),
            keeps_order: if keeps_order.contains(&true) { keeps_order } else { Vec::new() },
        };
        let count = units.len();
        if count <= TABLE_UNITS {
            let pairs = (0..count * count).map(|pair| costs.classify_pair(pair / count, pair % count));
            costs.pairs = pairs.collect();
        }
        costs
    }

    fn classify_pair(&self, before: usize, unit: usize) -> u8 {
        let (this, other) = (&self.units[before], &self.units[unit]);
        let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };
        bit(before + 1 != unit, REORDERED)
            | bit(this.guard != other.guard, GUARD)
            | bit(self.groups[before] != self.groups[unit], GROUP)
            | bit(this.region > other.region || this.is_bit_run && other.is_bit_run, FORBIDDEN)
    }

    #[inline]
    fn pair_kind(&self, before: usize, unit: usize) -> u8 {
        match self.pairs.get(before * self.units.len() + unit) {
            Some(pair) => *pair,
            None => self.classify_pair(before, unit),
        }
    }

    #[inline]
    pub(crate) fn pair_cost(&self, before: usize, unit: usize) -> u64 {
        self.costs[usize::from(self.pair_kind(before, unit) % FORBIDDEN)]
    }

    /// Cost of all neighbours: reordered ones, those under different `#if` conditions, those that split a
    /// group.
    pub(crate) fn cost(&self, order: &[usize]) -> u64 {
        order.windows(2).map(|pair| self.pair_cost(pair[0], pair[1])).sum()
    }

    /// Whether a unit may stand behind another, as far as offsets don't matter.
    #[inline]
    pub(crate) fn may_follow(&self, before: usize, unit: usize) -> bool {
        self.pair_kind(before, unit) < FORBIDDEN
    }

    /// Whether units that keep their order do so here.
    #[inline]
    pub(crate) fn is_order_kept(&self, units: &[usize]) -> bool {
        self.keeps_order.is_empty() || units.iter().filter(|unit| self.keeps_order[**unit]).is_sorted()
    }

    /// Cost of a pair of a kind.
    pub(crate) fn weight(&self, pair: u8) -> u64 {
        self.costs[usize::from(pair)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_the_same_from_the_table_and_computed() {
        let unit = |region, guard, is_bit_run| Unit {
            members: Vec::new(),
            region,
            family: 0,
            guard,
            is_bit_run,
            constraint: None,
        };
        let units =
            [unit(0, None, true), unit(0, Some(1), true), unit(0, Some(1), false), unit(1, None, false)];
        let costs = [0, 1, 10, 11, 100, 101, 110, 111];
        let mut all = AdjacencyCosts {
            units: &units,
            groups: vec![None; 4],
            pairs: Vec::new(),
            costs,
            keeps_order: Vec::new(),
        };
        let answers = |all: &AdjacencyCosts<'_>| -> Vec<(u64, bool)> {
            (0..16)
                .map(|pair| (all.pair_cost(pair / 4, pair % 4), all.may_follow(pair / 4, pair % 4)))
                .collect()
        };
        let computed = answers(&all);
        all.pairs = (0..16).map(|pair| all.classify_pair(pair / 4, pair % 4)).collect();
        assert_eq!(answers(&all), computed);
        assert_eq!(all.cost(&[0, 2, 1, 3]), 11 + 1 + 11);
        assert!(!all.may_follow(0, 1), "two runs of bits would become one");
        assert!(all.may_follow(2, 3) && !all.may_follow(3, 2), "regions keep their order");
    }
}
