//! Addresses of objects that are kept together with their lengths: whoever reads them reads bytes. Where nobody but this
//! unit can, these are followed.

use super::elements;
use crate::addresses::{arguments, function};
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::records::named_holder;
use crate::report::{Findings, Found};
use crate::sum::{Term, View};
use crate::tree::Index;

/// `{ object, sizeof(*object) }`
pub(crate) fn listed<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(list) = view.cursor(index).filter(|list| list.ty().kind() == TypeKind::Record) else { return };
    let values: Vec<Index> = view.tree.children(index).map(|value| last_value(view, value)).collect();
    for part in values.iter().filter_map(|value| Stretch::find(view, *value)) {
        for count in values.iter().filter_map(|value| view.cursor(*value)?.constant()) {
            part.report(view, list, count, found);
        }
    }
    elements::listed(view, index, &values, found);
    let holder = list.ty().canonical().declaration();
    for ty in values.iter().filter_map(|value| object(view, *value)) {
        if holder.is_some_and(|holder| !is_followed(view, holder))
            && values.iter().any(|value| is_size(view, *value, ty))
        {
            tell(view, list, ty, found);
        }
    }
}

/// `buffer.address = object; buffer.length = sizeof(*object);`
pub(super) fn assigned<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some((holder, value)) = member_and_value(view, index) else { return };
    let Some(node) = view.cursor(index) else { return };
    let (object, stretch) = (object(view, value), Stretch::find(view, value));
    if object.is_none() && stretch.is_none() {
        return;
    }
    let holders = std::iter::successors(view.tree.parent(index), |parent| view.tree.parent(*parent));
    let function = holders.filter(|parent| view.tree.kind(*parent) == Kind::Function).last();
    let others = function.map_or(0..0, |function| view.tree.below(function));
    let lengths = others.filter_map(|other| {
        let (whose, length) = member_and_value(view, other)?;
        (whose.identity() == holder.identity()).then_some(length)
    });
    for length in lengths {
        if let Some(ty) = object.filter(|ty| is_size(view, length, *ty) && !is_followed(view, holder)) {
            return tell(view, node, ty, found);
        }
        let count = view.cursor(length).and_then(Cursor::constant);
        if let (Some(stretch), Some(count)) = (&stretch, count) {
            stretch.report(view, node, count, found);
        }
    }
}

/// Whether a record is known here alone, and all functions that are handed one, or its address, have a body here.
fn is_followed(view: View<'_, '_, '_>, record: Cursor<'_>) -> bool {
    let is_it = |ty: Type<'_>| {
        let declaration = ty.canonical().declaration();
        declaration.is_some_and(|declaration| declaration.identity() == record.identity())
    };
    let mut calls = (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::Call);
    record.is_in_main_file()
        && calls.all(|call| {
            let has_body = function(view, call).is_some_and(|function| function.definition().is_some());
            has_body
                || arguments(view, call).into_iter().all(|argument| {
                    let ty = view.cursor(view.peeled(argument)).map(Cursor::ty);
                    ty.is_none_or(|ty| !is_it(ty) && !ty.pointee().is_some_and(is_it))
                })
        })
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

/// The address of a member that becomes one of bytes.
struct Stretch<'u> {
    member: Cursor<'u>,
}

impl<'u> Stretch<'u> {
    fn find(view: View<'_, '_, 'u>, index: Index) -> Option<Self> {
        let to = view.cursor(index)?.ty().pointee()?;
        if !matches!(to.kind(), TypeKind::Void | TypeKind::Byte) {
            return None;
        }
        let sum = view.sum(index);
        let [(true, Term::Offset(path))] = sum.terms.as_slice() else { return None };
        let member = path.first().copied()?;
        view.records.part(member).map(|_| Self { member })
    }

    /// More bytes than the member has go on into those behind it.
    fn report(&self, view: View<'_, '_, 'u>, node: Cursor<'u>, count: i64, found: &mut Findings<'u>) {
        let (Ok(count), Some(part)) = (u64::try_from(count), view.records.part(self.member)) else { return };
        let Some(holder) = self.member.holder().map(Cursor::ty) else { return };
        let (members, first) = (view.records.members(holder), self.member.bit_offset().unwrap_or(0));
        let end = first.saturating_add(count.saturating_mul(8));
        let reached = members.iter().filter(|member| member.offset >= first && member.offset < end);
        let members: Vec<String> = reached.map(|member| member.name.clone()).collect();
        // A number that is no length is longer than the object.
        let is_length = holder.size().is_some_and(|size| end <= size.saturating_mul(8));
        if members.len() > 1 && is_length {
            let why = format!("the bytes from {} on are kept together with their length", part.member);
            found.push(Found { subject: part.subject, node, demand: Demand::Run { members }, why });
        }
    }
}
