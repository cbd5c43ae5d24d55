//! Bytes that two types have in common, where code takes an object of one for one of the other.

use crate::clang::{Cursor, Type, TypeKind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;

/// How sure it is that objects of both types meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// A cast says so.
    Certain,
    /// Pointers to both go through one variable.
    Likely,
    /// Pointers to both go through one member or the result of one function.
    Possible,
}

/// An object of one record is taken for one of another.
pub(super) fn records<'u>(
    view: View<'_, '_, 'u>,
    node: Cursor<'u>,
    (from, to): (Type<'u>, Type<'u>),
    evidence: Evidence,
    found: &mut Findings<'u>,
) {
    let subjects = [from, to].map(|ty| view.records.subject(ty));
    let is_known = |ty: Type<'u>| ty.size().is_some_and(|size| size > 0);
    if subjects == [None, None] || from.equals(to) || !is_known(from) || !is_known(to) {
        return;
    }
    // `va_arg(list, T *)` is a conversion of the list's type.
    if [from, to].iter().any(|ty| ty.spelling().contains("va_list")) {
        return;
    }
    if view.records.derives(from, to) || view.records.derives(to, from) {
        return;
    }
    for (holder, inner) in [(from, to), (to, from)] {
        if view.records.begins_with(holder, inner) {
            first(
                view,
                node,
                holder,
                format!("is cast to and from its first member's type {}", inner.spelling()),
                found,
            );
            return;
        }
    }
    let shared = view.records.shared(from, to);
    if shared == 0 && evidence != Evidence::Certain {
        return;
    }
    for (other, subject) in [(to, subjects.first()), (from, subjects.last())] {
        if let Some(Some(subject)) = subject {
            let (subject, count) = (*subject, shared.max(1));
            let (demand, why) = match shared {
                0 => (Demand::First { count: 1 }, format!("is cast to or from {}", other.spelling())),
                _ => {
                    let why = format!("is cast to or from {}, which begins alike", other.spelling());
                    (Demand::First { count }, why)
                }
            };
            found.push(Found { subject, node, demand, why });
        }
    }
}

/// The size of one record's object is counted by members of another.
pub(super) fn sizes<'u>(
    view: View<'_, '_, 'u>,
    node: Cursor<'u>,
    (ty, other): (Type<'u>, Type<'u>),
    found: &mut Findings<'u>,
) {
    let count = view.records.shared(ty, other);
    for (ty, other) in [(ty, other), (other, ty)] {
        let Some(subject) = view.records.subject(ty).filter(|_| count > 0) else { continue };
        let why = format!("objects are as long as {}, which begins in the same way", other.spelling());
        found.push(Found { subject, node, demand: Demand::First { count }, why });
    }
}

/// The first bytes of a record are read as something else.
pub(super) fn scalar<'u>(
    view: View<'_, '_, 'u>,
    node: Cursor<'u>,
    (record, scalar): (Type<'u>, Type<'u>),
    found: &mut Findings<'u>,
) {
    let Some(subject) = view.records.subject(record) else { return };
    let bytes = if scalar.kind() == TypeKind::Pointer { Some(8) } else { scalar.size() };
    let count = view.records.covering(record, bytes.unwrap_or(1)).max(1);
    let why = format!("its first bytes are read or written as {}", scalar.spelling());
    found.push(Found { subject, node, demand: Demand::First { count }, why });
}

/// A record's first member stays.
fn first<'u>(
    view: View<'_, '_, 'u>,
    node: Cursor<'u>,
    record: Type<'u>,
    why: String,
    found: &mut Findings<'u>,
) {
    if let Some(subject) = view.records.subject(record) {
        found.push(Found { subject, node, demand: Demand::First { count: 1 }, why });
    }
}
