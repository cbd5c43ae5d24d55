//! Members whose declarations count: how often a macro was used in front of them, or the line that they stand at.

use crate::clang::{Cursor, Kind};
use crate::demand::Demand;
use crate::report::{Findings, Found};
use crate::sum::View;
use crate::tree::Index;
use rustc_hash::{FxHashMap, FxHashSet};

/// Macros of a unit by their names.
type Macros = FxHashMap<String, Vec<Index>>;

/// Numbers in a declaration's text that depend on its place.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// It has `__COUNTER__`.
    uses: bool,
    /// It has `__LINE__`.
    lines: bool,
}

pub(super) fn find<'u>(view: View<'_, '_, 'u>, found: &mut Findings<'u>) {
    let mut macros = None;
    for index in (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::Record) {
        let Some(node) = view.cursor(index) else { continue };
        let Some(subject) = view.records.declared(node) else { continue };
        let members = view.tree.children(index).filter(|child| view.tree.kind(*child) == Kind::Member);
        let members: Vec<Index> =
            members.filter(|member| view.tree.values(*member).next().is_some()).collect();
        if members.is_empty() {
            continue;
        }
        let macros = macros.get_or_insert_with(|| defined(view));
        let mut before: Option<String> = None;
        for member in members {
            let Some(cursor) = view.cursor(member) else { continue };
            let counts = counts(view, macros, cursor);
            if counts.lines {
                let why = format!("{} knows its line", cursor.name());
                found.push(Found { subject, node: cursor, demand: Demand::Whole, why });
            }
            let Some(part) = view.records.part(cursor).filter(|_| counts.uses) else { continue };
            if let Some(first) = before.replace(part.member.clone()) {
                let why = format!("{} is counted behind {first}", part.member);
                let demand = Demand::Order { first, then: part.member };
                found.push(Found { subject, node: cursor, demand, why });
            }
        }
    }
}

fn defined(view: View<'_, '_, '_>) -> Macros {
    let mut macros = Macros::default();
    for index in (0..view.tree.len()).filter(|index| view.tree.kind(*index) == Kind::Macro) {
        if let Some(node) = view.cursor(index) {
            macros.entry(node.name()).or_default().push(index);
        }
    }
    macros
}

/// Such numbers in a declaration, and in all macros that it uses.
fn counts(view: View<'_, '_, '_>, macros: &Macros, declaration: Cursor<'_>) -> Counts {
    let (mut counts, mut seen, mut open) = (Counts::default(), FxHashSet::default(), declaration.words());
    while let Some(word) = open.pop() {
        counts.uses |= word == "__COUNTER__";
        counts.lines |= word == "__LINE__";
        let Some(definitions) = macros.get(&word) else { continue };
        if seen.insert(word) {
            let own = definitions.iter().filter_map(|definition| view.cursor(*definition));
            open.extend(own.flat_map(|definition| definition.words().into_iter().skip(1)));
        }
    }
    counts
}
