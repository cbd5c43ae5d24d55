//! Addresses of members that are compared with one another: which of them is the lower one is the members' order.

use crate::clang::{Cursor, Kind, Operator, TypeKind};
use crate::demand::Demand;
use crate::records::{Part, named_holder};
use crate::report::{Findings, Found};
use crate::sum::orders::ordered_sides;
use crate::sum::roots::{has_common_root, sources};
use crate::sum::{Sum, Term, View};
use crate::tree::Index;

/// `first < second`, where each may be the address of one of several members.
pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some((left, right)) = ordered_sides(view, index) else { return };
    let Some(node) = view.cursor(index) else { return };
    let may_be_address = |side: Index| {
        let ty = view.cursor(side).map(Cursor::ty);
        ty.is_some_and(|ty| {
            ty.kind() == TypeKind::Pointer || ty.kind() == TypeKind::Number && ty.size() == Some(8)
        })
    };
    if !may_be_address(left) || !may_be_address(right) || has_common_root(view, left, right) {
        return;
    }
    let (first, second) = (members(view, left), members(view, right));
    for (own, part) in &first {
        for (other, behind) in second.iter().filter(|(_, behind)| behind.subject == part.subject) {
            let (first, then) = if own < other { (part, behind) } else { (behind, part) };
            if first.member != then.member {
                let why = format!("the addresses of {} and {} are compared", first.member, then.member);
                let demand = Demand::Order { first: first.member.clone(), then: then.member.clone() };
                found.push(Found { subject: part.subject, node, demand, why });
            }
        }
    }
}

/// The members whose addresses an expression may be, with the bits in front of each. Arrays have several addresses,
/// which are compared with one another.
fn members(view: View<'_, '_, '_>, index: Index) -> Vec<(u64, Part)> {
    let mut found = Vec::new();
    let is_address = |at: &Index| {
        view.tree.kind(*at) == Kind::Unary
            && view.cursor(*at).map(Cursor::unary_operator) == Some(Operator::AddressOf)
    };
    for at in sources(view, index).into_iter().filter(is_address) {
        found.extend(member(view, &view.sum(at)));
        // A reference is the object that it was given.
        let inner = view.tree.values(at).next().map(|inner| view.peeled(inner));
        let named = inner.and_then(|inner| view.cursor(inner)).and_then(Cursor::referenced);
        let given = named.into_iter().flat_map(|named| view.flow.given(named.identity()));
        found.extend(given.filter_map(|value| member(view, &view.address_sum(view.peeled(*value)))));
    }
    found
}

fn member<'u>(view: View<'_, '_, 'u>, sum: &Sum<'u>) -> Option<(u64, Part)> {
    let (true, Term::Offset(path)) = sum.terms.last()? else { return None };
    let (first, last) = (path.first()?, path.last()?);
    let holder = named_holder(*first)?;
    let offset = holder.ty().offset_of(&first.name())?;
    (last.ty().kind() != TypeKind::Array).then_some((offset, view.records.part(*first)?))
}
