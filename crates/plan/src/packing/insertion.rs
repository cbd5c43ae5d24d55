//! Units taken out of an order and put back where the struct ends earliest.
//!
//! Dynamic programming over the order that is left and the set of units put back so far. It is exact: of two ways that
//! placed the same units, the one that ends earlier is never worse for what follows. Whether the last unit is a run of
//! bit-fields is part of the state, because two of them may not touch.

use crate::cost::BuildSlots;
use fieldline_layout::constraint::Constraints;

/// Most units put back at once.
pub(super) const MOST: usize = 3;
/// By units put back, as a mask, and by whether the last unit is a run of bit-fields.
type Row = [[Option<Reached>; 2]];
/// Room for the longest row.
const ROOM: usize = 1 << MOST;

/// Where a way has got to: the end in bits, how far units went, the unit placed last and the state before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reached {
    end: u64,
    distance: usize,
    /// Which of the units put back came last; none if it was one of the rest.
    last: Option<usize>,
    was_bits: bool,
}

/// Before the first unit.
const START: Reached = Reached { end: 0, distance: 0, last: None, was_bits: false };

pub(super) struct Insertion<'a> {
    pub(super) constraints: &'a Constraints,
    pub(super) build: &'a BuildSlots,
    pub(super) rest: &'a [usize],
    /// Units to put back, at most [`MOST`], each with its place before.
    pub(super) moving: &'a [(usize, usize)],
    /// Whether the first of them may go back to its place.
    pub(super) may_stay: bool,
}

impl Insertion<'_> {
    /// The earliest end in bits, if the units can be put back at all.
    pub(super) fn earliest_end(&self) -> Option<u64> {
        let (mut here, mut next) = ([[None; 2]; ROOM], [[None; 2]; ROOM]);
        let width = self.full() + 1;
        here[0][0] = Some(START);
        for place in 0..self.rest.len() {
            self.put_back(place, &mut here[..width]);
            self.go_on(place, &here[..width], &mut next[..width]);
            std::mem::swap(&mut here, &mut next);
        }
        self.put_back(self.rest.len(), &mut here[..width]);
        self.best(&here[..width]).map(|(reached, _)| reached.end)
    }

    /// The order that ends earliest; of several the one whose units go least far.
    pub(super) fn order(&self) -> Option<Vec<usize>> {
        let width = self.full() + 1;
        let mut rows = vec![[None; 2]; width * (self.rest.len() + 1)];
        rows[0][0] = Some(START);
        for place in 0..self.rest.len() {
            let (here, next) = rows[place * width..(place + 2) * width].split_at_mut(width);
            self.put_back(place, here);
            self.go_on(place, here, next);
        }
        self.put_back(self.rest.len(), &mut rows[self.rest.len() * width..]);
        self.walk_back(&rows)
    }

    /// The way that led to the best end.
    fn walk_back(&self, rows: &Row) -> Option<Vec<usize>> {
        let width = self.full() + 1;
        let (_, mut bits) = self.best(&rows[self.rest.len() * width..])?;
        let (mut place, mut mask) = (self.rest.len(), self.full());
        let mut order = Vec::with_capacity(self.rest.len() + self.moving.len());
        while place > 0 || mask > 0 {
            let reached = rows[place * width + mask][usize::from(bits)]?;
            match reached.last {
                Some(index) => {
                    order.push(self.moving[index].0);
                    mask &= !(1 << index);
                }
                None => {
                    place -= 1;
                    order.push(self.rest[place]);
                }
            }
            bits = reached.was_bits;
        }
        order.reverse();
        Some(order)
    }

    fn full(&self) -> usize {
        (1 << self.moving.len()) - 1
    }

    fn best(&self, row: &Row) -> Option<(Reached, bool)> {
        let ends = row[self.full()];
        let ends = [(ends[0], false), (ends[1], true)].into_iter();
        ends.filter_map(|(reached, bits)| Some((reached?, bits))).min()
    }

    /// Puts units back behind the first `place` of the rest.
    fn put_back(&self, place: usize, row: &mut Row) {
        for mask in 0..self.full() {
            for bits in [false, true] {
                let Some(reached) = row[mask][usize::from(bits)] else { continue };
                let left = (0..self.moving.len()).filter(|index| mask & (1 << index) == 0);
                for index in left.filter(|index| self.fits(*index, place)) {
                    let (unit, from) = self.moving[index];
                    let distance = reached.distance + place.abs_diff(from);
                    let next = self.step(reached, bits, unit, Some(index), distance);
                    improve(row, mask | (1 << index), next);
                }
            }
        }
    }

    fn go_on(&self, place: usize, row: &Row, next: &mut Row) {
        next.fill([None; 2]);
        for (mask, ends) in row.iter().enumerate() {
            for bits in [false, true] {
                let Some(reached) = ends[usize::from(bits)] else { continue };
                let step = self.step(reached, bits, self.rest[place], None, reached.distance);
                improve(next, mask, step);
            }
        }
    }

    fn step(
        &self,
        before: Reached,
        was_bits: bool,
        unit: usize,
        last: Option<usize>,
        distance: usize,
    ) -> Option<(bool, Reached)> {
        let is_bits = self.constraints.units[unit].is_bit_run;
        let end = self.build.place(unit, before.end).1;
        (!(is_bits && was_bits)).then_some((is_bits, Reached { end, distance, last, was_bits }))
    }

    /// Whether a unit may stand behind the first `place` of the rest.
    fn fits(&self, index: usize, place: usize) -> bool {
        let (unit, from) = self.moving[index];
        let region = |unit: &usize| self.constraints.units[*unit].region;
        let own = region(&unit);
        let before = place.checked_sub(1).and_then(|before| self.rest.get(before));
        (self.may_stay || place != from)
            && before.is_none_or(|before| region(before) <= own)
            && self.rest.get(place).is_none_or(|behind| own <= region(behind))
    }
}

fn improve(row: &mut Row, mask: usize, step: Option<(bool, Reached)>) {
    let Some((is_bits, reached)) = step else { return };
    let known = &mut row[mask][usize::from(is_bits)];
    if known.is_none_or(|known| (reached.end, reached.distance) < (known.end, known.distance)) {
        *known = Some(reached);
    }
}
