//! Addresses of objects that are kept together with their lengths: whoever reads them reads bytes.

use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::records::named_holder;
use crate::report::{Findings, Found};
use crate::sum::{Term, View};
use crate::tree::Index;

/// `{ object, sizeof(*object) }`
pub(super) fn listed<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(list) = view.cursor(index).filter(|list| list.ty().kind() == TypeKind::Record) else { return };
    let values: Vec<Index> = view.tree.children(index).map(|value| last_value(view, value)).collect();
    for ty in values.iter().filter_map(|value| object(view, *value)) {
        if values.iter().any(|value| is_size(view, *value, ty)) {
            tell(view, list, ty, found);
        }
    }
}

/// `buffer.address = object; buffer.length = sizeof(*object);`
pub(super) fn assigned<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some((holder, value)) = member_and_value(view, index) else { return };
    let (Some(ty), Some(node)) = (object(view, value), view.cursor(index)) else { return };
    let holders = std::iter::successors(view.tree.parent(index), |parent| view.tree.parent(*parent));
    let function = holders.filter(|parent| view.tree.kind(*parent) == Kind::Function).last();
    let mut others = function.map_or(0..0, |function| view.tree.below(function));
    let has_length = others.any(|other| {
        let length = member_and_value(view, other);
        length
            .is_some_and(|(whose, length)| whose.identity() == holder.identity() && is_size(view, length, ty))
    });
    if has_length {
        tell(view, node, ty, found);
    }
}

/// An assignment to a member: the member's record, and the value.
fn member_and_value<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<(Cursor<'u>, Index)> {
    if view.tree.kind(index) != Kind::Binary {
        return None;
    }
    let mut sides = view.tree.values(index);
    let (left, value) = (sides.next()?, sides.next()?);
    let is_assigned = view.tree.kind(left) == Kind::MemberAccess
        && view.cursor(index)?.binary_operator() == Operator::Assign;
    let member = view.cursor(left).filter(|_| is_assigned)?.referenced();
    let holder = named_holder(member.filter(|member| member.kind() == Kind::Member)?)?;
    Some((holder, value))
}

/// The value behind a designator.
fn last_value(view: View<'_, '_, '_>, index: Index) -> Index {
    let is_designated = view.tree.children(index).any(|child| view.tree.kind(child) == Kind::MemberName);
    let value = view.tree.children(index).last().filter(|_| is_designated && !view.is_offset_of(index));
    value.unwrap_or(index)
}

/// The type of the object whose address becomes one of bytes.
fn object<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Type<'u>> {
    let to = view.cursor(index)?.ty().pointee()?;
    if !matches!(to.kind(), TypeKind::Void | TypeKind::Byte) {
        return None;
    }
    let sum = view.sum(index);
    let start = sum.start.filter(|start| sum.terms.is_empty() && start.ty.kind() == TypeKind::Record)?;
    (!view.records.within(start.ty).is_empty()).then_some(start.ty)
}

fn is_size(view: View<'_, '_, '_>, index: Index, ty: Type<'_>) -> bool {
    let is_number = view.cursor(index).is_some_and(|cursor| cursor.ty().kind() == TypeKind::Number);
    is_number
        && matches!(view.sum(index).terms.as_slice(), [(true, Term::Size(whose, _))] if whose.equals(ty))
}

fn tell<'u>(view: View<'_, '_, 'u>, node: Cursor<'u>, ty: Type<'u>, found: &mut Findings<'u>) {
    for subject in view.records.within(ty) {
        let why = "its address is kept together with its length".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}
