//! Memory that a unit asks for as bytes and uses as objects of one type alone: `(struct node *)(base + link)`.

use crate::addresses::{function, manages_memory};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::sum::View;
use crate::sum::nearby::{is_wrapping, outermost};
use crate::tree::Index;

/// Whether an address is counted from a variable of this unit that only has memory which a function gives, and of which
/// nothing is used but objects of a type. What these objects are made of was written as such objects.
pub(super) fn is_arena<'u>(view: View<'_, '_, 'u>, address: Index, to: Type<'u>) -> bool {
    let Some(variable) = variable_of(view, address).filter(|variable| {
        variable.kind() == Kind::Variable && !variable.is_shared() && !variable.is_initialized()
    }) else {
        return false;
    };
    let names = |index: &Index| {
        let named = view.cursor(*index).and_then(Cursor::referenced).map(Cursor::identity);
        view.tree.kind(*index) == Kind::Name && named == Some(variable.identity())
    };
    (0..view.tree.len()).filter(names).all(|name| is_harmless(view, name, to))
}

/// The variable that an address is counted from: `base + link`.
fn variable_of<'u>(view: View<'_, '_, 'u>, address: Index) -> Option<Cursor<'u>> {
    let mut at = view.peeled(address);
    while view.tree.kind(at) == Kind::Binary {
        let is_pointer = |side: &Index| view.cursor(*side).is_some_and(|side| side.ty().pointee().is_some());
        at = view.peeled(view.tree.values(at).find(is_pointer)?);
    }
    view.cursor(at).filter(|_| view.tree.kind(at) == Kind::Name)?.referenced()
}

/// Whether all that code does with a variable here is to give it new memory, to give that back, to compare it, or to take an
/// address that is counted from it for an object's.
fn is_harmless<'u>(view: View<'_, '_, 'u>, name: Index, to: Type<'u>) -> bool {
    let mut at = name;
    while let Some((inner, parent)) = outermost(view, at, is_wrapping) {
        let taken = taken_for(view, name, inner);
        if taken.is_some_and(|taken| !matches!(taken.kind(), TypeKind::Void | TypeKind::Byte)) {
            return taken.is_some_and(|taken| taken.equals(to));
        }
        let operator = view.cursor(parent).map(Cursor::binary_operator);
        match (view.tree.kind(parent), operator) {
            (Kind::Binary, Some(Operator::Add)) => at = parent,
            (Kind::Binary, Some(Operator::Compare)) => return true,
            (Kind::Binary, Some(Operator::Assign)) => {
                let mut sides = view.tree.values(parent);
                let (left, right) = (sides.next(), sides.next());
                return left == Some(inner) && right.is_some_and(|value| is_new(view, value));
            }
            (Kind::Call, _) => return manages(view, parent),
            _ => return false,
        }
    }
    false
}

/// The type that the outermost conversion gives an address which is counted from a variable.
fn taken_for<'u>(view: View<'_, '_, 'u>, name: Index, outer: Index) -> Option<Type<'u>> {
    view.cursor(outer).filter(|_| outer != name)?.ty().pointee()
}

/// Whether a value is memory that a function gives, or nothing.
fn is_new(view: View<'_, '_, '_>, value: Index) -> bool {
    let value = view.peeled(value);
    view.tree.kind(value) == Kind::Call && manages(view, value) || view.tree.kind(value) == Kind::Integer
}

/// Whether a call gives memory or takes it back, by a function of the system.
fn manages(view: View<'_, '_, '_>, call: Index) -> bool {
    function(view, call).is_some_and(|by| by.is_of_system() && manages_memory(&by.name()))
}
