//! Constructors, comparisons and bindings of C++.

use crate::clang::{Cursor, Kind};
use crate::demand::Demand;
use crate::records::Part;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

pub(super) fn find<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    match view.tree.kind(index) {
        Kind::Constructor => constructor(view, index, found),
        Kind::Function => comparison(view, index, found),
        _ => binding(view, index, found),
    }
}

/// Members are constructed in their order, so what an initialiser reads stands in front.
fn constructor<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let mut initialised: Option<Part> = None;
    for child in view.tree.children(index) {
        let Some(cursor) = view.cursor(child) else { continue };
        if view.tree.kind(child) == Kind::MemberName {
            initialised = cursor.referenced().and_then(|member| view.records.part(member));
        } else if let Some(then) = initialised.take() {
            let reads = std::iter::once(child).chain(view.tree.below(child));
            for read in
                reads.filter(|read| view.tree.kind(*read) == Kind::MemberAccess && is_own(view, *read))
            {
                let member = view.cursor(read).and_then(Cursor::referenced);
                let member = member.filter(|member| member.kind() == Kind::Member);
                let Some(first) = member.and_then(|member| view.records.part(member)) else { continue };
                if first.subject != then.subject || first.member == then.member {
                    continue;
                }
                let why = format!("{} is constructed from {}", then.member, first.member);
                let demand = Demand::Order { first: first.member, then: then.member.clone() };
                found.push(Found { subject: then.subject, node: cursor, demand, why });
            }
        }
    }
}

/// `int b = a + 1;`: the value a member has if no constructor gives it another.
pub(super) fn member<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let reads: Vec<Index> =
        view.tree.below(index).filter(|read| view.tree.kind(*read) == Kind::MemberAccess).collect();
    let Some(node) = view.cursor(index).filter(|_| !reads.is_empty()) else { return };
    let Some(then) = view.records.part(node) else { return };
    for read in reads.into_iter().filter(|read| is_own(view, *read)) {
        let member = view.cursor(read).and_then(Cursor::referenced);
        let member = member.filter(|member| member.kind() == Kind::Member);
        let Some(first) = member.and_then(|member| view.records.part(member)) else { continue };
        if first.subject != then.subject || first.member == then.member {
            continue;
        }
        let why = format!("{} is constructed from {}", then.member, first.member);
        let demand = Demand::Order { first: first.member, then: then.member.clone() };
        found.push(Found { subject: then.subject, node, demand, why });
    }
}

/// Whether a member is one of the object at hand.
fn is_own(view: View<'_, '_, '_>, access: Index) -> bool {
    view.tree.values(access).next().is_none_or(|inner| view.tree.kind(view.peeled(inner)) == Kind::This)
}

/// `= default`ed order goes by the members'.
fn comparison<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let Some(node) = view.cursor(index).filter(|node| node.is_defaulted()) else { return };
    let Some(subject) = node.holder().and_then(|holder| view.records.declared(holder)) else { return };
    if ["operator<=>", "operator<", "operator>", "operator<=", "operator>="].contains(&node.name().as_str()) {
        let why = "is ordered by its members in turn".to_owned();
        found.push(Found { subject, node, demand: Demand::Whole, why });
    }
}

/// `auto [a, b] = object;`
fn binding<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let names =
        view.tree.children(index).filter(|child| view.tree.kind(*child) == Kind::UnexposedDeclaration);
    let count = names.count();
    let Some(node) = view.cursor(index).filter(|_| count > 0) else { return };
    let ty = node.ty();
    let ty = ty.pointee().unwrap_or(ty);
    if let Some(subject) = view.records.subject(ty) {
        let why = "is taken apart by position".to_owned();
        found.push(Found { subject, node, demand: Demand::First { count }, why });
    }
}
