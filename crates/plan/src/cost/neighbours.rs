//! What may stand next to what, and what that costs a reader.

use crate::cost::wish;
use fieldline_layout::constraint::{Constraints, Unit};

/// Cost of two neighbours not in declared order, as a share of a line in every visit: settles what visits leave open.
const SEAM_SHARE: u64 = 4_000;
/// Cost of two neighbours under different `#if` conditions, likewise.
const GUARD_SHARE: u64 = 4_000;

/// Two neighbours that aren't in the declared order.
pub(crate) const SEAM: u8 = 1;
/// Two under different `#if` conditions.
pub(crate) const GUARD: u8 = 2;
/// Two of which one belongs to a group that the other doesn't.
const GROUP: u8 = 4;
/// Two that can't be neighbours in this order.
const BARRED: u8 = 8;

/// Up to so many units all pairs are looked at once only: what they come to fits a processor's cache.
const TABLED: usize = 1 << 9;

#[derive(Clone, Debug)]
pub(crate) struct Neighbours<'a> {
    units: &'a [Unit],
    /// By unit, the group it belongs to.
    groups: Vec<Option<u32>>,
    /// By unit and the one behind it, what they are; empty if there are too many.
    pairs: Vec<u8>,
    costs: [u64; BARRED as usize],
    /// By unit, whether it keeps its place among others; empty if none does.
    held: Vec<bool>,
}

impl<'a> Neighbours<'a> {
    /// The units of a struct. `scale` is the cost of one line more touched in every visit.
    pub(crate) fn new(constraints: &'a Constraints, scale: u64) -> Self {
        let units = constraints.units.as_slice();
        let held: Vec<bool> = units.iter().map(Unit::keeps_order).collect();
        let group_seam = scale.saturating_mul(wish::BREACH) / 2;
        let weights = [(SEAM, scale / SEAM_SHARE), (GUARD, scale / GUARD_SHARE), (GROUP, group_seam)];
        let cost = |pair: usize| {
            let parts = weights.iter().filter(|(bit, _)| pair & usize::from(*bit) != 0);
            parts.map(|(_, weight)| weight).sum()
        };
        let mut neighbours = Self {
            units,
            groups: wish::groups(constraints),
            pairs: Vec::new(),
            costs: std::array::from_fn(cost),
            held: if held.contains(&true) { held } else { Vec::new() },
        };
        let count = units.len();
        if count <= TABLED {
            let pairs = (0..count * count).map(|pair| neighbours.look(pair / count, pair % count));
            neighbours.pairs = pairs.collect();
        }
        neighbours
    }

    fn look(&self, before: usize, unit: usize) -> u8 {
        let (one, other) = (&self.units[before], &self.units[unit]);
        let bit = |is: bool, bit: u8| if is { bit } else { 0 };
        bit(before + 1 != unit, SEAM)
            | bit(one.guard != other.guard, GUARD)
            | bit(self.groups[before] != self.groups[unit], GROUP)
            | bit(one.region > other.region || one.is_bit_run && other.is_bit_run, BARRED)
    }

    #[inline]
    fn pair(&self, before: usize, unit: usize) -> u8 {
        match self.pairs.get(before * self.units.len() + unit) {
            Some(pair) => *pair,
            None => self.look(before, unit),
        }
    }

    #[inline]
    pub(crate) fn seam(&self, before: usize, unit: usize) -> u64 {
        self.costs[usize::from(self.pair(before, unit) % BARRED)]
    }

    /// Cost of all neighbours: a reader follows every seam, the source separates `#if` conditions, groups stay whole.
    pub(crate) fn cost(&self, order: &[usize]) -> u64 {
        order.windows(2).map(|pair| self.seam(pair[0], pair[1])).sum()
    }

    /// Whether a unit may stand behind another, as far as offsets don't matter.
    #[inline]
    pub(crate) fn may_follow(&self, before: usize, unit: usize) -> bool {
        self.pair(before, unit) < BARRED
    }

    /// Whether units that keep their order do so in a stretch.
    #[inline]
    pub(crate) fn keep_order(&self, units: &[usize]) -> bool {
        self.held.is_empty() || units.iter().filter(|unit| self.held[**unit]).is_sorted()
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
    fn pairs_are_the_same_looked_up_and_looked_at() {
        let unit =
            |region, guard, is_bit_run| Unit { members: Vec::new(), region, guard, is_bit_run, hold: None };
        let units =
            [unit(0, None, true), unit(0, Some(1), true), unit(0, Some(1), false), unit(1, None, false)];
        let costs = [0, 1, 10, 11, 100, 101, 110, 111];
        let mut all =
            Neighbours { units: &units, groups: vec![None; 4], pairs: Vec::new(), costs, held: Vec::new() };
        let answers = |all: &Neighbours<'_>| -> Vec<(u64, bool)> {
            (0..16).map(|pair| (all.seam(pair / 4, pair % 4), all.may_follow(pair / 4, pair % 4))).collect()
        };
        let looked_at = answers(&all);
        all.pairs = (0..16).map(|pair| all.look(pair / 4, pair % 4)).collect();
        assert_eq!(answers(&all), looked_at);
        assert_eq!(all.cost(&[0, 2, 1, 3]), 11 + 1 + 11);
        assert!(!all.may_follow(0, 1), "two runs of bits would become one");
        assert!(all.may_follow(2, 3) && !all.may_follow(3, 2), "regions keep their order");
    }
}
