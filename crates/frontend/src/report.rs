//! Findings of rules, and uses made of them.

mod spelled;

use crate::clang::{Cursor, Place};
use crate::demand::{CodeUse, Demand, Edge, MacroPlace};
use crate::records::{Part, Records};
use spelled::Spelled;

/// A finding of a rule.
#[derive(Clone, Debug)]
pub(crate) struct Found<'u> {
    pub(crate) subject: usize,
    /// The node whose place is told.
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
pub(crate) fn uses(found: &[Found<'_>], records: &Records<'_, '_>) -> Vec<CodeUse> {
    let mut spelled = Spelled::default();
    let mut place = |found: &Found<'_>| {
        let (read, written) = (found.node.place(), found.node.spelled());
        let macro_definition = definition(&read, &written, records, &mut spelled);
        CodeUse {
            subject: found.subject,
            file: records.path(&read.file),
            line: read.line,
            macro_definition,
            demand: found.demand.clone(),
            why: found.why.clone(),
        }
    };
    let mut uses: Vec<CodeUse> = found.iter().map(&mut place).collect();
    uses.sort_by(|left, right| (&left.file, left.line, left).cmp(&(&right.file, right.line, right)));
    uses.dedup();
    uses
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
