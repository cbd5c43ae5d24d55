//! Addresses that stop being pointers to their type where the tree shows no conversion: in lists of C++, and as arguments of
//! functions of the compiler.

use super::super::facts::{End, State};
use super::super::follow;
use super::super::follow::Follower;
use super::reader::Reader;
use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::records::positions::{Position, positions};
use crate::tree::Index;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// `{ &object }` where the list's element, or the member that gets the value, is another pointer.
    pub(crate) fn unconverted_values(&mut self, list: Index) {
        let view = self.unit.view;
        let Some(ty) = view.cursor(list).map(Cursor::ty) else { return };
        let mut found: Vec<(Index, Type<'u>)> = Vec::new();
        for (value, position) in positions(view.tree, view.records, list) {
            match position {
                Position::Member(member) => found.push((value, member.ty())),
                Position::Element => found.push((value, ty)),
            }
        }
        for value in view.tree.children(list) {
            let names = view.tree.children(value).filter(|child| view.tree.kind(*child) == Kind::MemberName);
            let member = names.last().and_then(|name| view.cursor(name)?.referenced());
            let own = view.tree.children(value).last();
            found.extend(own.zip(member).map(|(own, member)| (own, member.ty())));
        }
        for (value, to) in found {
            self.unconverted(value, innermost(to));
        }
    }

    fn unconverted(&mut self, value: Index, to: Type<'u>) {
        let view = self.unit.view;
        let own = view.cursor(value).and_then(|value| value.ty().pointee());
        let Some(own) = own.filter(|own| own.kind() == TypeKind::Record) else { return };
        let Some(to) = to.pointee().filter(|to| !to.equals(own) && !view.records.derives(own, *to)) else {
            return;
        };
        let mut follower = Follower::new(self.unit);
        match to.kind() {
            TypeKind::Record => {
                let shape = self.unit.shape(to);
                follower.end(value, State::PLAIN, End::Record(shape));
            }
            TypeKind::Function => return,
            _ => follower.push(value, State::PLAIN),
        }
        let (origin, outcome) = (self.origin(own), follower.run());
        self.depart(value, origin, outcome);
    }

    /// `__builtin_assume_aligned(&object, 8)`
    pub(crate) fn unconverted_arguments(&mut self, call: Index) {
        let view = self.unit.view;
        let Some(function) = follow::function(view, call) else { return };
        for (number, argument) in follow::arguments(view, call).into_iter().enumerate() {
            let own = view.cursor(argument).and_then(|argument| argument.ty().pointee());
            let own = own.filter(|own| own.kind() == TypeKind::Record);
            if let Some(own) = own.filter(|_| follow::is_unconverted(function, number)) {
                let mut follower = Follower::new(self.unit);
                follower.push(argument, State::PLAIN);
                let (origin, outcome) = (self.origin(own), follower.run());
                self.depart(argument, origin, outcome);
            }
        }
    }
}

impl<'u> Reader<'_, '_, '_, 'u> {
    /// `std::reinterpret_pointer_cast<T>(pointer)`: C++'s library gives the same for another record than it was handed.
    pub(crate) fn given_for_another(&mut self, call: Index) {
        let view = self.unit.view;
        let is_library = |function: &Cursor<'u>| function.is_of_cpp() && function.is_of_system();
        if follow::function(view, call).filter(is_library).is_none() {
            return;
        }
        let Some((template, to)) = view.cursor(call).and_then(|call| made_for(call.ty())) else { return };
        for argument in follow::arguments(view, call) {
            let own = view.cursor(argument).and_then(|argument| made_for(argument.ty()));
            let Some((_, own)) = own.filter(|(own, _)| own.identity() == template.identity()) else {
                continue;
            };
            let is_related = own.equals(to) || view.records.derives(own, to) || view.records.derives(to, own);
            if is_related {
                continue;
            }
            let mut follower = Follower::new(self.unit);
            let shape = self.unit.shape(to);
            follower.end(argument, State::PLAIN, End::Record(shape));
            let (origin, outcome) = (self.origin(own), follower.run());
            self.depart(argument, origin, outcome);
        }
    }
}

/// The template that a type was made from, and the first record that it was made for.
fn made_for<'u>(ty: Type<'u>) -> Option<(Cursor<'u>, Type<'u>)> {
    let record = ty.template_arguments().into_iter().find(|own| own.kind() == TypeKind::Record)?;
    Some((ty.canonical().declaration()?.template()?, record))
}

/// The elements of an array in arrays.
fn innermost(ty: Type<'_>) -> Type<'_> {
    std::iter::successors(Some(ty), |ty| ty.element()).last().unwrap_or(ty)
}
