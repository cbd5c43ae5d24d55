//! Byte-range edits that never overlap.

use std::ops::Range;

/// Bytes to put in place of a range of the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Range of the original; empty for an insertion.
    pub range: Range<usize>,
    /// Bytes that replace it; empty for a deletion.
    pub replacement: Vec<u8>,
}

/// Edits of one text, in order. The original is never changed; [`Edits::apply`] makes the new text in one go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    sorted: Vec<Edit>,
}

/// Two edits want the same bytes, or insert at the same place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("edit of bytes {}..{} overlaps the edit of bytes {}..{}", new.start, new.end, old.start, old.end)]
pub struct EditOverlap {
    /// The edit that came first.
    pub old: Range<usize>,
    /// The one refused.
    pub new: Range<usize>,
}

impl Edits {
    /// Adds an edit.
    /// Fails if it overlaps one that is there; nothing changes then.
    pub fn insert(&mut self, edit: Edit) -> Result<(), EditOverlap> {
        let at = self.sorted.partition_point(|old| old.range.start < edit.range.start);
        let before = at.checked_sub(1).and_then(|before| self.sorted.get(before));
        for old in before.into_iter().chain(self.sorted.get(at)) {
            if ranges_overlap(&old.range, &edit.range) {
                return Err(EditOverlap { old: old.range.clone(), new: edit.range });
            }
        }
        self.sorted.insert(at, edit);
        Ok(())
    }

    /// Adds all of another set's edits or none.
    /// Fails with the first overlap.
    pub fn merge(&mut self, other: &Self) -> Result<(), EditOverlap> {
        let mut merged = self.clone();
        for edit in &other.sorted {
            merged.insert(edit.clone())?;
        }
        *self = merged;
        Ok(())
    }

    /// The edits in order.
    pub fn iter(&self) -> impl Iterator<Item = &Edit> {
        self.sorted.iter()
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    /// The text with every edit made. Ranges beyond the text's end are cut at it.
    pub fn apply(&self, original: &[u8]) -> Vec<u8> {
        let mut text = Vec::with_capacity(original.len());
        let mut at = 0;
        for edit in &self.sorted {
            text.extend_from_slice(clip(original, at..edit.range.start));
            text.extend_from_slice(&edit.replacement);
            at = edit.range.end;
        }
        text.extend_from_slice(clip(original, at..original.len()));
        text
    }
}

impl From<Edit> for Edits {
    fn from(edit: Edit) -> Self {
        Self { sorted: vec![edit] }
    }
}

fn clip(bytes: &[u8], range: Range<usize>) -> &[u8] {
    bytes.get(range.start.min(bytes.len())..range.end.min(bytes.len())).unwrap_or_default()
}

/// Whether two ranges share a byte, or are insertions at one place, or one inserts inside the other.
fn ranges_overlap(first: &Range<usize>, second: &Range<usize>) -> bool {
    let shares = first.start < second.end && second.start < first.end;
    shares || first.start == second.start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(range: Range<usize>, text: &str) -> Edit {
        Edit { range, replacement: text.as_bytes().to_vec() }
    }

    #[test]
    fn applies_in_order_of_place() {
        let mut edits = Edits::default();
        edits.insert(edit(4..6, "XY")).unwrap();
        edits.insert(edit(0..1, "")).unwrap();
        edits.insert(edit(2..2, "-")).unwrap();
        assert_eq!(edits.apply(b"abcdef"), b"b-cdXY");
    }

    #[test]
    fn refuses_overlap_and_stays_as_it_was() {
        let mut edits = Edits::default();
        edits.insert(edit(2..5, "x")).unwrap();
        for range in [2..3, 4..6, 0..3, 3..3, 2..2, 0..9] {
            let overlap = edits.insert(edit(range.clone(), "y")).unwrap_err();
            assert_eq!((overlap.old, overlap.new), (2..5, range));
        }
        edits.insert(edit(5..5, "y")).unwrap();
        assert_eq!(edits.apply(b"abcdef"), b"abxyf");
    }

    #[test]
    fn merges_all_or_nothing() {
        let mut ours = Edits::default();
        ours.insert(edit(4..5, "x")).unwrap();
        let mut theirs = Edits::default();
        theirs.insert(edit(0..1, "y")).unwrap();
        theirs.insert(edit(3..5, "z")).unwrap();
        let before = ours.clone();
        assert!(ours.merge(&theirs).is_err());
        assert_eq!(ours, before);
    }
}
