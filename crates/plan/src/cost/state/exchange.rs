//! Units that are laid out alike and change places: nothing else moves, so nothing else is looked at.

use super::OrderState;
use crate::cost::Memo;

impl OrderState<'_> {
    /// Like [`OrderState::replace_below`] for units at two places, in order, that are laid out alike in all builds.
    pub fn exchange_below(&mut self, one: usize, other: usize, memo: &mut Memo, bound: f64) -> bool {
        let units = (self.order[one], self.order[other]);
        let before = self.seams_around(one, other);
        self.remember();
        self.undo.exchanged = Some((one, other));
        self.order.swap(one, other);
        (self.place_of[units.0], self.place_of[units.1]) = (other, one);
        let after = self.seams_around(one, other);
        self.cost = self.cost.wrapping_add(after).wrapping_sub(before);
        for (spans, moved) in self.spans.iter_mut().zip(&mut self.undo.moved) {
            moved.extend([(units.0, spans[units.0]), (units.1, spans[units.1])]);
            spans.swap(units.0, units.1);
        }
        self.settle_below(memo, bound)
    }

    /// Places behind which something else stands once two units are exchanged: those before either and themselves.
    fn seams_at(one: usize, other: usize) -> impl Iterator<Item = usize> {
        let before = [one.checked_sub(1), Some(one), other.checked_sub(1).filter(|place| *place != one)];
        before.into_iter().flatten().chain([other])
    }

    /// Cost of the seams around two places, the first before the second.
    fn seams_around(&self, one: usize, other: usize) -> u64 {
        let seams = Self::seams_at(one, other).filter_map(|place| {
            Some(self.problem.neighbours.seam(*self.order.get(place)?, *self.order.get(place + 1)?))
        });
        seams.sum()
    }

    /// Whether units at two places, in order, may be exchanged, offsets and units that keep their order apart.
    pub fn allows_exchange(&self, one: usize, other: usize) -> bool {
        let unit = |place: usize| match place {
            _ if place == one => self.order.get(other).copied(),
            _ if place == other => self.order.get(one).copied(),
            _ => self.order.get(place).copied(),
        };
        Self::seams_at(one, other).all(|place| {
            let pair = unit(place).zip(unit(place + 1));
            pair.is_none_or(|(before, behind)| self.problem.neighbours.may_follow(before, behind))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seams_are_those_before_and_behind_either_place() {
        let at = |one, other| OrderState::seams_at(one, other).collect::<Vec<_>>();
        assert_eq!(at(2, 5), [1, 2, 4, 5]);
        assert_eq!(at(2, 3), [1, 2, 3], "neighbours share one");
        assert_eq!(at(0, 4), [0, 3, 4], "nothing stands before the first");
    }
}
