//! What a reader of a reordering should know.

use super::chunk::{Chunk, Chunks, Role};
use super::sequence::Sequence;
use crate::body::{PieceKind, is_layout_comment};
use crate::definition::lossy;
use crate::join::Join;
use crate::scan::line_number;
use std::fmt;

/// Of a comment about the layout that stays, though what is before it has changed.
const DOUBTFUL: &str = "may no longer hold";

/// A remark on a reordering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// 1-based line of the original.
    pub line: u32,
    /// What stands there, as a sentence without its end.
    pub what: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

pub(super) fn notes(join: &Join, chunks: &Chunks, sequence: &Sequence) -> Vec<Remark> {
    let noter = Noter { join, chunks, sequence };
    let mut notes = Vec::new();
    notes.extend(
        sequence.dropped.iter().filter_map(|item| noter.layout(*item, "no longer holds and is removed")),
    );
    notes.extend(sequence.doubtful.iter().filter_map(|item| noter.layout(*item, DOUBTFUL)));
    for (index, chunk) in chunks.units() {
        notes.extend(noter.trailing(index, chunk));
        notes.extend(noter.leading(index, chunk));
    }
    notes.sort_by_key(|note| note.line);
    notes
}

struct Noter<'n, 'b, 's, 't> {
    join: &'n Join<'b, 's, 't>,
    chunks: &'n Chunks,
    sequence: &'n Sequence,
}

impl Noter<'_, '_, '_, '_> {
    fn layout(&self, item: usize, verdict: &str) -> Option<Remark> {
        let chunk = self.chunks.get(item)?;
        let text = lossy(self.join.body.lines_text(&chunk.lines));
        Some(Remark { line: line_number(chunk.lines.start), what: format!("{} {verdict}", text.trim()) })
    }

    /// Comments about the layout behind a declaration that has another neighbour now.
    fn trailing(&self, index: usize, chunk: &Chunk) -> Vec<Remark> {
        let behind = self.sequence.items.iter().copied().skip_while(|item| *item != index).skip(1);
        let mut units = self.chunks.units().map(|(at, _)| at);
        if behind.into_iter().find(|item| self.chunks.is_unit(*item)) == units.find(|at| *at > index) {
            return Vec::new();
        }
        let source = self.join.body.source;
        let inside = self.join.body.pieces.iter().filter(|piece| {
            let is_here = piece.lines.start >= chunk.lines.start && piece.lines.end <= chunk.lines.end;
            is_here && matches!(piece.kind, PieceKind::Statements(_))
        });
        let comments = inside.flat_map(|piece| &piece.comments);
        let stale = comments.filter(|token| is_layout_comment(source.text(**token)));
        let note = |token: &usize| Remark {
            line: source.line_of(*token),
            what: format!("{} {DOUBTFUL}", lossy(source.text(*token))),
        };
        stale.map(note).collect()
    }

    /// A comment above the first of several members without one, when they don't follow it any more.
    fn leading(&self, index: usize, chunk: &Chunk) -> Option<Remark> {
        if chunk.lead == 0 {
            return None;
        }
        let others = self.paragraph(index, chunk);
        if others.is_empty() || !self.is_about_several(chunk) {
            return None;
        }
        let at = self.sequence.items.iter().position(|item| *item == index)?;
        let behind = self.sequence.items.iter().skip(at + 1).take(others.len());
        if behind.eq(others.iter()) {
            return None;
        }
        let others: Vec<String> = others.iter().map(|other| self.label(*other)).collect();
        let (with, others) = (self.label(index), others.join(", "));
        let what = format!("the comment goes with {with}, but may be about {others} too");
        Some(Remark { line: line_number(chunk.lines.start), what })
    }

    /// Whether a comment above looks like one about a paragraph: several lines, a colon at the end, or such words.
    fn is_about_several(&self, chunk: &Chunk) -> bool {
        let lead = chunk.lines.start..chunk.lines.start + chunk.lead;
        let text = lossy(self.join.body.lines_text(&lead)).to_lowercase();
        let words = ["these", "both", "fields", "members", "following", "below", "related", "all "];
        let end = text.trim_end_matches(['*', '/', ' ', '\t', '\r', '\n']);
        chunk.lead > 1 || end.ends_with(':') || words.iter().any(|word| text.contains(word))
    }

    /// Units right below a chunk up to a blank line, another comment or another block.
    fn paragraph(&self, index: usize, chunk: &Chunk) -> Vec<usize> {
        let belongs = |at: &usize| {
            self.chunks.get(*at).is_some_and(|other| {
                let is_alike = other.role == Role::Unit && other.path == chunk.path;
                is_alike && other.lead == 0 && other.blank_before == 0
            })
        };
        (index + 1..self.chunks.list.len()).take_while(belongs).collect()
    }

    fn label(&self, index: usize) -> String {
        let members = self.chunks.get(index).map_or(0..0, |chunk| chunk.members.clone());
        let found = self.join.expected.get(members).unwrap_or_default();
        let labels: Vec<String> = found.iter().map(|member| member.label()).collect();
        labels.join(", ")
    }
}
