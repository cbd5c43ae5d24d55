//! Local descent that reduces moved units: every member that moves must be worth a reader's time.

use super::order::{exchange, insertion};
use crate::cost::{CostCache, OrderState, Problem};
use crate::search::{CostedOrder, MoveGenerator};
use std::collections::BTreeMap;

/// Cost of a moved unit, as a share of one line more touched in every visit.
const MOVED_SHARE: u64 = 1_000;
/// Passes over all units.
const PASSES: usize = 12;
/// Units up to which every position is tried for every unit; beyond, the positions next to its declared
/// neighbours.
const FEW: usize = 80;
/// How far from its declared neighbours a unit counts as near them.
const NEAR: usize = 8;
/// Most units that move together.
const BLOCK: usize = 4;
/// Lines up to which every pair is tried.
const FEW_LINES: usize = 24;

/// Units that are not where the declared order has them, at least: all but the longest run of units in
/// declared order, found by patience sorting (Fredman, 1975); of several the earliest.
pub fn moved_units(order: &[usize]) -> Vec<usize> {
    let (mut tops, mut before) = (Vec::new(), Vec::new());
    patience_sort(order, &mut tops, &mut before);
    let mut stays = vec![false; order.len()];
    std::iter::successors(tops.last().copied(), |unit| before[*unit]).for_each(|unit| stays[unit] = true);
    (0..order.len()).filter(|unit| !stays[*unit]).collect()
}

/// Sorts units into piles: by pile its top, and by unit the top of the pile before when it was laid down. From the last
/// top backwards stands the longest run in declared order.
pub(super) fn patience_sort(order: &[usize], tops: &mut Vec<usize>, before: &mut Vec<Option<usize>>) {
    tops.clear();
    before.clear();
    before.resize(order.len(), None);
    for unit in order {
        let last = tops.last().copied();
        // Most units stand behind those declared before them.
        if last.is_none_or(|top| top < *unit) {
            before[*unit] = last;
            tops.push(*unit);
            continue;
        }
        let pile = tops.partition_point(|top| top < unit);
        before[*unit] = pile.checked_sub(1).map(|pile| tops[pile]);
        tops[pile] = *unit;
    }
}

/// Descends from an order: single units, and whole lines, go where cost and moved units are fewer together.
pub fn reduce_moves(problem: &Problem<'_>, found: &CostedOrder) -> CostedOrder {
    let mut memo = CostCache::default();
    let mut reduction = MoveReduction {
        problem,
        mover: MoveGenerator::new(problem),
        state: OrderState::new(problem, &found.order, &mut memo),
        memo,
        moved_weight: problem.scale / MOVED_SHARE,
        moved_count: moved_units(&found.order).len() as u64,
        units: Vec::new(),
    };
    for _ in 0..PASSES {
        let mut changed = reduction.sort_untouched();
        changed |= reduction.swap_lines();
        changed |= reduction.swap_back();
        changed |= reduction.move_units();
        changed |= reduction.move_blocks();
        if !changed {
            break;
        }
    }
    CostedOrder { cost: reduction.state.cost(), order: reduction.state.order().to_vec() }
}

struct MoveReduction<'p> {
    problem: &'p Problem<'p>,
    mover: MoveGenerator,
    state: OrderState<'p>,
    memo: CostCache,
    moved_weight: u64,
    /// Units not in declared order.
    moved_count: u64,
    units: Vec<usize>,
}

impl MoveReduction<'_> {
    /// Replaces `first..first + units.len()` if that is legal and cheaper.
    fn try_units(&mut self, first: usize) -> bool {
        if !self.state.allows(first, &self.units) {
            return false;
        }
        let (cost, fitted) = (self.state.cost(), self.state.fits());
        let moved_before = self.moved_count;
        // No more units can become unmoved than were, so most changes need no count.
        let slack = moved_before * self.moved_weight;
        if !self.state.try_replace(first, &self.units, &mut self.memo, slack as f64) {
            return false;
        }
        let better = (self.state.fits() || !fitted) && {
            self.moved_count = moved_units(self.state.order()).len() as u64;
            self.state.cost() + self.moved_count * self.moved_weight < cost + slack
        };
        if !better {
            self.moved_count = moved_before;
            self.state.undo();
        }
        better
    }

    /// Brings untouched units into declared order: among positions of equal size, and between touched units.
    fn sort_untouched(&mut self) -> bool {
        // Positions of untouched units that can be exchanged without moving anything else.
        let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (position, unit) in self.state.order().iter().enumerate() {
            if self.is_untouched(*unit) && self.problem.constraints.units[*unit].constraint.is_none() {
                let group = (self.mover.regions[position], self.mover.kind(*unit));
                groups.entry(group).or_default().push(position);
            }
        }
        let before = self.state.order().to_vec();
        self.units.clone_from(&before);
        for group in groups.into_values() {
            let mut units: Vec<usize> = group.iter().map(|position| before[*position]).collect();
            units.sort_unstable();
            for (position, unit) in group.iter().zip(units) {
                self.units[*position] = unit;
            }
        }
        let sorted = self.units != before && self.try_units(0);
        self.sort_runs() || sorted
    }

    fn is_untouched(&self, unit: usize) -> bool {
        self.problem.unit_touched_bits(unit).is_empty()
    }

    fn sort_runs(&mut self) -> bool {
        let mut changed = false;
        let mut first = 0;
        while first < self.state.order().len() {
            let (_, high) = self.mover.regions[first];
            let order = self.state.order();
            let run = order[first..high].iter().take_while(|unit| self.is_untouched(**unit)).count();
            self.units.clear();
            self.units.extend_from_slice(&order[first..first + run]);
            self.units.sort_unstable();
            changed |= run > 1 && self.try_units(first);
            first += run.max(1);
        }
        changed
    }

    fn move_units(&mut self) -> bool {
        let mut changed = false;
        for unit in 0..self.state.order().len() {
            for position in self.places_for(unit) {
                changed |= self.move_block(self.state.position(unit), 1, position);
            }
        }
        changed
    }

    /// Moves consecutive units, where trying all positions is cheap.
    fn move_blocks(&mut self) -> bool {
        let mut changed = false;
        let count = self.state.order().len();
        for (length, from) in (2..=BLOCK).flat_map(|length| (0..count).map(move |from| (length, from))) {
            let (low, high) = self.mover.regions[from];
            if high - low > FEW || from + length > high {
                continue;
            }
            for to in low..=high - length {
                changed |= self.move_block(from, length, to);
            }
        }
        changed
    }

    fn places_for(&self, unit: usize) -> Vec<usize> {
        let (low, high) = self.mover.regions[self.state.position(unit)];
        if high - low <= FEW {
            return (low..high).collect();
        }
        let count = self.state.order().len();
        let before = unit.checked_sub(1).map(|unit| self.state.position(unit) + 1);
        let after = (unit + 1 < count).then(|| self.state.position(unit + 1));
        let places = before.into_iter().chain(after).flat_map(|place| [place.saturating_sub(1), place]);
        places.filter(|position| (low..high).contains(position)).collect()
    }

    /// Moves `length` units from one position so that they begin at another.
    fn move_block(&mut self, from: usize, length: usize, to: usize) -> bool {
        if from == to {
            return false;
        }
        let first;
        (first, self.units) = insertion(self.state.order(), from, length, to);
        self.try_units(first)
    }

    /// Exchanges moved units with units of their kind that stand near their declared neighbours.
    fn swap_back(&mut self) -> bool {
        let mut changed = false;
        for unit in moved_units(self.state.order()) {
            for position in self.near_declared(unit) {
                let other = self.state.order()[position];
                if other != unit && self.mover.kind(other) == self.mover.kind(unit) {
                    changed |= self.exchange(self.state.position(unit), position);
                }
            }
        }
        changed
    }

    /// Places of its region near those of the units declared before and behind a unit.
    fn near_declared(&self, unit: usize) -> Vec<usize> {
        let (low, high) = self.mover.regions[self.state.position(unit)];
        let neighbours = [unit.checked_sub(1), Some(unit + 1)].into_iter().flatten();
        let known = neighbours.filter(|neighbour| *neighbour < self.state.order().len());
        let places = known.map(|neighbour| self.state.position(neighbour));
        places
            .flat_map(|position| position.saturating_sub(NEAR).max(low)..(position + NEAR + 1).min(high))
            .collect()
    }

    fn exchange(&mut self, this: usize, other: usize) -> bool {
        if this == other {
            return false;
        }
        let first;
        (first, self.units) = exchange(self.state.order(), this.min(other), this.max(other));
        self.try_units(first)
    }

    /// Exchanges what begins on two lines.
    fn swap_lines(&mut self) -> bool {
        let mut changed = false;
        let pairs = (0..FEW_LINES).flat_map(|this| (this + 1..FEW_LINES).map(move |other| (this, other)));
        for (this, other) in pairs {
            let (Some(a), Some(b)) = (self.line_run(this), self.line_run(other)) else { continue };
            self.units.clear();
            for run in [b.0..b.1, a.1..b.0, a.0..a.1] {
                self.units.extend_from_slice(&self.state.order()[run]);
            }
            changed |= self.try_units(a.0);
        }
        changed
    }

    /// Places of the units that begin on a line, by its number among the lines on which any do.
    fn line_run(&self, number: usize) -> Option<(usize, usize)> {
        let count = self.state.order().len();
        let run = |first| (first < count).then(|| (first, self.state.units_on_line(first).1));
        std::iter::successors(run(0), |before| run(before.1)).nth(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_units_count_as_moved() {
        assert_eq!(moved_units(&[0, 1, 2, 3]), [] as [usize; 0]);
        assert_eq!(moved_units(&[3, 0, 1, 2]), [3]);
        assert_eq!(moved_units(&[1, 0]).len(), 1);
        assert_eq!(moved_units(&[4, 0, 3, 1, 2]), [3, 4]);
    }
}
