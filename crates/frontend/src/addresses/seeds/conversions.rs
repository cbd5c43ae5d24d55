//! Conversions at which an address stops being a pointer to its type.

use super::super::facts::{End, NUMBERED, Origin, Outcome, SINGLE, State};
use super::super::follow::Follower;
use super::super::names;
use super::reader::Reader;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::sum::nearby::{is_element_used, outermost};
use crate::sum::{Term, View};
use crate::tree::Index;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// A pointer to a record, or to bytes, becomes one to something else, or a number.
    pub(crate) fn converted(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(inner) = view.tree.only(index).filter(|_| !view.is_offset_of(index)) else { return };
        let (Some(from), Some(to)) = (view.cursor(inner).map(Cursor::ty), view.cursor(index).map(Cursor::ty))
        else {
            return;
        };
        self.union_cast(index, from, to);
        let Some(mut own) = from.pointee().or_else(|| from.element()) else {
            return self.object(index, from, to);
        };
        while let Some(element) = own.element() {
            own = element;
        }
        if let Some(record) = own.pointee().filter(|record| record.kind() == TypeKind::Record) {
            return self.pointer(inner, record, to);
        }
        let is_same = match to.kind() {
            TypeKind::Pointer => {
                to.pointee().is_some_and(|to| to.equals(own) || to.element().is_some_and(|to| to.equals(own)))
            }
            TypeKind::Number => false,
            _ => return,
        };
        let is_returned = || from.element().is_some() && self.is_returned(index) && self.is_numbered(inner);
        let is_kept = is_same && (own.kind() == TypeKind::Record || !is_returned());
        if is_kept || !matches!(own.kind(), TypeKind::Record | TypeKind::Byte | TypeKind::Number) {
            return;
        }
        // `va_arg` is a conversion of the list's type.
        if from.canonical().spelling().contains("va_list") {
            return;
        }
        if own.kind() != TypeKind::Record && self.is_of_subject(inner) {
            return;
        }
        let origin = match self.origin(own) {
            Origin::Other(name) if is_single(view, inner) => Origin::Other(format!("{SINGLE}{name}")),
            Origin::Other(name) if self.is_numbered(inner) => Origin::Other(format!("{NUMBERED}{name}")),
            origin => origin,
        };
        let mut follower = Follower::new(self.unit);
        follower.push(inner, beside(view, inner, own));
        let outcome = follower.run();
        self.depart(index, origin, outcome);
    }

    /// Whether an expression is the value that a function returns.
    fn is_returned(&self, index: Index) -> bool {
        let view = self.unit.view;
        let outer = outermost(view, index, |kind| matches!(kind, Kind::Paren | Kind::Unexposed));
        outer.is_some_and(|(_, parent)| view.tree.kind(parent) == Kind::Return)
    }

    /// Whether an expression is an array whose elements are values somewhere, or are listed where it is defined.
    fn is_numbered(&self, index: Index) -> bool {
        let view = self.unit.view;
        let index = view.peeled(index);
        let declared = view.cursor(index).filter(|array| array.ty().kind() == TypeKind::Array);
        let Some(declared) = declared.and_then(Cursor::referenced) else { return false };
        let names = self.unit.names.get(&declared.identity()).map_or(&[][..], Vec::as_slice);
        self.unit.is_filled(declared) || names.iter().any(|name| is_element_used(view, *name))
    }

    /// Whether an expression is the address of a subject's member, which is followed as such.
    fn is_of_subject(&self, index: Index) -> bool {
        let view = self.unit.view;
        let peeled = view.peeled(index);
        let is_member = view.cursor(peeled).map(Cursor::unary_operator) == Some(Operator::AddressOf);
        let sum = view.sum(peeled);
        let Some((true, Term::Offset(path))) = sum.terms.last().filter(|_| is_member) else { return false };
        path.first().is_some_and(|member| view.records.part(*member).is_some())
    }

    /// The address of a pointer becomes one of another pointer: what one is given, the other one has.
    pub(crate) fn pointer(&mut self, inner: Index, record: Type<'u>, to: Type<'u>) {
        let other = to.pointee().and_then(|to| to.pointee());
        if other.is_some_and(|other| other.equals(record)) || to.kind() != TypeKind::Pointer {
            return;
        }
        let mut follower = Follower::new(self.unit);
        if let Some(other) = other.filter(|other| other.kind() == TypeKind::Record) {
            let shape = self.unit.shape(other);
            follower.end(inner, State::PLAIN, End::Record(shape));
        }
        follower.push(inner, State { level: 1, ..State::PLAIN });
        let outcome = follower.run();
        let (shape, at) = (self.unit.shape(record), self.unit.place(inner));
        for (state, place, ..) in &outcome.places {
            let ends = vec![(State::PLAIN, End::Record(shape), at.clone())];
            self.passage(place.clone(), state.level, Outcome { ends, places: Vec::new() });
        }
        self.depart(inner, Origin::Object(shape), outcome);
    }

    /// `reinterpret_cast<char &>(object)`
    pub(crate) fn object(&mut self, index: Index, from: Type<'u>, to: Type<'u>) {
        let view = self.unit.view;
        let is_other = match to.kind() {
            TypeKind::Byte | TypeKind::Number | TypeKind::Other => true,
            TypeKind::Record => !to.equals(from),
            _ => false,
        };
        self.overlaid(index, from, to);
        let is_read = view.tree.kind(index) == Kind::Cast && from.kind() == TypeKind::Record && is_other;
        let has_call = view.tree.below(index).any(|below| view.tree.kind(below) == Kind::Call);
        if is_read && !has_call {
            let origin = self.origin(from);
            let mut follower = Follower::new(self.unit);
            let end = match to.kind() {
                TypeKind::Record => End::Record(self.unit.shape(to)),
                _ => End::Unknown,
            };
            follower.end(index, State::PLAIN, end);
            let outcome = follower.run();
            self.depart(index, origin, outcome);
        }
    }

    /// `reinterpret_cast<int (&)[3]>(object.member)`
    fn overlaid(&mut self, index: Index, from: Type<'u>, to: Type<'u>) {
        let view = self.unit.view;
        let Some(inner) = view.tree.only(index).map(|inner| view.peeled(inner)) else { return };
        if view.tree.kind(index) != Kind::Cast || view.tree.kind(inner) != Kind::MemberAccess {
            return;
        }
        let is_longer = matches!((to.size(), from.size()), (Some(to), Some(from)) if to > from);
        let is_lvalue = || view.cursor(index).is_some_and(|cast| cast.words().iter().any(|word| word == "&"));
        if !is_longer || !is_lvalue() {
            return;
        }
        let mut follower = Follower::new(self.unit);
        follower.end(index, State::PLAIN, End::Bytes { count: to.size(), by: to.spelling() });
        let outcome = follower.run();
        self.member_of(inner, &view.address_sum(inner), outcome);
    }

    /// A pointer that is a member of a union: what is written through one member is read through another.
    pub(crate) fn alternative(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(member) = view.cursor(index).and_then(Cursor::referenced) else { return };
        let union = member.holder().filter(|holder| holder.kind() == Kind::Union);
        let is_of_union = union.is_some();
        if let Some(union) = union.filter(|_| member.ty().kind() == TypeKind::Record) {
            self.unit.shape(union.ty());
        }
        let record =
            member.ty().pointee().filter(|pointee| pointee.kind() == TypeKind::Record && is_of_union);
        let Some(record) = record else { return };
        let shape = self.unit.shape(record);
        let written = view.tree.parent(index).filter(|parent| {
            let operator = view.cursor(*parent).map(Cursor::binary_operator);
            view.tree.kind(*parent) == Kind::Binary
                && operator == Some(Operator::Assign)
                && view.tree.values(*parent).next() == Some(index)
        });
        let mut follower = Follower::new(self.unit);
        match written {
            Some(_) => {
                follower.hand(index, State::PLAIN, names::variable(member), None);
                let outcome = follower.run();
                self.depart(index, Origin::Object(shape), outcome);
            }
            None => {
                follower.end(index, State::PLAIN, End::Record(shape));
                let outcome = follower.run();
                self.passage(names::variable(member), 0, outcome);
            }
        }
    }

    /// `{ pointer }` for a union of pointers, or for a parameter that takes any of them.
    pub(crate) fn union_list(&mut self, index: Index) {
        let view = self.unit.view;
        let union = view.cursor(index).and_then(|list| list.ty().canonical().declaration());
        let Some(union) = union.filter(|union| union.kind() == Kind::Union) else { return };
        for value in view.tree.children(index).collect::<Vec<_>>() {
            let is_designated =
                view.tree.children(value).any(|child| view.tree.kind(child) == Kind::MemberName);
            let inner = view.tree.children(value).last().filter(|_| is_designated);
            let value = inner.unwrap_or(value);
            let own = view.cursor(value).and_then(|value| value.ty().pointee());
            let Some(own) = own.filter(|own| own.kind() == TypeKind::Record) else { continue };
            let origin = self.origin(own);
            let mut follower = Follower::new(self.unit);
            follower.hand(value, State::PLAIN, union.identifier(), None);
            let outcome = follower.run();
            self.depart(value, origin, outcome);
        }
    }

    /// `(union u)pointer`
    fn union_cast(&mut self, index: Index, from: Type<'u>, to: Type<'u>) {
        let view = self.unit.view;
        let union = to.canonical().declaration().filter(|union| union.kind() == Kind::Union);
        let record = from.pointee().filter(|pointee| pointee.kind() == TypeKind::Record);
        if let (Kind::Cast, Some(union), Some(record)) = (view.tree.kind(index), union, record) {
            let mut follower = Follower::new(self.unit);
            follower.hand(index, State::PLAIN, union.identifier(), None);
            let outcome = follower.run();
            self.depart(index, self.origin(record), outcome);
        }
    }

    /// `va_arg(list, T *)`
    pub(crate) fn taken_from_list(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(to) = view.cursor(index).map(Cursor::ty).filter(|ty| ty.kind() == TypeKind::Pointer) else {
            return;
        };
        let inner = view.tree.only(index).and_then(|inner| view.cursor(inner));
        let is_list = inner.is_some_and(|inner| inner.ty().canonical().spelling().contains("va_list"));
        let has_other_type = to.pointee().is_some_and(|to| !to.spelling().contains("va_list"));
        if view.tree.kind(index) != Kind::Unexposed || !is_list || !has_other_type {
            return;
        }
        let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let function = holders.find(|holder| view.tree.kind(*holder) == Kind::Function);
        let Some(function) = function.and_then(|function| view.cursor(function)) else { return };
        let mut follower = Follower::new(self.unit);
        match to.pointee().filter(|pointee| pointee.kind() == TypeKind::Record) {
            Some(record) => {
                let shape = self.unit.shape(record);
                follower.end(index, State::PLAIN, End::Record(shape));
            }
            None => follower.push(index, State::PLAIN),
        }
        let outcome = follower.run();
        let may_be_record =
            to.pointee().is_some_and(|to| matches!(to.kind(), TypeKind::Record | TypeKind::Void));
        self.passage(names::plain_arguments(function), 0, outcome.clone());
        if may_be_record {
            self.passage(names::variable_arguments(function), 0, outcome);
        }
    }
}

/// Whether an address is that of a variable which is no array.
fn is_single(view: View<'_, '_, '_>, index: Index) -> bool {
    let address = view.peeled(index);
    let is_address = view.cursor(address).map(Cursor::unary_operator) == Some(Operator::AddressOf);
    let inner = view.tree.only(address).filter(|_| is_address).map(|inner| view.peeled(inner));
    let inner = inner.and_then(|inner| view.cursor(inner)).filter(|inner| inner.ty().element().is_none());
    let variable = inner.and_then(Cursor::referenced);
    variable.is_some_and(|variable| matches!(variable.kind(), Kind::Variable | Kind::Parameter))
}

/// How far an expression leads from a single object: `object + 1`.
fn beside<'u>(view: View<'_, '_, 'u>, index: Index, own: Type<'u>) -> State {
    objects_from(view, index).zip(own.size()).map_or(State::PLAIN, |(number, size)| {
        State::PLAIN.by(number.saturating_mul(i64::try_from(size).unwrap_or(i64::MAX)))
    })
}

fn objects_from(view: View<'_, '_, '_>, index: Index) -> Option<i64> {
    let index = view.peeled(index);
    let operator = view.cursor(index).map(Cursor::binary_operator);
    if view.tree.kind(index) != Kind::Binary || !matches!(operator, Some(Operator::Add | Operator::Subtract))
    {
        return None;
    }
    let mut sides = view.tree.values(index);
    let (object, number) = (sides.next()?, sides.next()?);
    let is_array =
        view.cursor(view.peeled(object)).is_some_and(|object| object.ty().kind() == TypeKind::Array);
    let number = view.cursor(number).and_then(Cursor::constant);
    let number = if operator == Some(Operator::Add) { number } else { number.map(i64::saturating_neg) };
    number.filter(|_| !is_array)
}
