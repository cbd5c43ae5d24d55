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
    view.cursor(index).filter(|_| !has_address(view, index))?.constant()
}

/// Whether an expression computes with an address. What is only asked for its size isn't computed.
fn has_address(view: View<'_, '_, '_>, index: Index) -> bool {
    let is_address =
        |node: Index| view.cursor(node).is_some_and(|node| node.ty().kind() == TypeKind::Pointer);
    let below = view.tree.below(index);
    let (mut node, end) = (index, below.end.max(index + 1));
    while node < end {
        if is_address(node) {
            return true;
        }
        let is_size = view.tree.kind(node) == Kind::SizeOf;
        node = if is_size { view.tree.below(node).end.max(node + 1) } else { node + 1 };
    }
    false
}
