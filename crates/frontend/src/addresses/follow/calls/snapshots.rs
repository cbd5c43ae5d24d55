//! Arrays of bytes that only keep copies of whole objects: `memcpy(saved[at], object, sizeof *object)`, and back.

use super::super::super::contracts::moves_bytes;
use super::{Handed, arguments, function};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::sum::nearby::outermost;
use crate::sum::{Term, View};
use crate::tree::Index;

impl<'u> Handed<'_, '_, '_, 'u> {
    /// Whether an argument leads into an array of bytes of this unit, and all that code does with the array is to copy whole
    /// objects of the type of this argument to it and from it.
    pub(super) fn is_kept_whole(&self, other: Index) -> bool {
        let view = self.view;
        let own = self.arguments.get(self.number).and_then(|own| pointee(view, *own));
        let Some(own) = own.filter(|own| own.kind() == TypeKind::Record) else { return false };
        let array = array_of(view, other)
            .filter(|array| array.kind() == Kind::Variable && !array.is_shared() && !array.is_initialized());
        array.is_some_and(|array| {
            let names = self.unit.names.get(&array.identity());
            names.is_some_and(|names| names.iter().all(|name| copies_whole(view, *name, own)))
        })
    }
}

/// The type that an argument points to before it becomes a pointer to anything.
fn pointee<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Type<'u>> {
    view.cursor(view.peeled(index))?.ty().pointee()
}

/// The array of bytes whose begin, or one of whose rows, an expression is the address of.
fn array_of<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Cursor<'u>> {
    let mut at = view.peeled(index);
    if view.tree.kind(at) == Kind::Unary && view.cursor(at)?.unary_operator() == Operator::AddressOf {
        at = view.peeled(view.tree.only(at)?);
    }
    while view.tree.kind(at) == Kind::Subscript && view.cursor(at)?.ty().kind() == TypeKind::Array {
        at = view.peeled(view.tree.values(at).next()?);
    }
    let array = view.cursor(at).filter(|_| view.tree.kind(at) == Kind::Name)?.referenced()?;
    let innermost = std::iter::successors(array.ty().element(), |element| element.element()).last()?;
    (innermost.kind() == TypeKind::Byte).then_some(array)
}

/// Whether the name of an array is, as a whole or with a row's number, the address that a whole object of a type is copied
/// to or from.
fn copies_whole<'u>(view: View<'_, '_, 'u>, name: Index, ty: Type<'u>) -> bool {
    let is_same = |kind| matches!(kind, Kind::Paren | Kind::Unexposed | Kind::Cast | Kind::Subscript);
    let Some((argument, call)) = outermost(view, name, is_same) else { return false };
    if view.tree.kind(call) == Kind::SizeOf {
        return true;
    }
    let moves = function(view, call).is_some_and(|function| moves_bytes(&function.name()));
    let arguments = arguments(view, call);
    let [to, from, length] = arguments.as_slice() else { return false };
    let other = if *to == argument { *from } else { *to };
    // As a row's number, or in the length, the array is read.
    let is_address = array_of(view, argument).is_some() && (*to == argument || *from == argument);
    let is_whole = matches!(
        view.sum(*length).terms.as_slice(),
        [(true, Term::Size(whose, None))] if whose.equals(ty)
    );
    moves && is_address && is_whole && pointee(view, other).is_some_and(|other| other.equals(ty))
}
