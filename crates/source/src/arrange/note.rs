//! What a reader of a reordering should know.

use super::chunk::{Chunk, Chunks, Role};
use super::sequence::Sequence;
use crate::body::{PieceKind, is_layout_comment};
use crate::definition::lossy;
use crate::join::Join;
use std::fmt;

/// A remark on a reordering. Lines are 1-based and those of the original.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// A comment about the layout was left out, since its neighbours have changed.
    LayoutCommentRemoved {
        /// Where it stood.
        line: u32,
        /// Its text.
        text: String,
    },
    /// A comment about the layout stays, but what is before it has changed.
    LayoutCommentDoubtful {
        /// Where it stands.
        line: u32,
        /// Its text.
        text: String,
    },
    /// A comment above several members went with the first of them.
    CommentLeavesMembers {
        /// Where it stood.
        line: u32,
        /// The member it went with, quoted.
        with: String,
        /// Members it may have been about too, quoted.
        others: Vec<String>,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LayoutCommentRemoved { line, text } => {
                write!(f, "line {line}: {text} no longer holds and is removed")
            }
            Self::LayoutCommentDoubtful { line, text } => {
                write!(f, "line {line}: {text} may no longer hold")
            }
            Self::CommentLeavesMembers { line, with, others } => {
                let others = others.join(", ");
                write!(f, "line {line}: the comment goes with {with}, but may be about {others} too")
            }
        }
    }
}

/// All notes, by line.
pub(super) fn notes(join: &Join, chunks: &Chunks, sequence: &Sequence) -> Vec<Remark> {
    let noter = Noter { join, chunks, sequence };
    let mut notes: Vec<(u32, Remark)> = Vec::new();
    for item in &sequence.dropped {
        notes.extend(noter.layout(*item, |line, text| Remark::LayoutCommentRemoved { line, text }));
    }
    for item in &sequence.doubtful {
        notes.extend(noter.layout(*item, |line, text| Remark::LayoutCommentDoubtful { line, text }));
    }
    for (index, chunk) in chunks.units() {
        notes.extend(noter.trailing(index, chunk));
        notes.extend(noter.leading(index, chunk));
    }
    notes.sort_by_key(|(line, _)| *line);
    notes.into_iter().map(|(_, note)| note).collect()
}

struct Noter<'n, 'b, 's, 't> {
    join: &'n Join<'b, 's, 't>,
    chunks: &'n Chunks,
    sequence: &'n Sequence,
}

impl Noter<'_, '_, '_, '_> {
    fn layout(&self, item: usize, note: fn(u32, String) -> Remark) -> Option<(u32, Remark)> {
        let chunk = self.chunks.get(item)?;
        let line = number(chunk.lines.start);
        let text = lossy(self.join.body.lines_text(&chunk.lines)).trim().to_owned();
        Some((line, note(line, text)))
    }

    /// Comments about the layout behind a declaration that has another neighbour now.
    fn trailing(&self, index: usize, chunk: &Chunk) -> Vec<(u32, Remark)> {
        if self.next_unit(index) == self.chunks.units().map(|(at, _)| at).find(|at| *at > index) {
            return Vec::new();
        }
        let source = self.join.body.source;
        let comments = self.comments(chunk).into_iter();
        let stale = comments.filter(|token| is_layout_comment(source.text(*token)));
        let note = |token: usize| {
            let line = source.line_of(token);
            let text = lossy(source.text(token));
            (line, Remark::LayoutCommentDoubtful { line, text })
        };
        stale.map(note).collect()
    }

    fn comments(&self, chunk: &Chunk) -> Vec<usize> {
        let pieces = self.join.body.pieces.iter();
        let inside = pieces.filter(|piece| {
            let is_here = piece.lines.start >= chunk.lines.start && piece.lines.end <= chunk.lines.end;
            is_here && matches!(piece.kind, PieceKind::Statements(_))
        });
        inside.flat_map(|piece| piece.comments.clone()).collect()
    }

    fn next_unit(&self, index: usize) -> Option<usize> {
        let items = self.sequence.items.iter();
        let mut behind = items.skip_while(|item| **item != index).skip(1);
        behind.find(|item| self.is_unit(**item)).copied()
    }

    fn is_unit(&self, index: usize) -> bool {
        self.chunks.get(index).is_some_and(|chunk| chunk.role == Role::Unit)
    }

    /// A comment above the first of several members without one, when they don't follow it any more.
    fn leading(&self, index: usize, chunk: &Chunk) -> Option<(u32, Remark)> {
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
        let line = number(chunk.lines.start);
        let note = Remark::CommentLeavesMembers {
            line,
            with: self.label(index),
            others: others.iter().map(|other| self.label(*other)).collect(),
        };
        Some((line, note))
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
        let below = (index + 1..self.chunks.list.len()).take_while(|at| {
            let other = self.chunks.get(*at);
            other.is_some_and(|other| {
                let belongs = other.role == Role::Unit && other.path == chunk.path;
                belongs && other.lead == 0 && other.blank_before == 0
            })
        });
        below.collect()
    }

    fn label(&self, index: usize) -> String {
        let members = self.chunks.get(index).map_or(0..0, |chunk| chunk.members.clone());
        let found = self.join.expected.get(members).unwrap_or_default();
        let labels: Vec<String> = found.iter().map(|member| member.label()).collect();
        labels.join(", ")
    }
}

fn number(line: usize) -> u32 {
    u32::try_from(line + 1).unwrap_or(u32::MAX)
}
