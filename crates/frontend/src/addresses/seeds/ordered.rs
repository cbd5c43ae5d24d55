//! Code that asks which of two addresses is the lower one, and members whose addresses may come there.

use super::super::names;
use super::reader::Reader;
use crate::addresses::facts::{Lent, TakenMember};
use crate::addresses::follow;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::records::named_holder;
use crate::rules::ordering;
use crate::sum::orders::ordered_sides;
use crate::sum::roots::has_common_root;
use crate::sum::{Sum, Term};
use crate::tree::Index;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// `first < second` of two pointers to records that aren't counted from one variable.
    pub(crate) fn ordered(&mut self, index: Index) {
        let view = self.unit.view;
        let Some((left, right)) = ordered_sides(view, index).or_else(|| self.difference(index)) else {
            return;
        };
        let record = |side: Index| {
            let own = view.cursor(side).and_then(|side| side.ty().pointee());
            own.filter(|own| own.kind() == TypeKind::Record)
        };
        let Some((own, _)) = record(left).zip(record(right)) else { return };
        if !has_common_root(view, left, right) {
            let is_distance = self.difference(index).is_some();
            self.is_ordered((own, is_distance), index);
        }
    }

    /// `first - second`: its sign tells the order, its value the distance.
    fn difference(&self, index: Index) -> Option<(Index, Index)> {
        let view = self.unit.view;
        let is_difference = view.cursor(index).map(Cursor::binary_operator) == Some(Operator::Subtract);
        let mut sides = view.tree.values(index).filter(|_| is_difference);
        sides.next().zip(sides.next())
    }

    /// Containers and functions of C++'s library that order addresses.
    pub(crate) fn ordered_by_library(&mut self) {
        for (index, ty) in ordering(self.unit.view) {
            if ty.kind() == TypeKind::Record {
                self.is_ordered((ty, false), index);
            }
        }
    }

    fn is_ordered(&mut self, (ty, is_distance): (Type<'u>, bool), index: Index) {
        let (shape, at) = (self.unit.shape(ty), self.unit.place(index));
        self.ordered.entry((shape, is_distance)).or_insert(at);
    }

    /// A member of a subject that is a record, or several, and whose address somebody may keep.
    pub(crate) fn taken(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(member) = view.cursor(index) else { return };
        let mut ty = member.ty();
        let is_array = ty.kind() == TypeKind::Array;
        while let Some(element) = ty.element() {
            ty = element;
        }
        if ty.kind() != TypeKind::Record {
            return;
        }
        let is_address = |outer: Index| {
            view.cursor(outer).map(Cursor::unary_operator) == Some(Operator::AddressOf)
                && view.tree.kind(outer) == Kind::Unary
        };
        // References and methods of C++ take addresses that the text doesn't show.
        let is_cpp = ty.canonical().declaration().is_some_and(Cursor::is_of_cpp);
        let is_taken = is_array || is_cpp || view.tree.parent(index).is_some_and(is_address);
        if let Some((holder, offset)) = self.member_of_subject(&view.address_sum(index)).filter(|_| is_taken)
        {
            let (holder, ty) = (self.unit.shape(holder), self.unit.shape(ty));
            self.taken.insert(TakenMember { holder, offset, ty });
        }
    }

    /// The address of a member that is a record, for a function of another unit.
    pub(crate) fn lent(&mut self, call: Index) {
        let view = self.unit.view;
        let function = follow::function(view, call).filter(|function| function.definition().is_none());
        let Some(function) = function.filter(|function| !function.is_of_system()) else { return };
        for (number, argument) in follow::arguments(view, call).into_iter().enumerate() {
            let address = view.peeled(argument);
            if view.cursor(address).map(Cursor::unary_operator) != Some(Operator::AddressOf) {
                continue;
            }
            let sum = view.sum(address);
            let Some((true, Term::Offset(path))) = sum.terms.last() else { continue };
            if path.last().is_none_or(|last| last.ty().kind() != TypeKind::Record) {
                continue;
            }
            let Some((holder, offset)) = self.member_of_subject(&sum) else { continue };
            let place = names::parameter(function, number);
            let holder = self.unit.shape(holder);
            self.lent.insert(Lent { place, holder, offset });
        }
    }

    /// The record and the bytes in front of the member that an address is counted to, if that is a subject's.
    fn member_of_subject(&self, sum: &Sum<'u>) -> Option<(Type<'u>, u64)> {
        let (true, Term::Offset(path)) = sum.terms.last()? else { return None };
        let first = path.first()?;
        let holder = named_holder(*first)?;
        self.unit.view.records.part(*first)?;
        Some((holder.ty(), holder.ty().offset_of(&first.name()).unwrap_or(0)))
    }
}
