//! Containers and functions of C++'s library that order addresses: of members' addresses the lower one comes first.

use crate::addresses::arguments;
use crate::clang::{Cursor, Kind, Operator, Type, TypeKind};
use crate::demand::Demand;
use crate::records::Part;
use crate::report::{Findings, Found};
use crate::sum::{Term, View};
use crate::tree::Index;
use std::collections::BTreeMap;

/// Containers that order their keys.
const CONTAINERS: [&str; 5] = ["map", "set", "multimap", "multiset", "priority_queue"];
/// Functions that compare by `<` or `>`.
const COMPARED_BY: [&str; 4] = ["less", "greater", "less_equal", "greater_equal"];
/// Functions that order values, and how many arguments they have beside what they order them by.
const FUNCTIONS: [(&str, usize); 11] = [
    ("sort", 2),
    ("stable_sort", 2),
    ("min", 2),
    ("max", 2),
    ("minmax", 2),
    ("min", 1),
    ("max", 1),
    ("minmax", 1),
    ("min_element", 2),
    ("max_element", 2),
    ("nth_element", 3),
];

pub(super) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let ordered: Vec<(Cursor<'u>, Type<'u>)> =
        ordering(view).into_iter().filter_map(|(index, ty)| Some((view.cursor(index)?, ty))).collect();
    if ordered.is_empty() {
        return;
    }
    let members = taken(view);
    let mut seen: Vec<String> = Vec::new();
    for (node, own) in ordered {
        let name = own.spelling();
        if seen.contains(&name) {
            continue;
        }
        let is_open = matches!(own.kind(), TypeKind::Void | TypeKind::Byte);
        let fits = |ty: &Type<'u>| is_open || ty.equals(own) || ty.spelling() == name;
        let parts: Vec<&Part> = members.values().filter(|(ty, _)| fits(ty)).map(|(_, part)| part).collect();
        for (first, then) in parts.iter().zip(parts.iter().skip(1)) {
            if first.subject == then.subject && first.member != then.member {
                let why = format!("addresses of {} and {} are put in order", first.member, then.member);
                let demand = Demand::Order { first: first.member.clone(), then: then.member.clone() };
                found.push(Found { subject: first.subject, node, demand, why });
            }
        }
        seen.push(name);
    }
}

/// The nodes that order addresses by means of C++'s library, and of what.
pub(crate) fn ordering<'u>(view: View<'_, '_, 'u>) -> Vec<(Index, Type<'u>)> {
    (0..view.tree.len()).filter_map(|index| Some((index, ordered(view, index)?))).collect()
}

/// The objects whose addresses a node orders.
fn ordered<'u>(view: View<'_, '_, 'u>, index: Index) -> Option<Type<'u>> {
    let node = view.cursor(index)?;
    match view.tree.kind(index) {
        Kind::Variable | Kind::Member | Kind::Parameter | Kind::FunctionalCast | Kind::Name => key(node.ty()),
        Kind::Call => sorted(view, index, node).or_else(|| key(node.ty())),
        _ => None,
    }
}

/// The addresses' type of a container that orders its keys by them.
fn key(ty: Type<'_>) -> Option<Type<'_>> {
    let class = ty.canonical().declaration().filter(|class| class.is_of_cpp() && class.is_of_system())?;
    let (name, arguments) = (class.name(), ty.canonical().template_arguments());
    let key = arguments.first()?.pointee()?;
    let is_compared = |ty: &Type<'_>| {
        let by = ty.canonical().declaration().map(Cursor::name).unwrap_or_default();
        COMPARED_BY.contains(&by.as_str())
    };
    let is_ordered =
        CONTAINERS.contains(&name.as_str()) && arguments.iter().any(is_compared) || is_compared(&ty);
    is_ordered.then_some(key)
}

/// The addresses' type that a function orders.
fn sorted<'u>(view: View<'_, '_, 'u>, index: Index, node: Cursor<'u>) -> Option<Type<'u>> {
    let arguments: Vec<Index> = arguments(view, index);
    let is_comparison = |ty: Type<'_>| {
        let by = ty.canonical().declaration().map(Cursor::name).unwrap_or_default();
        COMPARED_BY.contains(&by.as_str())
    };
    let last = arguments.last().and_then(|last| view.cursor(*last)).map(Cursor::ty);
    let count = arguments.len().saturating_sub(usize::from(last.is_some_and(is_comparison)));
    let Some(named) = node.referenced() else { return sorted_in_template(view, index, count) };
    // libclang says of functions that templates become that they are C.
    let function = Some(named).filter(|function| function.is_of_system() && function.template().is_some())?;
    let name = function.name();
    FUNCTIONS.iter().find(|(own, own_count)| *own == name && *own_count == count)?;
    view.tree.values(index).filter_map(|value| view.cursor(value)).find_map(|value| {
        let ty = value.ty();
        let element = ty.pointee().or_else(|| ty.element());
        let inner = ty.canonical().template_arguments().first().and_then(|own| own.pointee());
        let is_value = name.starts_with("min") || name.starts_with("max");
        let own = match count {
            // `std::min({first, second})`
            1 => return inner,
            _ if is_value && !name.contains("element") => Some(ty),
            _ => element.or(inner),
        };
        own.and_then(Type::pointee).filter(|own| own.kind() != TypeKind::Function)
    })
}

/// The same in a template, as far as nobody knows yet which function it will be: `std::sort(std::begin(all), std::end(all))`.
fn sorted_in_template<'u>(view: View<'_, '_, 'u>, index: Index, count: usize) -> Option<Type<'u>> {
    let called = view.tree.values(index).next().and_then(|callee| view.cursor(callee))?.name();
    FUNCTIONS.iter().find(|(own, own_count)| *own == called && *own_count == count)?;
    view.tree.below(index).filter_map(|value| view.cursor(value)).find_map(|value| {
        let ty = value.ty();
        let addresses = ty.element().or_else(|| ty.pointee())?;
        addresses.pointee().filter(|own| own.kind() == TypeKind::Record)
    })
}

/// Members whose addresses are taken, by their subject and the bits in front of them.
fn taken<'u>(view: View<'_, '_, 'u>) -> BTreeMap<(usize, u64), (Type<'u>, Part)> {
    let mut members = BTreeMap::new();
    for index in (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::Unary) {
        if view.cursor(index).map(Cursor::unary_operator) != Some(Operator::AddressOf) {
            continue;
        }
        let sum = view.sum(index);
        let Some((true, Term::Offset(path))) = sum.terms.last() else { continue };
        let (Some(first), Some(last)) = (path.first(), path.last()) else { continue };
        if let Some(part) = view.records.part(*first) {
            members.insert((part.subject, first.bit_offset().unwrap_or(0)), (last.ty(), part));
        }
    }
    members
}
