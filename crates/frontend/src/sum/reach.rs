//! How far code reaches that takes an object for a longer one.

use crate::clang::{Cursor, Identity, Kind, Type, TypeKind};
use crate::sum::View;
use crate::tree::Index;

/// How many bytes code reaches by the members of a longer record that a cast takes a shorter one for, if these go on
/// behind the shorter one. What begins with the shorter one holds it.
pub(crate) fn reach<'u>(
    view: View<'_, '_, 'u>,
    cast: Index,
    (own, to): (Type<'u>, Type<'u>),
    named: impl Fn(Identity) -> Vec<Index>,
) -> Option<u64> {
    let size = own.size().filter(|size| own.kind() == TypeKind::Record && *size > 0)?;
    let is_inside = || view.records.begins_with(to, own) || view.records.derives(to, own);
    if to.kind() != TypeKind::Record || to.size()? <= size || is_inside() {
        return None;
    }
    let mut at = cast;
    while let Some(parent) = view.tree.parent(at)
        && matches!(view.tree.kind(parent), Kind::Paren | Kind::Unexposed | Kind::Cast)
    {
        at = parent;
    }
    let holder = view.tree.parent(at).unwrap_or(at);
    let variable = match view.tree.kind(holder) {
        Kind::Variable => view.cursor(holder),
        Kind::Binary => view.tree.values(holder).next().and_then(|left| view.cursor(left)?.referenced()),
        _ => None,
    };
    let local = variable.filter(|variable| variable.kind() == Kind::Variable);
    let uses = local.map(|local| named(local.identity())).unwrap_or_default();
    let ends = uses.into_iter().chain([at]).filter_map(|at| end_of_member(view, at));
    ends.max().filter(|end| *end > size)
}

/// The end of the member that is asked of an object, in bytes from its begin.
fn end_of_member(view: View<'_, '_, '_>, object: Index) -> Option<u64> {
    let mut parents = std::iter::successors(view.tree.parent(object), |parent| view.tree.parent(*parent));
    let access = parents.find(|parent| !matches!(view.tree.kind(*parent), Kind::Paren | Kind::Unexposed))?;
    let is_access = view.tree.kind(access) == Kind::MemberAccess;
    let member = view.cursor(access).filter(|_| is_access).and_then(Cursor::referenced)?;
    (member.bit_offset()? / 8).checked_add(member.ty().size().unwrap_or(1))
}
