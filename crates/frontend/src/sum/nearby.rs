//! Objects that end where an address points: `(struct block *)memory - 1`.

use super::View;
use super::plain::constant;
use crate::clang::{Cursor, Identity, Kind, Operator, TypeKind};
use crate::tree::Index;

/// The number of objects that code goes back at once from an address that it takes for one of theirs:
/// `(T *)memory - 1`, `((T *)memory)[-1]`. Nothing if it doesn't.
pub(crate) fn counted_back(view: View<'_, '_, '_>, cast: Index) -> Option<i64> {
    let (index, parent) = outermost(view, cast, |kind| matches!(kind, Kind::Paren | Kind::Unexposed))?;
    let mut sides = view.tree.values(parent);
    let (left, right) = sides.next().zip(sides.next())?;
    let number = constant(view, right).filter(|_| left == index)?;
    let number = match view.tree.kind(parent) {
        Kind::Binary => {
            let operator = view.cursor(parent).map(Cursor::binary_operator);
            Some(number).filter(|_| operator == Some(Operator::Subtract))
        }
        Kind::Subscript => number.checked_neg(),
        _ => None,
    };
    number.filter(|number| *number > 0)
}

/// The outermost node around one through nodes of some kinds, and its parent.
pub(crate) fn outermost(
    view: View<'_, '_, '_>,
    index: Index,
    is_passed: impl Fn(Kind) -> bool,
) -> Option<(Index, Index)> {
    let (mut index, mut parent) = (index, view.tree.parent(index)?);
    while is_passed(view.tree.kind(parent)) {
        (index, parent) = (parent, view.tree.parent(parent)?);
    }
    Some((index, parent))
}

/// Whether a node stands for the value inside: brackets, conversions.
pub(crate) fn is_wrapping(kind: Kind) -> bool {
    matches!(kind, Kind::Paren | Kind::Unexposed | Kind::Cast)
}

/// The variable or member that an expression names.
pub(crate) fn named(view: View<'_, '_, '_>, index: Index) -> Option<Identity> {
    view.cursor(view.peeled(index)).and_then(Cursor::referenced).map(Cursor::identity)
}

/// Whether a node is the name of an array of which one element's value is read or written: `array[number]`, not its address.
pub(crate) fn is_element_used(view: View<'_, '_, '_>, name: Index) -> bool {
    let holder = outermost(view, name, |kind| matches!(kind, Kind::Unexposed | Kind::Paren));
    let Some((_, element)) = holder.filter(|(_, holder)| view.tree.kind(*holder) == Kind::Subscript) else {
        return false;
    };
    let outer = view.tree.parent(element);
    let operator = outer.and_then(|outer| view.cursor(outer)).map(Cursor::unary_operator);
    let is_value = view.cursor(element).is_some_and(|element| element.ty().kind() != TypeKind::Array);
    is_value && operator != Some(Operator::AddressOf)
}
