//! Objects found by the address of a member of theirs, which may be null: where the member is the first one, an object
//! found by a null address is null itself.

use super::offsets::zero;
use super::ways::{Form, Names, Use, Way};
use crate::clang::{Cursor, Identity, Kind, Operator};
use crate::report::{Findings, Found};
use crate::sum::plain::is_null;
use crate::sum::{Term, View};
use crate::tree::Index;

/// Most variables on the way back to where an address comes from.
const DEEPEST: usize = 6;

/// `entry = container_of(link->next, …)`, `if (entry)`
pub(super) fn find<'u>(view: View<'_, '_, 'u>, names: &Names, found: &mut Findings<'u>) {
    for index in 0..view.tree.len() {
        if !matches!(view.tree.kind(index), Kind::Cast | Kind::Unexposed) {
            continue;
        }
        let Some(node) = view.cursor(index).filter(|node| is_subject(view, *node)) else { continue };
        let sum = view.sum(index);
        let [(false, Term::Offset(path))] = sum.terms.as_slice() else { continue };
        let Some(part) = path.first().and_then(|member| view.records.part(*member)) else { continue };
        let Some(from) = counted_from(view, index) else { continue };
        let uses = Way::inside(view, names).uses(index);
        let is_tested = uses.iter().any(|(form, used)| *form == Form::Same && is_test(view, *used));
        if is_tested
            && (Origin { view, names }).may_be_null(from, DEEPEST)
            && let Some(demand) = zero(view, path, &part)
        {
            let why = format!("is asked for being null where it is found by the address of {}", part.member);
            found.push(Found { subject: part.subject, node, demand, why });
        }
    }
}

fn is_subject<'u>(view: View<'_, '_, 'u>, node: Cursor<'u>) -> bool {
    node.ty().pointee().is_some_and(|record| view.records.subject(record).is_some())
}

fn is_test(view: View<'_, '_, '_>, used: Use) -> bool {
    match used {
        Use::Tested => true,
        Use::Compared { other, .. } => is_null(view, other),
        _ => false,
    }
}

/// The member's address that a number is subtracted from.
fn counted_from(view: View<'_, '_, '_>, index: Index) -> Option<Index> {
    let inner = view.peeled(index);
    let is_binary = view.tree.kind(inner) == Kind::Binary;
    view.tree.values(inner).next().filter(|_| is_binary).map(|left| view.peeled(left))
}

/// Where an address comes from.
struct Origin<'o, 'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    names: &'o Names,
}

impl<'u> Origin<'_, '_, '_, 'u> {
    fn may_be_null(&self, index: Index, depth: usize) -> bool {
        let view = self.view;
        let index = view.peeled(index);
        let Some(depth) = depth.checked_sub(1) else { return false };
        let declared = view.cursor(index).and_then(Cursor::referenced);
        match view.tree.kind(index) {
            Kind::Call | Kind::Subscript => true,
            Kind::Unary => view.cursor(index).map(Cursor::unary_operator) == Some(Operator::Dereference),
            Kind::MemberAccess => declared.is_some_and(|member| !self.is_tested(index, member.identity())),
            Kind::Conditional => view.tree.values(index).skip(1).any(|side| self.may_be_null(side, depth)),
            Kind::Integer => is_null(view, index),
            Kind::Name => declared.is_some_and(|variable| {
                let given = view.flow.given(variable.identity());
                !self.is_tested(index, variable.identity())
                    && given.iter().any(|value| self.may_be_null(*value, depth))
            }),
            _ => false,
        }
    }

    /// Whether the function of a node asks whether something is null.
    fn is_tested(&self, index: Index, declared: Identity) -> bool {
        let view = self.view;
        let holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let function = holders.filter(|holder| view.tree.kind(*holder) == Kind::Function).last();
        let Some(body) = function.map(|function| view.tree.below(function)) else { return false };
        let named = self.names.places(declared).iter().filter(|name| body.contains(name));
        named.copied().any(|name| self.is_asked(name))
    }

    fn is_asked(&self, name: Index) -> bool {
        let view = self.view;
        let mut at = name;
        while let Some(parent) = view.tree.parent(at) {
            let other = view.tree.values(parent).find(|side| *side != at);
            match view.tree.kind(parent) {
                Kind::Paren | Kind::Unexposed | Kind::Cast => at = parent,
                Kind::Statement => return true,
                Kind::Conditional => return view.tree.values(parent).next() == Some(at),
                Kind::Unary => {
                    return view.cursor(parent).map(Cursor::unary_operator) == Some(Operator::Not);
                }
                Kind::Binary => {
                    return match view.cursor(parent).map(Cursor::binary_operator) {
                        Some(Operator::Logic) => true,
                        Some(Operator::Compare) => other.is_some_and(|other| is_null(view, other)),
                        _ => false,
                    };
                }
                _ => return false,
            }
        }
        false
    }
}
