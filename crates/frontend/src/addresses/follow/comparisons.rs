//! Addresses that are compared with others.

use super::super::facts::{End, State};
use super::follower::Follower;
use crate::clang::{Cursor, Kind, Operator, TypeKind};
use crate::sum::roots::has_common_root;
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
            self.end(index, state, End::Compared { has_order: operator == Some(Operator::Order) });
        }
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
