//! Numbers that expressions always are, variables with one value followed.

use crate::clang::{Kind, Operator};
use crate::sum::View;
use crate::tree::Index;

/// Most variables and operators inside one another.
const DEEPEST: usize = 12;

/// The number that an expression always is.
pub(crate) fn number(view: View<'_, '_, '_>, index: Index) -> Option<i64> {
    within(view, index, DEEPEST)
}

fn within(view: View<'_, '_, '_>, index: Index, depth: usize) -> Option<i64> {
    let depth = depth.checked_sub(1)?;
    let cursor = view.cursor(index)?;
    if let Some(number) = cursor.constant() {
        return Some(number);
    }
    let index = view.peeled(index);
    let cursor = view.cursor(index)?;
    match view.tree.kind(index) {
        Kind::Name => {
            let declared = cursor.referenced()?;
            match view.flow.given(declared.identity()) {
                [value] if !view.flow.is_changed(declared.identity()) => within(view, *value, depth),
                _ => None,
            }
        }
        Kind::Binary => {
            let mut sides = view.tree.values(index);
            let (left, right) = (within(view, sides.next()?, depth)?, within(view, sides.next()?, depth)?);
            match cursor.binary_operator() {
                Operator::Add => left.checked_add(right),
                Operator::Subtract => left.checked_sub(right),
                Operator::Multiply => left.checked_mul(right),
                _ => None,
            }
        }
        _ => cursor.constant(),
    }
}
