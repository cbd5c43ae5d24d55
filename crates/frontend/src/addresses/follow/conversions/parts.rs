//! Numbers that are parts of an address: halves, digits, bytes.

use super::super::super::facts::State;
use super::super::super::names;
use super::super::follower::Follower;
use crate::clang::{Cursor, Kind, Operator};
use crate::sum::nearby::{is_wrapping, named, outermost};
use crate::tree::Index;
use std::collections::BTreeSet;

/// Least number of different distances by which a number is shifted for all its parts.
const FEWEST: usize = 3;

impl<'u> Follower<'_, '_, '_, 'u> {
    /// `address >> 32`: with the lower half, it is an address again. Mixed with other numbers, it is a hash.
    pub(crate) fn shifted_back(&mut self, index: Index, parent: Index, by: Index, state: State) {
        let by = self.unit.view.cursor(by).and_then(Cursor::constant);
        let is_whole = state.level == 0 && !self.is_mixed(parent);
        if by == Some(names::HALF_BITS) && is_whole {
            self.hand(index, State { is_number: false, ..state }, names::HALVES.to_owned(), None);
        }
        if is_whole && !state.is_number && (by.is_none() || self.has_several_parts(index)) {
            self.hand(index, state, names::PARTS.to_owned(), None);
        }
        self.taken_apart(parent, state);
        self.push(parent, state.as_number());
    }

    /// `address / 10`, `address >>= 7`: where what is left stands for the address again, each part is taken in turn.
    pub(crate) fn divided(&mut self, index: Index, parent: Index, state: State) {
        if state.level == 0 && !state.is_number && self.is_left_of_it(index, parent) {
            self.hand(index, state, names::PARTS.to_owned(), None);
        }
        self.taken_apart(parent, state);
        self.push(parent, state.as_number());
    }

    /// Whether the variable in a number is given what is left of it.
    fn is_left_of_it(&self, index: Index, parent: Index) -> bool {
        let view = self.unit.view;
        if view.cursor(parent).is_some_and(Cursor::takes_apart) {
            return true;
        }
        let named = |at: Index| named(view, at);
        let outer = outermost(view, parent, is_wrapping).map(|(_, outer)| outer);
        let outer =
            outer.filter(|outer| view.cursor(*outer).map(Cursor::binary_operator) == Some(Operator::Assign));
        let to = outer.and_then(|outer| view.tree.values(outer).next()).and_then(named);
        to.is_some() && to == named(index)
    }

    /// Whether the variable in a number is shifted by several constants, or is given what is left of it.
    fn has_several_parts(&self, index: Index) -> bool {
        let view = self.unit.view;
        let parent = view.tree.parent(index);
        if parent.is_some_and(|parent| self.is_left_of_it(index, parent)) {
            return true;
        }
        let declared = view.cursor(view.peeled(index)).and_then(Cursor::referenced);
        let names = declared.and_then(|declared| self.unit.names.get(&declared.identity()));
        let distance = |name: &Index| {
            let (_, shift) = outermost(view, *name, is_wrapping)?;
            let is_shift =
                view.cursor(shift)?.binary_operator() == Operator::ShiftRight && !self.is_mixed(shift);
            view.cursor(view.tree.values(shift).nth(1).filter(|_| is_shift)?)?.constant()
        };
        let distances: BTreeSet<i64> = names.into_iter().flatten().filter_map(distance).collect();
        distances.len() >= FEWEST
    }

    /// Whether a number becomes a sum, a product or an exclusive or with one that isn't always the same.
    fn is_mixed(&self, index: Index) -> bool {
        let view = self.unit.view;
        let (mut index, mut outer) = (index, view.tree.parent(index));
        while let Some(at) = outer.filter(|at| is_wrapping(view.tree.kind(*at))) {
            (index, outer) = (at, view.tree.parent(at));
        }
        let Some((outer, operation)) = outer.and_then(|outer| Some((outer, view.cursor(outer)?))) else {
            return false;
        };
        let is_mixing = operation.is_exclusive_or()
            || matches!(
                operation.binary_operator(),
                Operator::Add | Operator::Subtract | Operator::Multiply | Operator::Move | Operator::MoveBack
            );
        let mut others = view.tree.values(outer).filter(|side| *side != index);
        let is_constant = |side| view.cursor(side).is_some_and(|side| side.constant().is_some());
        view.tree.kind(outer) == Kind::Binary && is_mixing && !others.any(is_constant)
    }
}
