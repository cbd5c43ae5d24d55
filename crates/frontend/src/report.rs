//! Findings of rules, and uses made of them.

pub(crate) mod named;
mod spelled;

use crate::addresses::CodePlace;
use crate::clang::{Cursor, Place};
use crate::demand::{CodeUse, Demand, Edge, MacroPlace};
use crate::records::{Part, Records};
use spelled::Spelled;

/// A finding of a rule.
#[derive(Clone, Debug)]
pub(crate) struct Found<'u> {
    pub(crate) subject: usize,
    /// The node whose place is reported.
    pub(crate) node: Cursor<'u>,
    pub(crate) demand: Demand,
    pub(crate) why: String,
}

/// Findings of a unit.
pub(crate) type Findings<'u> = Vec<Found<'u>>;

/// A member's two ends.
pub(crate) fn before(part: &Part) -> Edge {
    Edge::Before(part.member.clone())
}

/// See `before`.
pub(crate) fn behind(part: &Part) -> Edge {
    Edge::Behind(part.member.clone())
}

/// Findings with places, by file and line, each once.
pub(crate) fn uses<'u>(found: &[Found<'u>], records: &Records<'_, 'u>) -> Vec<CodeUse> {
    let mut places = Places::new(records);
    let mut located = |found: &Found<'u>| {
        let CodePlace { file, line, macro_definition } = places.find(found.node);
        let (demand, why) = (found.demand.clone(), found.why.clone());
        CodeUse { subject: found.subject, file, line, macro_definition, demand, why }
    };
    let mut uses: Vec<CodeUse> = found.iter().map(&mut located).collect();
    uses.sort_by(|left, right| (&left.file, left.line, left).cmp(&(&right.file, right.line, right)));
    uses.dedup();
    uses
}

/// Places of nodes, with the macros they were written in.
#[derive(Debug)]
pub(crate) struct Places<'r, 's, 'u> {
    records: &'r Records<'s, 'u>,
    spelled: Spelled,
}

impl<'r, 's, 'u> Places<'r, 's, 'u> {
    pub(crate) fn new(records: &'r Records<'s, 'u>) -> Self {
        Self { records, spelled: Spelled::default() }
    }

    /// The words of a node, and of the line of the macro that it was written in.
    pub(crate) fn words(&mut self, node: Cursor<'u>) -> Vec<String> {
        let mut words = node.words();
        let (read, written) = (node.place(), node.spelled());
        if read != written && !written.file.is_empty() {
            words.extend(self.spelled.words_at(&self.records.path(&written.file), written.line));
        }
        words
    }

    pub(crate) fn find(&mut self, node: Cursor<'u>) -> CodePlace {
        let (read, written) = (node.place(), node.spelled());
        let macro_definition = definition(&read, &written, self.records, &mut self.spelled);
        CodePlace { file: self.records.path(&read.file), line: read.line, macro_definition }
    }
}

/// The macro a node was written in.
fn definition(
    read: &Place,
    written: &Place,
    records: &Records<'_, '_>,
    spelled: &mut Spelled,
) -> Option<MacroPlace> {
    if read == written || written.file.is_empty() {
        return None;
    }
    let file = records.path(&written.file);
    let name = spelled.macro_at(&file, written.line)?;
    Some(MacroPlace { name, file, line: written.line })
}
