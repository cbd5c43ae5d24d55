//! From a wanted order of members to an order of lines.
//!
//! The body is cut into chunks of whole lines: units of members, barriers that nothing passes, and lines that
//! stay where they are. Chunks are put in order, `#if` lines are written around them again, and the new text
//! is read back before it is handed out.

mod chunk;
mod constraint;
mod note;
mod render;
mod sequence;

pub use chunk::UnitReason;
pub use constraint::{CommentOnPlaces, MemberTextPosition, MemberUnit, TextConstraints};
pub use note::ReorderNote;

use crate::body::{PieceKind, StructBody};
use crate::edits::{Edit, Edits};
use crate::join::{ExpectedMember, Join};
use crate::refusal::{Result, SourceRefusal};
use crate::scan::{ConditionLiteral, TokenKind, line_number};
use chunk::LineChunks;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::BTreeMap;
use std::ops::Range;

/// The change that brings members into an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reordering {
    /// Edits of the file's text; none for the declared order.
    pub edits: Edits,
    /// Notes for readers, by line of the original.
    pub notes: Vec<ReorderNote>,
}

impl Join<'_, '_, '_> {
    /// Constraints of the text on an order.
    pub fn constraints(&self) -> TextConstraints {
        TextConstraints::from_chunks(self, &LineChunks::build(self))
    }

    /// The edits that bring the members into an order: `order[k]` is the declared index of the member that
    /// comes `k`-th. All or nothing.
    /// Fails if the order isn't one, breaks [`Join::constraints`], or the result doesn't read back as meant.
    pub fn reorder(&self, order: &[usize]) -> Result<Reordering> {
        let chunks = LineChunks::build(self);
        TextConstraints::from_chunks(self, &chunks).check(order)?;
        if self.body.is_inline {
            // Nothing may move then, and lines aren't all the body's own.
            return Ok(Reordering::default());
        }
        let sequence = sequence::order_chunks(self, &chunks, order);
        let notes = note::collect_notes(self, &chunks, &sequence);
        let lines = render::render(self, &chunks, &sequence);
        let edits = line_edits(self, &lines);
        check(self, &edits, order, &lines)?;
        Ok(Reordering { edits, notes })
    }
}

/// The fewest line edits that turn the body's lines into these lines of the original.
fn line_edits(join: &Join, lines: &[Range<usize>]) -> Edits {
    let source = join.body.source;
    let old: Vec<&[u8]> = join.body.lines.clone().map(|line| source.line(line)).collect();
    let new: Vec<&[u8]> = lines.iter().cloned().flatten().map(|line| source.line(line)).collect();
    let mut edits = Edits::default();
    for op in capture_diff_slices(Algorithm::RawMyers, &old, &new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let first = join.body.lines.start;
        let replaced = first + op.old_range().start..first + op.old_range().end;
        let replacement = new.get(op.new_range()).unwrap_or_default().concat();
        // The differ's ranges ascend and don't touch, so none is refused.
        let _ = edits.insert(Edit { range: source.lines().span(&replaced), replacement });
    }
    edits
}

/// Parses the edited text and joins it with the members in their new order. Every statement, of every branch,
/// must still be there under its conditions, and no comment may be lost but those about the layout.
fn check(join: &Join, edits: &Edits, order: &[usize], lines: &[Range<usize>]) -> Result<()> {
    let old = join.body;
    // For each line of the original body that is written once its new number, both 1-based.
    let written = lines.iter().cloned().flatten().zip(old.lines.start..);
    let new_lines: BTreeMap<_, _> = written.map(|(old, new)| (line_number(old), line_number(new))).collect();
    let member = |index: &usize| {
        let line = join.statement_of(*index)?.line;
        Some(join.expected.get(*index)?.clone().with_line(new_lines.get(&line).copied()))
    };
    let expected: Vec<ExpectedMember> = order.iter().filter_map(member).collect();
    join.reread(edits, |new| {
        Join::new(new, &expected)?;
        let failed = |what: &str| Err(SourceRefusal::ReadBack(what.to_owned()));
        if list_statements(old) != list_statements(new) {
            return failed("a declaration is lost, doubled or under another condition");
        }
        if comments(old) != comments(new) {
            return failed("a comment is lost or doubled");
        }
        Ok(())
    })
}

/// Every statement's text with its conditions.
fn list_statements<'t>(body: &StructBody<'_, 't>) -> Vec<(&'t [u8], Vec<ConditionLiteral>)> {
    let entry = |statement| {
        // `#ifdef` lines may be nested in either order.
        let mut conditions = body.conditions(statement);
        conditions.sort();
        (body.text(statement), conditions)
    };
    let mut found: Vec<(&[u8], Vec<ConditionLiteral>)> = body.statements().iter().map(entry).collect();
    found.sort();
    found
}

/// Every comment outside declarations, those about the layout and those on preprocessor lines apart.
fn comments<'t>(body: &StructBody<'_, 't>) -> Vec<&'t [u8]> {
    let pieces = body.pieces.iter().filter(|piece| piece.kind != PieceKind::Layout);
    let tokens = pieces.flat_map(|piece| piece.comments.iter());
    let is_comment = |index: &&usize| body.source.kind(**index) == Some(TokenKind::Comment);
    let mut found: Vec<&[u8]> = tokens.filter(is_comment).map(|index| body.source.text(*index)).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::DefinitionQuery;
    use crate::scan::SourceText;

    #[test]
    fn what_no_declaration_stands_for_comes_first() {
        let text = "struct s : base {\n\tint a;\n\tint f();\n\tint b;\n\tint c;\n};\n";
        let source = SourceText::new(text.as_bytes());
        let definition = source.find(&DefinitionQuery::for_name("s")).unwrap();
        let body = StructBody::parse(&source, &definition).unwrap();
        let named = ["a", "b", "c"].map(ExpectedMember::named);
        let expected =
            [vec![ExpectedMember::inherited(), ExpectedMember::inherited()], named.to_vec()].concat();
        let join = Join::new(&body, &expected).unwrap();
        let edits = join.reorder(&[0, 1, 2, 4, 3]).unwrap().edits;
        let new = String::from_utf8(edits.apply(text.as_bytes())).unwrap();
        assert!(new.contains("\tint f();\n\tint c;\n\tint b;\n"), "{new}");
        assert_eq!(join.statement_of(0), None);
        assert_eq!(join.statement_of(2).map(|statement| statement.line), Some(2));
        // Neither before what is inherited nor past what declares no member.
        for order in [[2, 0, 1, 3, 4], [1, 0, 2, 3, 4], [0, 1, 3, 2, 4]] {
            let refusal = join.reorder(&order).unwrap_err();
            assert!(matches!(refusal, SourceRefusal::CrossesBarrier { .. }), "{order:?}: {refusal}");
        }
        let without = ["a", "b"].map(ExpectedMember::named);
        assert!(Join::new(&body, &without).is_err());
    }
}
