//! From a wanted order of members to an order of lines.
//!
//! The body is cut into chunks of whole lines: units of members, barriers that nothing passes, and lines that stay
//! where they are. Chunks are put in order, `#if` lines are written around them again, and the new text is read
//! back before it is handed out.

mod chunk;
mod constraint;
mod note;
mod readback;
mod render;
mod sequence;

pub use chunk::Together;
pub use constraint::{MemberPlace, MemberUnit, TextConstraints};
pub use note::Remark;

use crate::edits::{Edit, Edits};
use crate::join::Join;
use crate::refusal::Refusal;
use chunk::Chunks;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;

/// The change that brings members into an order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reordering {
    /// Edits of the file's text; none for the declared order.
    pub edits: Edits,
    /// What a reader should know, by line of the original.
    pub notes: Vec<Remark>,
}

impl Join<'_, '_, '_> {
    /// What the text allows an order to do.
    pub fn constraints(&self) -> TextConstraints {
        TextConstraints::of(self, &Chunks::cut(self))
    }

    /// The edits that bring the members into an order: `order[k]` is the declared index of the member that comes
    /// `k`-th. All or nothing.
    ///
    /// # Errors
    /// If the order isn't one, breaks what [`Join::constraints`] says, or the result doesn't read back as meant.
    pub fn reorder(&self, order: &[usize]) -> Result<Reordering, Refusal> {
        let chunks = Chunks::cut(self);
        TextConstraints::of(self, &chunks).check(order)?;
        if self.body.is_inline {
            // Nothing may move then, and lines aren't all the body's own.
            return Ok(Reordering::default());
        }
        let sequence = sequence::arrange(self, &chunks, order);
        let notes = note::notes(self, &chunks, &sequence);
        let lines = render::render(self, &chunks, &sequence);
        let edits = line_edits(self, &lines);
        readback::check(self, &edits, order, &lines)?;
        Ok(Reordering { edits, notes })
    }
}

/// The fewest line edits that turn the body's lines into these lines of the original.
fn line_edits(join: &Join, lines: &[Range<usize>]) -> Edits {
    let source = join.body.source;
    let text = |line: usize| source.slice(source.lines().bytes(line));
    let old: Vec<&[u8]> = join.body.lines.clone().map(text).collect();
    let new: Vec<&[u8]> = lines.iter().cloned().flatten().map(text).collect();
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
