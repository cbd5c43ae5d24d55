//! References: their names are the objects themselves.

use super::super::facts::{End, State};
use super::super::names;
use super::calls::{arguments, function};
use super::follower::Follower;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

/// The function that gives the address of whatever it is handed.
const ADDRESS_OF: &str = "addressof";

impl<'u> Follower<'_, '_, '_, 'u> {
    /// Whether a node is the name of a reference.
    pub(crate) fn is_reference(&self, index: Index) -> bool {
        let view = self.unit.view;
        let is_name = matches!(view.tree.kind(index), Kind::Name | Kind::MemberAccess);
        let declared = view.cursor(index).filter(|_| is_name).and_then(Cursor::referenced);
        declared.is_some_and(|declared| declared.ty().is_reference())
    }

    /// Reads and writes by the name of a reference are of the object; its address goes on.
    pub(crate) fn referred(&mut self, index: Index, parent: Index, state: State) {
        let view = self.unit.view;
        let cursor = view.cursor(parent);
        match view.tree.kind(parent) {
            Kind::Paren => self.referred_by(parent, state),
            Kind::Unary if cursor.map(Cursor::unary_operator) == Some(Operator::AddressOf) => {
                self.push(parent, state);
            }
            Kind::Unexposed
                if self.ty(parent).zip(self.ty(index)).is_some_and(|(to, from)| to.equals(from)) =>
            {
                self.referred_by(parent, state);
            }
            Kind::Cast if self.ty(parent).zip(self.ty(index)).is_some_and(|(to, from)| !to.equals(from)) => {
                let by = self.ty(parent).map(Type::spelling).unwrap_or_default();
                self.end(parent, state, End::Elements { by });
            }
            Kind::Call => self.bound(index, parent, state),
            Kind::Variable => {
                if let Some(variable) = cursor.filter(|variable| variable.ty().is_reference()) {
                    self.variable(parent, variable, state);
                }
            }
            _ => {}
        }
    }

    /// A node around the name of a reference that is the same object.
    fn referred_by(&mut self, index: Index, state: State) {
        if let Some(parent) = self.unit.view.tree.parent(index) {
            self.referred(index, parent, state);
        }
    }

    /// The object is an argument of a call.
    pub(crate) fn bound(&mut self, index: Index, call: Index, state: State) {
        let view = self.unit.view;
        let Some(function) = function(view, call) else { return };
        if function.is_of_system() {
            if is_address_of(function) {
                self.push(call, state);
            }
            return;
        }
        let Some(number) = arguments(view, call).iter().position(|argument| *argument == index) else {
            return;
        };
        let parameter = u32::try_from(number).ok().and_then(|number| function.ty().parameter(number));
        if parameter.is_some_and(Type::is_reference) {
            self.hand(call, state, names::parameter(function, number), None);
        }
    }
}

fn is_address_of(function: Cursor<'_>) -> bool {
    function.name().trim_start_matches('_') == ADDRESS_OF
}

impl<'u> Follower<'_, '_, '_, 'u> {
    /// `new (address) int[3]`
    pub(crate) fn made_at(&mut self, index: Index, made: Index, state: State) {
        let view = self.unit.view;
        let own = self.ty(made).and_then(Type::pointee);
        let Some(own) = own.filter(|own| !matches!(own.kind(), TypeKind::Record | TypeKind::Other)) else {
            return;
        };
        let is_number = |value: &Index| self.ty(*value).is_some_and(|ty| ty.kind() == TypeKind::Number);
        let counts = view.tree.values(made).filter(|value| *value != index && is_number(value));
        let count = counts.filter_map(|count| view.cursor(count)?.constant()).next().unwrap_or(1);
        let count =
            u64::try_from(count).ok().zip(own.size()).and_then(|(count, size)| count.checked_mul(size));
        self.end(made, state, End::Bytes { count, by: own.spelling() });
        self.push(made, state);
    }
}

/// Calls that keep or give the address of an argument that is no pointer.
pub(crate) fn binds(view: View<'_, '_, '_>, call: Index, number: usize) -> bool {
    let Some(function) = function(view, call) else { return false };
    let parameter = u32::try_from(number).ok().and_then(|number| function.ty().parameter(number));
    match function.is_of_system() {
        true => is_address_of(function),
        false => parameter.is_some_and(Type::is_reference),
    }
}
