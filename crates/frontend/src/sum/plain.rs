//! Numbers that expressions without addresses always are.

use crate::clang::{Kind, TypeKind};
use crate::sum::View;
use crate::tree::Index;

/// Whether an expression is zero, or a null pointer. libclang must not be asked for the number that an address is.
pub(crate) fn is_null(view: View<'_, '_, '_>, index: Index) -> bool {
    let peeled = view.peeled(index);
    let Some(node) = view.cursor(peeled) else { return false };
    match view.tree.kind(peeled) {
        Kind::Integer => node.constant() == Some(0),
        Kind::Other => node.words().first().is_some_and(|word| word == "nullptr"),
        _ => false,
    }
}

/// The number that an expression always is, if it is no address.
pub(crate) fn constant(view: View<'_, '_, '_>, index: Index) -> Option<i64> {
    if is_null(view, index) {
        return Some(0);
    }
    let is_address =
        |node: Index| view.cursor(node).is_some_and(|node| node.ty().kind() == TypeKind::Pointer);
    let mut nodes = std::iter::once(index).chain(view.tree.below(index));
    view.cursor(index).filter(|_| !nodes.any(is_address))?.constant()
}
