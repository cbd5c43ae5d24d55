//! Constructors, comparisons and bindings of C++.

use super::lists;
use crate::clang::{Cursor, Kind, Type, below};
use crate::demand::Demand;
use crate::records::{Part, own_name};
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;

/// Most classes that are derived from one another.
const DEEPEST: usize = 8;

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
    let mut busy: Vec<Part> = Vec::new();
    for child in view.tree.children(index) {
        let Some(cursor) = view.cursor(child) else { continue };
        if view.tree.kind(child) == Kind::MemberName {
            initialised = cursor.referenced().and_then(|member| view.records.part(member));
        } else if let Some(then) = initialised.take() {
            let reads = std::iter::once(child).chain(view.tree.below(child));
            if reads.clone().any(|below| changes(view, below)) {
                busy.push(then.clone());
            }
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
    let Some(node) = view.cursor(index) else { return };
    for (first, then) in busy.iter().zip(busy.iter().skip(1)) {
        let why = format!("{} and {} are constructed by calls that have an order", first.member, then.member);
        let demand = Demand::Order { first: first.member.clone(), then: then.member.clone() };
        found.push(Found { subject: then.subject, node, demand, why });
    }
}

/// Whether a node may change something that another one sees: constructors and functions of C++'s library make values,
/// but for those that read streams.
fn changes(view: View<'_, '_, '_>, index: Index) -> bool {
    if view.tree.kind(index) != Kind::Call {
        return lists::has_effect(view, index);
    }
    let Some(function) = view.cursor(index).and_then(Cursor::referenced) else { return true };
    match function.kind() {
        // What classes of the program do when they are constructed is asked by their members.
        Kind::Constructor => false,
        _ => {
            !function.is_of_system()
                || !function.is_of_cpp() && function.template().is_none()
                || ["operator>>", "operator()", "get", "exchange"].contains(&function.name().as_str())
        }
    }
}

/// Members whose classes do something when they are constructed or destroyed keep their order.
pub(super) fn effects<'u>(view: View<'_, '_, 'u>, index: Index, found: &mut Findings<'u>) {
    let record = view.cursor(index).filter(|_| view.records.is_definition(view.tree, index));
    let Some((node, subject)) = record.and_then(|node| Some((node, view.records.declared(node)?))) else {
        return;
    };
    let members = view.tree.children(index).filter(|child| view.tree.kind(*child) == Kind::Member);
    let is_busy = |member: &Index| {
        view.cursor(*member).is_some_and(|cursor| has_effects(view, cursor.ty()))
            || view.tree.below(*member).any(|below| changes(view, below))
    };
    let busy: Vec<String> =
        members.filter(is_busy).filter_map(|member| own_name(view.cursor(member)?)).collect();
    if has_own_memory(view, node.ty(), DEEPEST) {
        let why = "is made in memory that its class hands out".to_owned();
        found.push(Found { subject, node, demand: Demand::Size, why });
    }
    for (first, then) in busy.iter().zip(busy.iter().skip(1)) {
        let why = format!("{first} is constructed before {then}");
        let demand = Demand::Order { first: first.clone(), then: then.clone() };
        found.push(Found { subject, node, demand, why });
    }
}

/// Whether a class, or one it is derived from, has an `operator new` of its own: it may know how many bytes are asked for.
fn has_own_memory<'u>(view: View<'_, '_, 'u>, ty: Type<'u>, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    let Some(class) = ty.canonical().declaration().and_then(Cursor::definition) else { return false };
    let mut is_own = false;
    below(class, |part, _| {
        is_own |= part.kind() == Kind::Function && part.name().starts_with("operator new");
    });
    is_own || view.records.bases(ty).into_iter().any(|base| has_own_memory(view, base, depth))
}

/// Whether a class has a constructor or destructor of this program that calls something.
fn has_effects(view: View<'_, '_, '_>, ty: Type<'_>) -> bool {
    let class = ty.canonical().declaration().and_then(Cursor::definition);
    let Some(class) = class.filter(|class| !class.is_of_system()) else { return false };
    let is_of_class = |at: &Index| {
        let holder = view.cursor(*at).and_then(Cursor::holder);
        holder.is_some_and(|holder| holder.identity() == class.identity())
    };
    let calls = |at: Index| view.tree.below(at).any(|below| view.tree.kind(below) == Kind::Call);
    view.tree.constructors().iter().filter(|at| is_of_class(at)).any(|at| calls(*at))
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
