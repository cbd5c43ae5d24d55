//! Bits of objects, and of pointers to their members, taken for something else.

use crate::clang::{Cursor, Identity, Kind, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    if view.tree.kind(index) == Kind::BitCast {
        return objects(view, index, found);
    }
    let Some(node) = view.cursor(index).filter(|_| !view.is_offset_of(index)) else { return };
    let Some(from) = view.tree.only(index).and_then(|inner| view.cursor(inner)).map(Cursor::ty) else {
        return;
    };
    let to = node.ty();
    if !from.is_known()
        || !to.is_known()
        || from.equals(to)
        || from.kind() == TypeKind::Void
        || to.kind() == TypeKind::Void
    {
        return;
    }
    pointers(view, node, (from, to), found);
}

/// `__builtin_bit_cast(T, object)`: libclang tells the types only of what stands around it.
fn objects<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
    let function = holders.find(|holder| view.tree.kind(*holder) == Kind::Function);
    let result = function.and_then(|function| view.cursor(function)?.ty().result());
    let around = view.tree.children(index).chain(view.tree.parent(index));
    let types = around.filter_map(|at| view.cursor(at)).map(Cursor::ty).chain(result);
    let is_in = |ty: Type<'u>| {
        let class = ty.member_class().and_then(|class| view.records.subject(class));
        view.records.within(ty).into_iter().chain(class)
    };
    let mut subjects: Vec<usize> = types.flat_map(is_in).collect();
    subjects.sort_unstable();
    subjects.dedup();
    for subject in subjects {
        let why = "its bits are taken for another type's".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
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

/// `new (bytes) T`, where the bytes are used as bytes too.
pub(super) fn made<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let Some(made) = node.ty().pointee() else { return };
    for place in view.tree.values(index).map(|place| view.peeled(place)) {
        let declared =
            view.cursor(place).filter(|place| is_array_of_bytes(place.ty())).and_then(Cursor::referenced);
        let Some(array) = declared.filter(|array| is_read(view, array.identity())) else { continue };
        for subject in view.records.within(made) {
            let why = format!("is made in {}, which is used as bytes", array.name());
            found.push(Found { subject, node, demand: Demand::Whole, why });
        }
    }
}

fn is_array_of_bytes(ty: Type<'_>) -> bool {
    ty.element().is_some_and(|element| matches!(element.kind(), TypeKind::Byte | TypeKind::Number))
}

/// Whether an array is used for more than to make objects in it and to take their address.
fn is_read(view: View<'_, '_, '_>, array: Identity) -> bool {
    let is_own = |index: &Index| {
        matches!(view.tree.kind(*index), Kind::Name | Kind::MemberAccess)
            && view.cursor(*index).and_then(Cursor::referenced).is_some_and(|own| own.identity() == array)
    };
    let is_other = |index: Index| {
        let mut at = index;
        while let Some(parent) = view.tree.parent(at) {
            match view.tree.kind(parent) {
                Kind::Cast if view.cursor(parent).is_some_and(|cast| leads_to_record(cast.ty())) => {
                    return false;
                }
                Kind::Unexposed | Kind::Paren | Kind::Unary | Kind::Cast => at = parent,
                Kind::New | Kind::SizeOf => return false,
                _ => return true,
            }
        }
        true
    };
    (0..view.tree.len()).filter(is_own).any(is_other)
}

fn leads_to_record(ty: Type<'_>) -> bool {
    ty.pointee().is_some_and(|own| own.kind() == TypeKind::Record)
}

/// A member of a union that a template makes: its other members have the same bytes.
pub(super) fn alternative<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index) else { return };
    let union = node.referenced().filter(|member| member.kind() == Kind::Member).and_then(Cursor::holder);
    let is_made = |union: &Cursor<'u>| union.template().is_some() && !union.is_of_system();
    let Some(union) = union.filter(|union| union.kind() == Kind::Union).filter(is_made) else { return };
    let members = view.records.members(union.ty());
    let has_bytes = members.iter().any(|member| {
        matches!(member.ty.kind(), TypeKind::Number | TypeKind::Pointer | TypeKind::Record)
            || member.ty.length().is_some_and(|length| length > 1)
    });
    if members.len() < 2 || !has_bytes {
        return;
    }
    for subject in members.iter().flat_map(|member| view.records.within(member.ty)) {
        let why = "shares its bytes with another member of a union".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}
