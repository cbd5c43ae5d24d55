//! Addresses that are compared with others.

use super::super::facts::{Comparison, End, State};
use super::follower::Follower;
use super::masks::MOST;
use crate::clang::{Cursor, Kind, Operator, TypeKind};
use crate::sum::nearby::{is_wrapping, outermost};
use crate::sum::plain::constant;
use crate::sum::roots::{has_common_root, sources};
use crate::tree::Index;

impl<'u> Follower<'_, '_, '_, 'u> {
    /// The address is compared with another expression. What is counted from the same variable leads into one object
    /// or member, and numbers are no other addresses.
    pub(crate) fn compared(&mut self, index: Index, other: Index, state: State) {
        let view = self.unit.view;
        if state.level > 0 || !self.may_be_address(index) || !self.may_be_address(other) {
            return;
        }
        let operator =
            view.tree.parent(index).and_then(|node| view.cursor(node)).map(Cursor::binary_operator);
        if !has_common_root(view, index, other) {
            let by = match operator {
                Some(Operator::Order) => Comparison::Order,
                _ if self.is_moved_on(other) => Comparison::Behind,
                _ => Comparison::Same,
            };
            self.end(index, state, End::Compared { by });
        }
    }

    /// Whether an expression is an address with a number added that the text doesn't say.
    fn is_moved_on(&self, index: Index) -> bool {
        let view = self.unit.view;
        let sum = view.peeled(index);
        view.cursor(sum).map(Cursor::binary_operator) == Some(Operator::Add)
            && self.ty(index).is_some_and(|ty| ty.kind() == TypeKind::Pointer)
            && view.tree.values(sum).all(|side| constant(view, side).is_none())
    }

    /// The address is subtracted from another expression, or that from it.
    pub(crate) fn subtracted(
        &mut self,
        index: Index,
        (difference, other): (Index, Index),
        is_left: bool,
        state: State,
    ) {
        let view = self.unit.view;
        let is_pointer = |at: Index| self.ty(at).is_some_and(|ty| ty.kind() == TypeKind::Pointer);
        // A number that comes from no pointer here may as well be a member's place.
        let is_address = || is_pointer(other) || sources(view, other).into_iter().any(is_pointer);
        if state.level > 0 || state.is_number || !self.may_be_address(other) || !is_address() {
            return;
        }
        if is_left && let Some(bytes) = self.rest_of_distance(difference) {
            self.end(difference, state, End::Masked { bytes });
        }
        // Where the text names the members, the range between them is asked by itself.
        let is_address_of =
            |node: Index| view.cursor(node).map(Cursor::unary_operator) == Some(Operator::AddressOf);
        let is_named = [index, other]
            .into_iter()
            .any(|side| std::iter::once(side).chain(view.tree.below(side)).any(is_address_of));
        if !is_named && !has_common_root(view, index, other) {
            let by = if is_left { Comparison::To } else { Comparison::From };
            self.end(index, state, End::Compared { by });
        }
    }

    /// Bytes that a distance is taken to be a multiple of: `(address - begin) >> 3`, `(address - begin) / 8`.
    fn rest_of_distance(&self, difference: Index) -> Option<u64> {
        let view = self.unit.view;
        let (left, operation) = outermost(view, difference, is_wrapping)?;
        let (own, by) = {
            let mut sides = view.tree.values(operation);
            (sides.next()?, sides.next()?)
        };
        let by = constant(view, by).filter(|_| own == left)?;
        match view.cursor(operation)?.binary_operator() {
            Operator::ShiftRight => 1_u64.checked_shl(u32::try_from(by).ok()?),
            Operator::Divide => u64::try_from(by).ok(),
            _ => None,
        }
        .filter(|bytes| (2..=MOST).contains(bytes))
    }

    fn may_be_address(&self, index: Index) -> bool {
        let view = self.unit.view;
        let peeled = view.peeled(index);
        let kind = view.tree.kind(peeled);
        match self.ty(index).map(|ty| (ty.kind(), ty.size())) {
            Some((TypeKind::Pointer, _)) => kind != Kind::Integer,
            // Members that are numbers are seldom addresses.
            Some((TypeKind::Number, Some(8))) => {
                !matches!(kind, Kind::Integer | Kind::MemberAccess | Kind::SizeOf)
            }
            _ => false,
        }
    }
}
