//! Moves a search tries: small changes of an order that keep to regions.

use crate::cost::{OrderState, Problem};
use crate::random::Random;
use crate::search::move_selector::MoveKind;
use fieldline_layout::constraint::Unit;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// [`MoveGenerator::units`] stand from this position on.
    Replace(usize),
    /// Units at two positions, the first before the second, with equal placement rules are exchanged: nothing
    /// else moves.
    Exchange(usize, usize),
}

/// Draws moves for one problem.
#[derive(Clone, Debug)]
pub struct MoveGenerator {
    /// Touched units that can move.
    pub(crate) hot: Vec<usize>,
    /// By position: the first position of its region and the one behind the last.
    pub(crate) regions: Vec<(usize, usize)>,
    pub(super) bits: Vec<u64>,
    /// Units of equal kind can be exchanged without moving anything else.
    kinds: Vec<usize>,
    /// Units that keep their order among each other.
    keep_order: Vec<bool>,
    /// The move drawn last: the units from some position on.
    pub(crate) units: Vec<usize>,
}

impl MoveGenerator {
    /// Moves for a problem.
    pub fn new(problem: &Problem<'_>) -> Self {
        let order = problem.constraints.initial_order();
        let regions = regions(problem, &order);
        let free = order.iter().zip(&regions).filter(|(_, (first, end))| end - first > 1);
        let mut hot: Vec<usize> =
            free.map(|(unit, _)| *unit).filter(|unit| !problem.unit_touched_bits(*unit).is_empty()).collect();
        hot.sort_unstable();
        let mut known = BTreeMap::new();
        let kinds = (0..order.len()).map(|unit| {
            let next = known.len();
            *known.entry(problem.placement_key(unit)).or_insert(next)
        });
        Self {
            hot,
            regions,
            kinds: kinds.collect(),
            bits: (0..order.len()).map(|unit| problem.unit_bits(unit)).collect(),
            keep_order: problem.constraints.units.iter().map(Unit::keeps_order).collect(),
            units: Vec::new(),
        }
    }

    /// Number of a unit's kind: units of equal ones can be exchanged without moving anything else.
    pub fn kind(&self, unit: usize) -> usize {
        self.kinds[unit]
    }

    /// Draws a move of a kind. `None` if the draw changes nothing or breaks a constraint.
    pub(super) fn draw(
        &mut self,
        state: &OrderState<'_>,
        kind: MoveKind,
        random: &mut Random,
    ) -> Option<Move> {
        let drawn = match kind {
            MoveKind::RestoreNeighbour => self.restore_neighbour(state, random),
            _ => self.draw_hot(state, kind, random),
        }?;
        let is_allowed = match drawn {
            Move::Replace(first) => state.allows(first, &self.units),
            Move::Exchange(this, other) => state.allows_exchange(this, other),
        };
        is_allowed.then_some(drawn)
    }

    fn draw_hot(&mut self, state: &OrderState<'_>, kind: MoveKind, random: &mut Random) -> Option<Move> {
        let unit = *self.hot.get(random.below(self.hot.len()))?;
        let from = state.position(unit);
        let (low, high) = self.regions[from];
        let to = low + random.below(high - low);
        if from == to {
            return None;
        }
        let first = match kind {
            MoveKind::SwapSameSize => return self.swap_same_size(state, from, to, random),
            MoveKind::Swap => return self.swap(state, from, to),
            MoveKind::SwapLines => self.exchange(state, self.line(state, from), self.line(state, to)),
            MoveKind::SwapRun => self.swap_run(state, from, to),
            MoveKind::InsertLine => self.insert_line(state, from, to),
            MoveKind::Insert => self.insert(state, from, to, 1),
            MoveKind::InsertRun | MoveKind::RestoreNeighbour => {
                self.insert(state, from, to, 2 + random.below(5))
            }
        };
        first.map(Move::Replace)
    }

    /// Moves a unit next to the one declared before or behind it, in exchange for a unit of its kind.
    fn restore_neighbour(&mut self, state: &OrderState<'_>, random: &mut Random) -> Option<Move> {
        let unit = random.below(self.kinds.len());
        let from = state.position(unit);
        let (low, high) = self.regions[from];
        let to = if random.below(2) == 0 {
            state.position(unit.checked_sub(1)?) + 1
        } else {
            state.order().get(unit + 1).map(|_| state.position(unit + 1))?.checked_sub(1)?
        };
        let is_exchangeable = (low..high).contains(&to) && self.kinds[state.order()[to]] == self.kinds[unit];
        is_exchangeable.then(|| self.swap(state, from, to))?
    }

    fn swap(&mut self, state: &OrderState<'_>, this: usize, other: usize) -> Option<Move> {
        let units = [state.order()[this], state.order()[other]];
        let is_free = !units.iter().any(|unit| self.keep_order[*unit]);
        if this != other && is_free && self.kinds[units[0]] == self.kinds[units[1]] {
            return Some(Move::Exchange(this.min(other), this.max(other)));
        }
        self.exchange(state, (this, this + 1), (other, other + 1)).map(Move::Replace)
    }

    /// Positions of the units that begin on the line of a position, within its region.
    fn line(&self, state: &OrderState<'_>, place: usize) -> (usize, usize) {
        let (low, high) = self.regions[place];
        let (first, end) = state.units_on_line(place);
        (first.max(low), end.min(high))
    }

    pub(super) fn exchange(
        &mut self,
        state: &OrderState<'_>,
        a: (usize, usize),
        b: (usize, usize),
    ) -> Option<usize> {
        let (a, b) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        if a.1 > b.0 || a.0 == a.1 || b.0 == b.1 {
            return None;
        }
        self.units.clear();
        for run in [b.0..b.1, a.1..b.0, a.0..a.1] {
            self.units.extend_from_slice(&state.order()[run]);
        }
        Some(a.0)
    }

    /// Exchanges with a unit of the same size, if a few draws find one.
    fn swap_same_size(
        &mut self,
        state: &OrderState<'_>,
        from: usize,
        to: usize,
        random: &mut Random,
    ) -> Option<Move> {
        let (low, high) = self.regions[from];
        let bits = |place: usize| self.bits[state.order()[place]];
        let draws = (0..4).map(|_| low + random.below(high - low));
        let mut same_size = std::iter::once(to).chain(draws).filter(|place| *place != from);
        let to = same_size.find(|place| bits(*place) == bits(from))?;
        self.swap(state, from, to)
    }

    /// Exchanges a unit with units from another position on with the same total size.
    fn swap_run(&mut self, state: &OrderState<'_>, from: usize, to: usize) -> Option<usize> {
        let high = self.regions[from].1;
        let bits = |place: usize| self.bits[state.order()[place]];
        let mut sum = 0;
        let mut end = to;
        while end < high && sum < bits(from) {
            sum += bits(end);
            end += 1;
        }
        let run = (to, end);
        (sum == bits(from)).then(|| self.exchange(state, (from, from + 1), run))?
    }

    /// Moves the units on the line of one position in front of the line of another.
    fn insert_line(&mut self, state: &OrderState<'_>, from: usize, to: usize) -> Option<usize> {
        let (a, b) = (self.line(state, from), self.line(state, to));
        if a.0 < b.0 { self.exchange(state, a, (a.1, b.0)) } else { self.exchange(state, (b.0, a.0), a) }
    }

    /// Moves `count` units so that they begin at another position.
    fn insert(&mut self, state: &OrderState<'_>, from: usize, to: usize, count: usize) -> Option<usize> {
        let high = self.regions[from].1;
        if from + count > high || to + count > high {
            return None;
        }
        if to < from {
            self.exchange(state, (to, from), (from, from + count))
        } else {
            self.exchange(state, (from, from + count), (from + count, to + count))
        }
    }
}

fn regions(problem: &Problem<'_>, order: &[usize]) -> Vec<(usize, usize)> {
    let region = |unit: &usize| problem.constraints.units[*unit].region;
    let mut regions = Vec::with_capacity(order.len());
    for run in order.chunk_by(|this, other| region(this) == region(other)) {
        let first = regions.len();
        regions.extend(run.iter().map(|_| (first, first + run.len())));
    }
    regions
}
