//! How much the compiler says is left of an object behind a member's address, where it is more than a limit to check.

use crate::clang::{Cursor, Identity, Kind, Operator};
use crate::demand::{Demand, Edge};
use crate::records::Part;
use crate::report::{Findings, Found, before};
use crate::sum::plain::constant;
use crate::sum::{Term, View};
use crate::tree::Index;
use rustc_hash::FxHashMap;

/// Most variables and functions that a size is handed on to.
const DEEPEST: usize = 6;

/// `memset(object->text, 0, __builtin_object_size(object->text, 0))`
pub(super) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let calls = (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::Call);
    let asked: Vec<(Index, Part)> = calls.filter_map(|call| Some((call, left_behind(view, call)?))).collect();
    if asked.is_empty() {
        return;
    }
    let names = Names::new(view);
    for (call, part) in asked {
        let Some(node) = view.cursor(call).filter(|_| names.counts(call, DEEPEST)) else { continue };
        let why = format!("what is left of it behind {} is a length", part.member);
        let demands = [
            Demand::Range { from: before(&part), to: Edge::End },
            Demand::Offset { member: part.member.clone() },
            Demand::Size,
        ];
        for demand in demands {
            found.push(Found { subject: part.subject, node, demand, why: why.clone() });
        }
    }
}

/// The member behind whose address a call counts to the end of the whole object.
fn left_behind(view: View<'_, '_, '_>, call: Index) -> Option<Part> {
    let cursor = view.cursor(call)?;
    if !cursor.name().ends_with("object_size") {
        return None;
    }
    let count = usize::try_from(cursor.argument_count()).unwrap_or(0);
    let values: Vec<Index> = view.tree.values(call).collect();
    let arguments = values.get(values.len().saturating_sub(count)..)?;
    let (pointer, mode) = (*arguments.first()?, *arguments.get(1)?);
    let is_of_object = view.cursor(mode)?.constant()? & 1 == 0;
    let sum = view.sum(pointer);
    let Some((true, Term::Offset(path))) = sum.terms.last().filter(|_| is_of_object) else { return None };
    view.records.part(*path.first()?)
}

/// The nodes that name each variable and parameter.
struct Names<'v, 's, 'u> {
    view: View<'v, 's, 'u>,
    nodes: FxHashMap<Identity, Vec<Index>>,
}

impl<'v, 's, 'u> Names<'v, 's, 'u> {
    fn new(view: View<'v, 's, 'u>) -> Self {
        let mut nodes: FxHashMap<Identity, Vec<Index>> = FxHashMap::default();
        for index in (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::Name) {
            if let Some(named) = view.cursor(index).and_then(Cursor::referenced) {
                nodes.entry(named.identity()).or_default().push(index);
            }
        }
        Self { view, nodes }
    }

    /// Whether a number is used for more than comparisons.
    fn counts(&self, value: Index, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return true };
        let view = self.view;
        let Some(parent) = view.tree.parent(value) else { return false };
        match view.tree.kind(parent) {
            Kind::Paren | Kind::Unexposed | Kind::Cast => self.counts(parent, depth + 1),
            Kind::Conditional if view.tree.values(parent).next() == Some(value) => false,
            Kind::Conditional => self.counts(parent, depth + 1),
            Kind::Binary => match view.cursor(parent).map(Cursor::binary_operator) {
                Some(Operator::Compare | Operator::Order) => self.is_compared_with_literal(value, parent),
                Some(Operator::Logic) => false,
                Some(Operator::Assign) => {
                    let left = view.tree.values(parent).next();
                    left.and_then(|left| view.cursor(left)?.referenced())
                        .is_none_or(|variable| self.is_counted(variable, depth))
                }
                _ => self.counts(parent, depth + 1),
            },
            Kind::Variable => view.cursor(parent).is_none_or(|variable| self.is_counted(variable, depth)),
            Kind::Call => self.is_length(value, parent, depth),
            Kind::Statement | Kind::Switch | Kind::Block | Kind::SizeOf => false,
            _ => true,
        }
    }

    /// Whether a comparison asks for a number that the text says. A length is only checked, and -1 stands for unknown.
    fn is_compared_with_literal(&self, value: Index, comparison: Index) -> bool {
        let view = self.view;
        let is_literal = |side: Index| view.tree.kind(view.peeled(side)) == Kind::Integer;
        let mut others = view.tree.values(comparison).filter(|side| *side != value);
        others.any(|side| is_literal(side) && constant(view, side).is_some_and(|number| number > 0))
    }

    fn is_counted(&self, variable: Cursor<'u>, depth: usize) -> bool {
        let is_local = matches!(variable.kind(), Kind::Variable | Kind::Parameter);
        let nodes = self.nodes.get(&variable.identity());
        !is_local || nodes.into_iter().flatten().any(|node| self.counts(*node, depth))
    }

    /// Whether a function that is told a number counts by it. Functions that check are told a limit, and those that are
    /// handed no pointer beside it can only tell it.
    fn is_length(&self, value: Index, call: Index, depth: usize) -> bool {
        let view = self.view;
        let Some(callee) = view.cursor(call).and_then(Cursor::referenced) else { return true };
        if callee.name().ends_with("_chk") || callee.name().ends_with("constant_p") {
            return false;
        }
        let values: Vec<Index> = view.tree.values(call).collect();
        let count = usize::try_from(callee.argument_count()).unwrap_or(0);
        let arguments = values.get(1..).unwrap_or_default();
        let number = arguments.iter().position(|argument| *argument == value);
        let own = callee.definition().filter(|_| count > 0).zip(number);
        if let Some((body, number)) = own {
            let parameter = u32::try_from(number).ok().and_then(|number| body.argument(number));
            return parameter.is_none_or(|parameter| self.is_counted(parameter, depth));
        }
        arguments
            .iter()
            .filter(|argument| **argument != value)
            .any(|argument| view.cursor(*argument).is_some_and(|argument| argument.ty().pointee().is_some()))
    }
}
