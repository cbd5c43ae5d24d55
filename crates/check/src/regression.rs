//! A layout against an earlier one of the same struct: what a reviewer should look at.

use fieldline_layout::Layout;
use fieldline_layout::diff::{Change, LayoutDiff, Place};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What changed between two layouts of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegressionVerdict {
    /// Tag of the struct.
    pub name: String,
    /// Everything found: the struct's size and holes first, then members in their new order, removed ones last.
    pub findings: Vec<Finding>,
}

/// One change. Offsets in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "finding", rename_all = "kebab-case")]
pub enum Finding {
    /// The struct has another size in bytes, or covers another number of cachelines.
    Size {
        /// Bytes before.
        before: u64,
        /// Bytes now.
        after: u64,
        /// Cacheline size in bytes.
        line: u64,
        /// Cachelines before.
        lines_before: u64,
        /// Cachelines now.
        lines_after: u64,
    },
    /// More or fewer bits lie in holes.
    Holes {
        /// Bits before.
        before: u64,
        /// Bits now.
        after: u64,
    },
    /// A member is new.
    Added {
        /// Its name.
        member: String,
        /// Where it is.
        offset: u64,
    },
    /// A member is gone.
    Removed {
        /// Its name.
        member: String,
        /// Where it was.
        offset: u64,
    },
    /// A member lies elsewhere.
    Moved {
        /// Its name.
        member: String,
        /// Offset before.
        before: u64,
        /// Offset now.
        after: u64,
        /// Whether it lies on another cacheline than before.
        changes_line: bool,
    },
    /// A member has another size in bits.
    Resized {
        /// Its name.
        member: String,
        /// Bits before.
        before: u64,
        /// Bits now.
        after: u64,
    },
    /// A member has another type.
    Retyped {
        /// Its name.
        member: String,
        /// Type before.
        before: String,
        /// Type now.
        after: String,
    },
}

impl RegressionVerdict {
    /// Compares a layout with an earlier one. `line` is the cacheline size in bytes.
    pub fn new(before: &Layout, after: &Layout, line: u64) -> Self {
        let diff = LayoutDiff::between(before, after);
        let mut findings = Vec::new();
        if diff.size.0 != diff.size.1 {
            findings.push(Finding::Size {
                before: diff.size.0,
                after: diff.size.1,
                line,
                lines_before: before.cachelines(line),
                lines_after: after.cachelines(line),
            });
        }
        if diff.hole_bits.0 != diff.hole_bits.1 {
            findings.push(Finding::Holes { before: diff.hole_bits.0, after: diff.hole_bits.1 });
        }
        findings.extend(diff.changes.iter().flat_map(|change| of_member(change, line.max(1))));
        Self { name: after.name.clone(), findings }
    }

    /// Whether nothing changed.
    pub fn is_unchanged(&self) -> bool {
        self.findings.is_empty()
    }
}

fn of_member(change: &Change, line: u64) -> Vec<Finding> {
    let member = || change.label.clone();
    match (&change.before, &change.after) {
        (None, Some(after)) => vec![Finding::Added { member: member(), offset: after.bit_offset / 8 }],
        (Some(before), None) => vec![Finding::Removed { member: member(), offset: before.bit_offset / 8 }],
        (Some(before), Some(after)) => differences(change, before, after, line),
        (None, None) => Vec::new(),
    }
}

fn differences(change: &Change, before: &Place, after: &Place, line: u64) -> Vec<Finding> {
    let member = || change.label.clone();
    let moved = change.moved().then(|| Finding::Moved {
        member: member(),
        before: before.bit_offset / 8,
        after: after.bit_offset / 8,
        changes_line: before.bit_offset / 8 / line != after.bit_offset / 8 / line,
    });
    let resized = change.resized().then(|| Finding::Resized {
        member: member(),
        before: before.bit_size,
        after: after.bit_size,
    });
    let retyped = change.retyped().then(|| Finding::Retyped {
        member: member(),
        before: before.type_name.clone(),
        after: after.type_name.clone(),
    });
    moved.into_iter().chain(resized).chain(retyped).collect()
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size { before, after, line, lines_before, lines_after } => write!(
                f,
                "size: {before} -> {after} bytes, {lines_before} -> {lines_after} cachelines of {line} bytes"
            ),
            Self::Holes { before, after } => write!(f, "holes: {before} -> {after} bits"),
            Self::Added { member, offset } => write!(f, "{member}: new, at offset {offset}"),
            Self::Removed { member, offset } => write!(f, "{member}: gone, was at offset {offset}"),
            Self::Moved { member, before, after, changes_line } => {
                let line = if *changes_line { ", to another cacheline" } else { "" };
                write!(f, "{member}: offset {before} -> {after}{line}")
            }
            Self::Resized { member, before, after } => write!(f, "{member}: {before} -> {after} bits"),
            Self::Retyped { member, before, after } => write!(f, "{member}: type {before} -> {after}"),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fieldline_layout::Member;
    use fieldline_layout::layout::Role;

    pub(crate) fn member(name: Option<&str>, offset: u64, size: u64) -> Member {
        Member {
            name: name.map(str::to_owned),
            type_name: "long".to_owned(),
            bit_offset: offset * 8,
            bit_size: size * 8,
            bit_field_storage: None,
            align: size,
            explicit_align: None,
            aligned_type: false,
            role: Role::Plain,
            line: 0,
            members: Vec::new(),
            is_union: false,
        }
    }

    pub(crate) fn layout(size: u64, members: Vec<Member>) -> Layout {
        let empty = Layout {
            kind: "struct".to_owned(),
            name: "sample".to_owned(),
            size,
            align: 8,
            explicit_align: None,
            file: None,
            line: 0,
            members: Vec::new(),
            items: Vec::new(),
        };
        Layout::from_members(&empty, members, size)
    }

    #[test]
    fn an_unchanged_layout_has_no_findings() {
        let one = layout(16, vec![member(Some("a"), 0, 8), member(Some("b"), 8, 8)]);
        assert!(RegressionVerdict::new(&one, &one, 64).is_unchanged());
    }

    #[test]
    fn growth_holes_and_moves_to_other_lines_are_found() {
        let before =
            layout(64, vec![member(Some("a"), 0, 8), member(Some("b"), 8, 8), member(Some("c"), 16, 48)]);
        let after = layout(
            128,
            vec![
                member(Some("a"), 0, 8),
                member(Some("new"), 8, 4),
                member(Some("b"), 16, 8),
                member(Some("c"), 64, 48),
            ],
        );
        let verdict = RegressionVerdict::new(&before, &after, 64);
        let texts: Vec<String> = verdict.findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "size: 64 -> 128 bytes, 1 -> 2 cachelines of 64 bytes",
                "holes: 0 -> 352 bits",
                "new: new, at offset 8",
                "b: offset 8 -> 16",
                "c: offset 16 -> 64, to another cacheline",
            ]
        );
    }

    #[test]
    fn types_sizes_and_removals_are_found() {
        let before = layout(16, vec![member(Some("a"), 0, 8), member(Some("b"), 8, 8)]);
        let mut shrunk = member(Some("a"), 0, 4);
        shrunk.type_name = "int".to_owned();
        let verdict = RegressionVerdict::new(&before, &layout(16, vec![shrunk]), 64);
        let texts: Vec<String> = verdict.findings.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["a: 64 -> 32 bits", "a: type long -> int", "b: gone, was at offset 8"]);
    }
}
