//! Addresses of members.

use super::super::facts::{Origin, Outcome, State};
use super::super::follow::Follower;
use super::reader::Reader;
use crate::clang::{Cursor, Kind, Operator, TypeKind};
use crate::records::named_holder;
use crate::sum::{Sum, Term};
use crate::tree::Index;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// `&object->member`
    pub(crate) fn address(&mut self, index: Index) {
        let view = self.unit.view;
        if view.cursor(index).map(Cursor::unary_operator) != Some(Operator::AddressOf) {
            return;
        }
        let inner = view.tree.only(index).map(|inner| view.peeled(inner));
        if inner.is_some_and(|inner| view.tree.kind(inner) == Kind::MemberAccess) {
            self.member(index);
        }
    }

    /// `object->array`
    pub(crate) fn array(&mut self, index: Index) {
        if self.view().cursor(index).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Array) {
            self.member(index);
        }
    }

    pub(crate) fn member(&mut self, index: Index) {
        let mut follower = Follower::new(self.unit);
        follower.push(index, State::PLAIN);
        let outcome = follower.run();
        self.member_of(index, &self.unit.view.sum(index), outcome);
    }

    /// A member's address, as a sum, and where it goes.
    pub(crate) fn member_of(&mut self, index: Index, sum: &Sum<'u>, outcome: Outcome) {
        let view = self.unit.view;
        // What stands in front says which object it is.
        let Some((true, Term::Offset(path))) = sum.terms.last() else { return };
        let (Some(first), Some(last)) = (path.first(), path.last()) else { return };
        let Some(holder) = named_holder(*first).map(Cursor::ty) else { return };
        if view.records.within(holder).is_empty() {
            return;
        }
        let mut offset = holder.offset_of(&first.name()).unwrap_or(0);
        for member in path.iter().skip(1) {
            offset = offset.saturating_add(member.bit_offset().unwrap_or(0) / 8);
        }
        let ty = last.ty();
        let origin = Origin::Member {
            holder: self.unit.shape(holder),
            offset,
            size: ty.size().unwrap_or(0),
            is_array: matches!(ty.kind(), TypeKind::Array | TypeKind::Record),
        };
        self.depart(index, origin, outcome);
    }
}
