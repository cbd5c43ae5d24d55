//! Units taken out of an order and put back where the struct ends earliest.
//!
//! Dynamic programming over the order that is left and the set of units put back so far. It is exact: of two
//! partial orders of the same units, the one that ends earlier is never worse for what follows. Whether the
//! last unit is a run of bit-fields is part of the state, because two of them may not touch.

use crate::cost::BuildPlacement;
use fieldline_layout::constraint::Constraints;

/// Most units put back at once.
pub(super) const MAX_REINSERTED: usize = 3;
/// States by units put back, as a mask, and by whether the last unit is a run of bit-fields.
type StateRow = [[Option<InsertionState>; 2]];
/// States of the longest row.
const MAX_STATES: usize = 1 << MAX_REINSERTED;

/// A state of the dynamic programme: the end in bits, how far units moved, the unit placed last and the state
/// before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct InsertionState {
    end: u64,
    distance: usize,
    /// Which of the units put back came last; none if it was one of the rest.
    last: Option<usize>,
    was_bits: bool,
}

/// Before the first unit.
const START: InsertionState = InsertionState { end: 0, distance: 0, last: None, was_bits: false };

pub(super) struct Insertion<'a> {
    pub(super) constraints: &'a Constraints,
    pub(super) build: &'a BuildPlacement,
    pub(super) rest: &'a [usize],
    /// Units to put back, at most [`MAX_REINSERTED`], each with its position before.
    pub(super) moving: &'a [(usize, usize)],
    /// Whether units may return to their positions.
    pub(super) may_stay: bool,
}

impl Insertion<'_> {
    /// The earliest end in bits, if the units can be put back at all.
    pub(super) fn earliest_end(&self) -> Option<u64> {
        let (mut here, mut next) = ([[None; 2]; MAX_STATES], [[None; 2]; MAX_STATES]);
        let width = self.all_units() + 1;
        here[0][0] = Some(START);
        for position in 0..self.rest.len() {
            self.reinsert(position, &mut here[..width]);
            self.advance(position, &here[..width], &mut next[..width]);
            std::mem::swap(&mut here, &mut next);
        }
        self.reinsert(self.rest.len(), &mut here[..width]);
        self.best(&here[..width]).map(|(state, _)| state.end)
    }

    /// The order that ends earliest; of several the one whose units move least far.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        let width = self.all_units() + 1;
        let mut states = vec![[None; 2]; width * (self.rest.len() + 1)];
        states[0][0] = Some(START);
        for position in 0..self.rest.len() {
            let (here, next) = states[position * width..(position + 2) * width].split_at_mut(width);
            self.reinsert(position, here);
            self.advance(position, here, next);
        }
        self.reinsert(self.rest.len(), &mut states[self.rest.len() * width..]);
        self.trace_back(&states)
    }

    /// The order that led to the best end, by tracing back.
    fn trace_back(&self, states: &StateRow) -> Option<Vec<usize>> {
        let width = self.all_units() + 1;
        let (_, mut bits) = self.best(&states[self.rest.len() * width..])?;
        let (mut position, mut mask) = (self.rest.len(), self.all_units());
        let mut order = Vec::with_capacity(self.rest.len() + self.moving.len());
        while position > 0 || mask > 0 {
            let state = states[position * width + mask][usize::from(bits)]?;
            match state.last {
                Some(index) => {
                    order.push(self.moving[index].0);
                    mask &= !(1 << index);
                }
                None => {
                    position -= 1;
                    order.push(self.rest[position]);
                }
            }
            bits = state.was_bits;
        }
        order.reverse();
        Some(order)
    }

    fn all_units(&self) -> usize {
        (1 << self.moving.len()) - 1
    }

    fn best(&self, row: &StateRow) -> Option<(InsertionState, bool)> {
        let ends = row[self.all_units()];
        let ends = [(ends[0], false), (ends[1], true)].into_iter();
        ends.filter_map(|(state, bits)| Some((state?, bits))).min()
    }

    /// Puts units back behind the first `place` of the rest.
    fn reinsert(&self, position: usize, row: &mut StateRow) {
        for mask in 0..self.all_units() {
            for bits in [false, true] {
                let Some(state) = row[mask][usize::from(bits)] else { continue };
                let left = (0..self.moving.len()).filter(|index| mask & (1 << index) == 0);
                for index in left.filter(|index| self.fits(*index, position)) {
                    let (unit, from) = self.moving[index];
                    let distance = state.distance + position.abs_diff(from);
                    let next = self.step(state, bits, unit, Some(index), distance);
                    improve(row, mask | (1 << index), next);
                }
            }
        }
    }

    fn advance(&self, position: usize, row: &StateRow, next: &mut StateRow) {
        next.fill([None; 2]);
        for (mask, ends) in row.iter().enumerate() {
            for bits in [false, true] {
                let Some(state) = ends[usize::from(bits)] else { continue };
                let step = self.step(state, bits, self.rest[position], None, state.distance);
                improve(next, mask, step);
            }
        }
    }

    fn step(
        &self,
        before: InsertionState,
        was_bits: bool,
        unit: usize,
        last: Option<usize>,
        distance: usize,
    ) -> Option<(bool, InsertionState)> {
        let is_bits = self.constraints.units[unit].is_bit_run;
        let end = self.build.place(unit, before.end).1;
        (!(is_bits && was_bits)).then_some((is_bits, InsertionState { end, distance, last, was_bits }))
    }

    /// Whether a unit may stand behind the first `place` of the rest.
    fn fits(&self, index: usize, position: usize) -> bool {
        let (unit, from) = self.moving[index];
        let region = |unit: &usize| self.constraints.units[*unit].region;
        let own = region(&unit);
        let before = position.checked_sub(1).and_then(|before| self.rest.get(before));
        (self.may_stay || position != from)
            && before.is_none_or(|before| region(before) <= own)
            && self.rest.get(position).is_none_or(|behind| own <= region(behind))
    }
}

fn improve(row: &mut StateRow, mask: usize, step: Option<(bool, InsertionState)>) {
    let Some((is_bits, state)) = step else { return };
    let known = &mut row[mask][usize::from(is_bits)];
    if known.is_none_or(|known| (state.end, state.distance) < (known.end, known.distance)) {
        *known = Some(state);
    }
}
