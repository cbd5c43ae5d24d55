//! Bits of objects, and of pointers to their members, taken for something else.

use crate::clang::{Cursor, Kind, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index).filter(|_| !view.is_offset_of(index)) else { return };
    let Some(from) = view.tree.only(index).and_then(|inner| view.cursor(inner)).map(Cursor::ty) else {
        return;
    };
    let to = node.ty();
    if from.equals(to) || from.kind() == TypeKind::Void || to.kind() == TypeKind::Void {
        return;
    }
    if view.tree.kind(index) == Kind::FunctionalCast {
        objects(view, node, (from, to), found);
    }
    pointers(view, node, (from, to), found);
}

/// `__builtin_bit_cast(T, object)`: what constructors and conversions make already has the type.
fn objects<'u>(
    view: View<'_, '_, 'u>,
    node: Cursor<'u>,
    (from, to): (Type<'u>, Type<'u>),
    found: &mut Findings<'u>,
) {
    let is_open = |ty: Type<'u>| !ty.is_known();
    if is_open(from) || is_open(to) || view.records.derives(from, to) || is_list(from) {
        return;
    }
    for subject in [from, to].into_iter().flat_map(|ty| view.records.within(ty)) {
        let why = "its bits are taken for another type's".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}

/// A list has no type of its own.
fn is_list(ty: Type<'_>) -> bool {
    ty.canonical().spelling().is_empty()
}

/// A pointer to a member becomes one of another class, or its bits are read.
fn pointers<'u>(
    view: View<'_, '_, 'u>,
    node: Cursor<'u>,
    (from, to): (Type<'u>, Type<'u>),
    found: &mut Findings<'u>,
) {
    let classes = match (from.member_class(), to.member_class()) {
        (Some(from), Some(to)) if view.records.derives(from, to) || view.records.derives(to, from) => return,
        (None, None) => {
            let inner = |ty: Type<'u>| ty.pointee().and_then(Type::member_class);
            match (inner(from), inner(to)) {
                (Some(from), Some(to)) if from.equals(to) => return,
                classes => classes,
            }
        }
        // Nothing, a test, and lists become one, too.
        (None, Some(_)) | (Some(_), None) => return,
        classes => classes,
    };
    let subjects = [classes.0, classes.1].into_iter().flatten();
    for subject in subjects.filter_map(|class| view.records.subject(class)) {
        let why = "bits of a pointer to one of its members are read".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}
