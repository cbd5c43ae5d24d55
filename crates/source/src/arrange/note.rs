//! Notes for readers of a reordering.

use super::chunk::{ChunkRole, LineChunk, LineChunks};
use super::sequence::ChunkSequence;
use crate::body::{PieceKind, is_layout_comment};
use crate::definition::lossy;
use crate::join::Join;
use crate::scan::line_number;
use std::fmt;

/// For a comment about the layout that stays, though what is before it has changed.
const DOUBTFUL: &str = "may no longer hold";

/// A note on a reordering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReorderNote {
    /// 1-based line of the original.
    pub line: u32,
    /// Its text, as a sentence without its end.
    pub text: String,
}

impl fmt::Display for ReorderNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.text)
    }
}

pub(super) fn collect_notes(join: &Join, chunks: &LineChunks, sequence: &ChunkSequence) -> Vec<ReorderNote> {
    let collector = NoteCollector { join, chunks, sequence };
    let dropped = sequence.dropped.iter().map(|item| (item, "no longer holds and is removed"));
    let layout = dropped.chain(sequence.doubtful.iter().map(|item| (item, DOUBTFUL)));
    let layout = layout.filter_map(|(item, verdict)| collector.layout_note(*item, verdict));
    let mut notes: Vec<ReorderNote> = layout.collect();
    for (index, chunk) in chunks.units() {
        notes.extend(collector.trailing_notes(index, chunk));
        notes.extend(collector.leading_note(index, chunk));
    }
    notes.sort_by_key(|note| note.line);
    notes
}

struct NoteCollector<'n, 'b, 's, 't> {
    join: &'n Join<'b, 's, 't>,
    chunks: &'n LineChunks,
    sequence: &'n ChunkSequence,
}

impl NoteCollector<'_, '_, '_, '_> {
    fn layout_note(&self, item: usize, verdict: &str) -> Option<ReorderNote> {
        let chunk = self.chunks.get(item)?;
        let text = lossy(self.join.body.lines_text(&chunk.lines));
        Some(ReorderNote { line: line_number(chunk.lines.start), text: format!("{} {verdict}", text.trim()) })
    }

    /// Comments about the layout behind a declaration that has another neighbour now.
    fn trailing_notes(&self, index: usize, chunk: &LineChunk) -> Vec<ReorderNote> {
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
        let text = |token: usize| format!("{} {DOUBTFUL}", lossy(source.text(token)));
        stale.map(|token| ReorderNote { line: source.line_of(*token), text: text(*token) }).collect()
    }

    /// A comment above the first of several members without one, when they don't follow it any more.
    fn leading_note(&self, index: usize, chunk: &LineChunk) -> Option<ReorderNote> {
        if chunk.lead_lines == 0 {
            return None;
        }
        let others = self.paragraph_units(index, chunk);
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
        let text = format!("the comment goes with {with}, but may be about {others} too");
        Some(ReorderNote { line: line_number(chunk.lines.start), text })
    }

    /// Whether a comment seems to be about a paragraph: several lines, a colon at the end, or such words.
    fn is_about_several(&self, chunk: &LineChunk) -> bool {
        let lead = chunk.lines.start..chunk.lines.start + chunk.lead_lines;
        let text = lossy(self.join.body.lines_text(&lead)).to_lowercase();
        let words = ["these", "both", "fields", "members", "following", "below", "related", "all "];
        let end = text.trim_end_matches(['*', '/', ' ', '\t', '\r', '\n']);
        chunk.lead_lines > 1 || end.ends_with(':') || words.iter().any(|word| text.contains(word))
    }

    /// Units right below a chunk up to a blank line, another comment or another block.
    fn paragraph_units(&self, index: usize, chunk: &LineChunk) -> Vec<usize> {
        let belongs = |at: &usize| {
            self.chunks.get(*at).is_some_and(|other| {
                let is_in_paragraph = other.role == ChunkRole::Unit && other.path == chunk.path;
                is_in_paragraph && other.lead_lines == 0 && other.blank_before == 0
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
