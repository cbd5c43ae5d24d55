//! The variables that addresses and numbers are counted from.

use crate::clang::{Cursor, Identity, Kind, Operator, TypeKind};
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Most variables on the way.
const MOST_VALUES: usize = 64;

/// Whether two expressions are counted from one variable: they lead into one object.
pub(crate) fn has_common_root(view: View<'_, '_, '_>, left: Index, right: Index) -> bool {
    let own = roots(view, left);
    roots(view, right).keys().any(|root| own.contains_key(root))
}
/// The variables that an address or a number is counted from at first, without those that memory is read by.
pub(crate) fn roots<'u>(view: View<'_, '_, 'u>, index: Index) -> BTreeMap<Identity, Cursor<'u>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![index]);
    while let Some(at) = open.pop() {
        let at = view.peeled(at);
        let cursor = view.cursor(at);
        match view.tree.kind(at) {
            Kind::Name => {
                let variable = cursor.and_then(Cursor::referenced);
                let variable = variable.filter(|own| !matches!(own.kind(), Kind::Enumerator));
                let Some(variable) = variable.filter(|own| found.insert(own.identity(), *own).is_none())
                else {
                    continue;
                };
                if variable.kind() == Kind::Variable && found.len() < MOST_VALUES {
                    open.extend(view.flow.given(variable.identity()).first());
                }
            }
            Kind::Binary if is_sum(cursor) => open.extend(view.tree.values(at)),
            // `&array[number]`
            Kind::Unary if cursor.map(Cursor::unary_operator) == Some(Operator::AddressOf) => {
                let element = view.tree.only(at).map(|inner| view.peeled(inner));
                let element = element.filter(|inner| view.tree.kind(*inner) == Kind::Subscript);
                open.extend(element.and_then(|element| view.tree.values(element).next()));
            }
            Kind::MemberAccess if cursor.is_some_and(|member| member.ty().kind() == TypeKind::Array) => {
                let member = cursor.and_then(Cursor::referenced);
                found.extend(member.map(|member| (member.identity(), member)));
            }
            Kind::Unary
                if matches!(
                    cursor.map(Cursor::unary_operator),
                    Some(Operator::Step | Operator::StepBack)
                ) =>
            {
                open.extend(view.tree.values(at));
            }
            _ => {}
        }
    }
    found
}

/// The expressions that an expression may have its value from, inside one unit: itself, both sides of a choice, and what
/// variables are given.
pub(crate) fn sources(view: View<'_, '_, '_>, index: Index) -> Vec<Index> {
    let (mut found, mut seen, mut open) = (Vec::new(), FxHashSet::default(), vec![index]);
    while let Some(at) = open.pop() {
        let at = view.peeled(at);
        if found.len() >= MOST_VALUES || !seen.insert(at) {
            continue;
        }
        found.push(at);
        match view.tree.kind(at) {
            Kind::Name => {
                let variable = view.cursor(at).and_then(Cursor::referenced);
                open.extend(variable.into_iter().flat_map(|own| view.flow.given(own.identity())).copied());
            }
            Kind::Conditional => open.extend(view.tree.values(at).skip(1)),
            _ => {}
        }
    }
    found
}

fn is_sum(node: Option<Cursor<'_>>) -> bool {
    matches!(node.map(Cursor::binary_operator), Some(Operator::Add | Operator::Subtract | Operator::Assign))
}
