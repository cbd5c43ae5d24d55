//! Functions without a body, by the types of what they are handed.

use super::super::contracts::{Does, of_library};
use super::super::facts::End;
use crate::clang::{Cursor, Type, TypeKind};

/// The end of an address in a function without a body that is called where nobody sees how far it goes.
pub(crate) fn alone(function: Cursor<'_>, own: Type<'_>) -> Option<End> {
    let by = function.name();
    match of_library(&by) {
        Does::Sets | Does::Moves | Does::Reads if own.kind() == TypeKind::Void => {
            Some(End::Bytes { count: None, by })
        }
        _ => text(function, own),
    }
}

/// The end of an address in a function of texts or numbers that has no body.
fn text(function: Cursor<'_>, own: Type<'_>) -> Option<End> {
    let by = function.name();
    match own.kind() {
        TypeKind::Byte => Some(End::Text { by }),
        TypeKind::Number => Some(End::Elements { by }),
        _ => None,
    }
}
