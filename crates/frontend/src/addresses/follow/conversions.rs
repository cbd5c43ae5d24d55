//! Conversions of an address.

mod parts;

use super::super::facts::{End, State};
use super::super::shapes::wrappers::is_wrapper;
use super::follower::Follower;
use crate::clang::{Cursor, Identity, Kind, Operator, Type, TypeKind};
use crate::sum::nearby::counted_back;
use crate::sum::reach::reach;
use crate::tree::Index;

impl<'u> Follower<'_, '_, '_, 'u> {
    pub(crate) fn converted(&mut self, index: Index, parent: Index, state: State) {
        let view = self.unit.view;
        if view.is_offset_of(parent) {
            return;
        }
        let named =
            view.tree.children(parent).filter(|child| view.tree.kind(*child) == Kind::MemberName).last();
        if let Some(named) = named {
            return self.stored_as(named, state);
        }
        let list = view.tree.parent(parent).filter(|list| view.tree.kind(*list) == Kind::List);
        if let Some(list) = list.filter(|_| self.ty(parent).is_some_and(|ty| ty.kind() == TypeKind::Void)) {
            // `[number] = value`
            return self.listed(parent, list, state);
        }
        let (Some(to), Some(from)) = (self.ty(parent), self.ty(index)) else { return };
        if let Some(operands) = self.atomic_operands(parent) {
            return self.atomic(index, parent, &operands, state);
        }
        if view.tree.kind(parent) == Kind::Unexposed && view.tree.only(parent).is_none() && !to.equals(from) {
            return self.operated(index, state);
        }
        match to.kind() {
            TypeKind::Void => {}
            TypeKind::Number if state.level > 0 => {}
            // Of the two halves of an address, the higher one is followed: none is one without it.
            TypeKind::Number if to.size() < from.size() && !self.has_room(to) => {}
            TypeKind::Pointer => match to.pointee() {
                Some(pointee) if pointee.kind() == TypeKind::Record && state.level == 0 => {
                    self.taken_for(index, parent, (from, pointee), state);
                }
                Some(pointee) if pointee.kind() == TypeKind::Function => {}
                _ => {
                    self.lengthened(index, parent, (from, to), state);
                    self.push(parent, State { is_number: false, ..state });
                }
            },
            TypeKind::Number | TypeKind::Array => self.push(parent, state),
            TypeKind::Record if is_wrapper(to) => self.push(parent, state),
            TypeKind::Byte if from.kind() == TypeKind::Byte && self.is_only_summed(parent) => {}
            _ => self.not_understood(index, state),
        }
    }

    /// The address of a number becomes that of a longer one, or of an array: there are as many bytes for whoever gets it.
    fn lengthened(&mut self, index: Index, parent: Index, (from, to): (Type<'u>, Type<'u>), state: State) {
        let own = from.pointee().or_else(|| from.element()).filter(|own| own.kind() == TypeKind::Number);
        let (Some(own), Some(to)) = (own.and_then(Type::size), to.pointee()) else { return };
        let is_longer = matches!(to.kind(), TypeKind::Number | TypeKind::Array | TypeKind::Pointer)
            && to.size().is_some_and(|size| size > own);
        if is_longer && state.level == 0 && !self.unit.view.is_never_run(parent) {
            self.end(index, state, End::Bytes { count: to.size(), by: to.spelling() });
        }
    }

    /// Whether a number has room for an address.
    fn has_room(&self, number: Type<'u>) -> bool {
        number.size().is_some_and(|size| size >= self.unit.address_size)
    }

    /// Whether a byte of an address goes into numbers that no address fits in, and into no other byte: a hash, a test.
    fn is_only_summed(&self, byte: Index) -> bool {
        let view = self.unit.view;
        let (mut index, mut is_summed) = (byte, false);
        while let Some(parent) = view.tree.parent(index) {
            let operator = view.cursor(parent).map_or(Operator::Other, Cursor::binary_operator);
            match view.tree.kind(parent) {
                Kind::Paren | Kind::Unexposed | Kind::Cast | Kind::FunctionalCast => {}
                Kind::Binary if matches!(operator, Operator::Assign | Operator::Comma) => break,
                Kind::Binary if matches!(operator, Operator::Compare | Operator::Order | Operator::Logic) => {
                    return true;
                }
                Kind::Binary if self.is_too_narrow(parent) => is_summed = true,
                _ => break,
            }
            index = parent;
        }
        // The value itself goes on from here.
        is_summed && self.ty(index).is_some_and(|ty| ty.kind() == TypeKind::Number)
    }

    /// The address becomes one of a record.
    pub(crate) fn taken_for(
        &mut self,
        index: Index,
        parent: Index,
        (from, to): (Type<'u>, Type<'u>),
        state: State,
    ) {
        let view = self.unit.view;
        if view.is_never_run(parent) {
            return;
        }
        let own = from.pointee().or_else(|| from.element());
        match own.is_some_and(|own| own.equals(to)) {
            // Qualifiers and decay.
            true => self.push(parent, state),
            false => {
                let shape = self.unit.shape(to);
                let size = to.size().and_then(|size| i64::try_from(size).ok()).unwrap_or(0);
                let back = counted_back(view, parent).and_then(|number| number.checked_mul(-size));
                self.end(index, back.map_or(state, |bytes| state.by(bytes)), End::Record(shape));
                let named = |variable: Identity| self.unit.names.get(&variable).cloned().unwrap_or_default();
                if let Some(count) = own.and_then(|own| reach(view, parent, (own, to), named)) {
                    self.end(index, state, End::Bytes { count: Some(count), by: to.spelling() });
                }
                if self.is_counted_on(parent) {
                    self.push(parent, state);
                }
            }
        }
    }

    /// Whether code counts on from an address: `(struct head *)object + 1`.
    pub(crate) fn is_counted_on(&self, index: Index) -> bool {
        let view = self.unit.view;
        let mut parents = std::iter::successors(view.tree.parent(index), |parent| view.tree.parent(*parent));
        let outer = parents.find(|parent| view.tree.kind(*parent) != Kind::Paren);
        let Some((outer, cursor)) = outer.and_then(|outer| Some((outer, view.cursor(outer)?))) else {
            return false;
        };
        match view.tree.kind(outer) {
            Kind::Subscript => true,
            Kind::Unary => matches!(cursor.unary_operator(), Operator::Step | Operator::StepBack),
            Kind::Binary => matches!(cursor.binary_operator(), Operator::Add | Operator::Subtract),
            _ => false,
        }
    }
}
