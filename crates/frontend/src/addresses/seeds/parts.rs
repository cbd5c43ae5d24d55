//! Numbers that the program puts together of parts, which may be those of an address.

use super::super::names;
use super::reader::{Reader, is_open};
use crate::clang::{Cursor, Operator};
use crate::sum::nearby::{is_wrapping, named, outermost};
use crate::tree::Index;
use std::collections::BTreeSet;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// `high << 32`, `number = number * 10 + digit`, `number |= bits << at`.
    pub(crate) fn put_together(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(node) = view.cursor(index).filter(|node| is_open(node.ty())) else { return };
        let Some(by) = view.tree.values(index).nth(1) else { return };
        let by = view.cursor(by).and_then(Cursor::constant);
        let is_shift = node.binary_operator() == Operator::ShiftLeft;
        if is_shift && by == Some(names::HALF_BITS) {
            self.computed(index, names::HALVES);
        }
        if node.makes_room() || is_shift && self.is_one_of_several(index, by) || self.is_further_digit(index)
        {
            self.computed(self.whole(index), names::PARTS);
        }
    }

    /// The number that a part is joined to, with all others.
    fn whole(&self, part: Index) -> Index {
        let view = self.unit.view;
        let is_joined = |at: Index| {
            matches!(view.cursor(at).map(Cursor::binary_operator), Some(Operator::Bits | Operator::Add))
        };
        let mut top = part;
        while let Some((_, outer)) = outermost(view, top, is_wrapping).filter(|(_, outer)| is_joined(*outer))
        {
            top = outer;
        }
        top
    }

    /// Whether a shifted number is joined with others that are shifted otherwise.
    fn is_one_of_several(&self, shift: Index, by: Option<i64>) -> bool {
        let view = self.unit.view;
        let part = view.tree.values(shift).next();
        if part.is_none_or(|part| view.cursor(part).is_none_or(|part| part.constant().is_some())) {
            return false;
        }
        let top = self.whole(shift);
        let distance = |at: Index| {
            let is_shift = view.cursor(at)?.binary_operator() == Operator::ShiftLeft;
            view.cursor(view.tree.values(at).nth(1).filter(|_| is_shift)?)?.constant()
        };
        let distances: BTreeSet<i64> = view.tree.below(top).filter_map(distance).collect();
        let outer = outermost(view, top, is_wrapping).and_then(|(_, outer)| view.cursor(outer));
        let is_joined =
            matches!(outer.map(Cursor::binary_operator), Some(Operator::AssignBits | Operator::Move));
        (is_joined || top != shift) && (by.is_none() || distances.len() > 1)
    }

    /// Whether the variable in a product is given it, with another part: `number = number * 10 + digit`.
    fn is_further_digit(&self, product: Index) -> bool {
        let view = self.unit.view;
        let operator = view.cursor(product).map(Cursor::binary_operator);
        if !matches!(operator, Some(Operator::Multiply | Operator::ShiftLeft)) {
            return false;
        }
        let named = |at: Index| named(view, at);
        let Some((inner, sum)) = outermost(view, product, is_wrapping) else { return false };
        let is_sum = |at: Index| {
            let operator = view.cursor(at).map(Cursor::binary_operator);
            matches!(operator, Some(Operator::Bits | Operator::Add | Operator::Subtract))
        };
        let mut outer = Some((inner, sum));
        while let Some((_, at)) = outer.filter(|(_, at)| is_sum(*at)) {
            outer = outermost(view, at, is_wrapping);
        }
        let assigned = outer.map(|(_, at)| at);
        let assigned =
            assigned.filter(|at| view.cursor(*at).map(Cursor::binary_operator) == Some(Operator::Assign));
        let to = assigned.and_then(|at| view.tree.values(at).next()).and_then(named);
        let mut parts = view.tree.values(product);
        is_sum(sum) && to.is_some() && parts.any(|part| named(part) == to)
    }
}
