//! Two layouts of one struct compared: what moved, grew, came and went.
//!
//! Members are matched by name. Anonymous ones have none; they are matched by type, in order.

use crate::layout::{Item, Layout, Member};
use std::collections::BTreeMap;

/// What differs between two layouts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutDiff {
    /// Size in bytes, before and after.
    pub size: (u64, u64),
    /// Bits in holes and bit holes, before and after.
    pub hole_bits: (u64, u64),
    /// Bits of padding, before and after.
    pub padding_bits: (u64, u64),
    /// Members that differ: those of the new layout in its order, then the removed ones.
    pub changes: Vec<Change>,
}

/// One member that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The member's name, or what stands for it.
    pub label: String,
    /// Index and place before; `None` if it was added.
    pub before: Option<Place>,
    /// Index and place after; `None` if it was removed.
    pub after: Option<Place>,
}

/// Where a member lies in its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Index among the struct's members.
    pub index: usize,
    /// Offset in bits.
    pub bit_offset: u64,
    /// Size in bits.
    pub bit_size: u64,
    /// Type as C spells it.
    pub type_name: String,
}

impl LayoutDiff {
    /// Compares two layouts.
    pub fn between(before: &Layout, after: &Layout) -> Self {
        let (old, new) = (matched(before), matched(after));
        let mut changes: Vec<Change> = Vec::new();
        for (index, member) in after.members.iter().enumerate() {
            let after_place = Place::of(index, member);
            let earlier = new.keys.get(index).and_then(|key| old.by_key.get(key));
            let before_place = earlier.map(|index| Place::of(*index, &before.members[*index]));
            if before_place.as_ref().is_none_or(|place| place.differs(&after_place)) {
                changes.push(Change {
                    label: member.label().to_owned(),
                    before: before_place,
                    after: Some(after_place),
                });
            }
        }
        changes.extend(removed(before, &old, &new));
        Self {
            size: (before.size, after.size),
            hole_bits: (gap_bits(before, false), gap_bits(after, false)),
            padding_bits: (gap_bits(before, true), gap_bits(after, true)),
            changes,
        }
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.size.0 == self.size.1
    }
}

impl Change {
    /// Whether the member is in both layouts at different offsets.
    pub fn moved(&self) -> bool {
        matches!((&self.before, &self.after), (Some(before), Some(after)) if before.bit_offset != after.bit_offset)
    }

    /// Whether the member is in both layouts with different sizes.
    pub fn resized(&self) -> bool {
        matches!((&self.before, &self.after), (Some(before), Some(after)) if before.bit_size != after.bit_size)
    }

    /// Whether the member is in both layouts with different types.
    pub fn retyped(&self) -> bool {
        matches!((&self.before, &self.after), (Some(before), Some(after)) if before.type_name != after.type_name)
    }
}

impl Place {
    fn of(index: usize, member: &Member) -> Self {
        Self {
            index,
            bit_offset: member.bit_offset,
            bit_size: member.bit_size,
            type_name: member.type_name.clone(),
        }
    }

    fn differs(&self, other: &Self) -> bool {
        (self.bit_offset, self.bit_size) != (other.bit_offset, other.bit_size)
            || self.type_name != other.type_name
    }
}

/// What members are matched by: name, or type of an anonymous one; then how many equal ones came before.
type Key = (Option<String>, String, usize);

/// The members of one layout with their keys.
struct Matched {
    keys: Vec<Key>,
    by_key: BTreeMap<Key, usize>,
}

fn matched(layout: &Layout) -> Matched {
    let mut seen: BTreeMap<(Option<String>, String), usize> = BTreeMap::new();
    let mut keys = Vec::with_capacity(layout.members.len());
    for member in &layout.members {
        let base = match &member.name {
            Some(name) => (Some(name.clone()), String::new()),
            None => (None, member.type_name.clone()),
        };
        let count = seen.entry(base.clone()).or_default();
        keys.push((base.0, base.1, *count));
        *count += 1;
    }
    let by_key = keys.iter().cloned().zip(0..).collect();
    Matched { keys, by_key }
}

fn removed(before: &Layout, old: &Matched, new: &Matched) -> Vec<Change> {
    let gone = old.keys.iter().enumerate().filter(|(_, key)| !new.by_key.contains_key(*key));
    gone.map(|(index, _)| {
        let member = &before.members[index];
        Change { label: member.label().to_owned(), before: Some(Place::of(index, member)), after: None }
    })
    .collect()
}

fn gap_bits(layout: &Layout, padding: bool) -> u64 {
    let gaps = layout.items.iter().filter(|item| match item {
        Item::Hole { .. } | Item::BitHole { .. } => !padding,
        Item::Padding { .. } | Item::BitPadding { .. } => padding,
        Item::Members { .. } => false,
    });
    gaps.map(|item| item.bits().1).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Role;

    fn member(name: Option<&str>, type_name: &str, offset: u64, size: u64) -> Member {
        Member {
            name: name.map(str::to_owned),
            type_name: type_name.to_owned(),
            bit_offset: offset * 8,
            bit_size: size * 8,
            bit_field_storage: None,
            align: size.max(1),
            explicit_align: None,
            aligned_type: false,
            role: Role::Plain,
            line: 0,
            members: Vec::new(),
            is_union: false,
        }
    }

    fn layout(size: u64, members: Vec<Member>) -> Layout {
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
    fn equal_layouts_differ_in_nothing() {
        let one = layout(8, vec![member(Some("a"), "long", 0, 8)]);
        assert!(LayoutDiff::between(&one, &one).is_empty());
    }

    #[test]
    fn moves_sizes_and_holes_are_seen() {
        let before = layout(
            24,
            vec![
                member(Some("a"), "int", 0, 4),
                member(Some("b"), "long", 8, 8),
                member(Some("c"), "int", 16, 4),
            ],
        );
        let after = layout(
            16,
            vec![
                member(Some("a"), "int", 0, 4),
                member(Some("c"), "int", 4, 4),
                member(Some("b"), "long", 8, 8),
            ],
        );
        let diff = LayoutDiff::between(&before, &after);
        assert_eq!(diff.size, (24, 16));
        assert_eq!(diff.hole_bits, (32, 0));
        assert_eq!(diff.padding_bits, (32, 0));
        let moved: Vec<&str> = diff.changes.iter().map(|change| change.label.as_str()).collect();
        assert_eq!(moved, ["c"]);
        assert!(diff.changes[0].moved() && !diff.changes[0].resized());
    }

    #[test]
    fn anonymous_members_are_matched_by_type_and_order() {
        let before = layout(
            24,
            vec![
                member(None, "union {…}", 0, 8),
                member(None, "union {…}", 8, 8),
                member(Some("gone"), "long", 16, 8),
            ],
        );
        let after = layout(
            24,
            vec![
                member(None, "union {…}", 0, 8),
                member(Some("new"), "long", 8, 8),
                member(None, "union {…}", 16, 8),
            ],
        );
        let diff = LayoutDiff::between(&before, &after);
        let labels: Vec<&str> = diff.changes.iter().map(|change| change.label.as_str()).collect();
        assert_eq!(labels, ["new", "(anonymous)", "gone"]);
        assert!(diff.changes[0].before.is_none() && diff.changes[2].after.is_none());
    }
}
