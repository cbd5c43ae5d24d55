//! Changes between two layouts of one struct.

use crate::field::{Field, fields};
use crate::matching::{keeps_order, match_fields};
use fieldline_layout::LayoutItem::{self, BitHole, BitPadding, Hole, Padding};
use fieldline_layout::{Layout, slab_class};
use serde::Serialize;
use std::collections::BTreeSet;

/// A figure before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FigureChange {
    /// In the old layout.
    pub before: u64,
    /// In the new layout.
    pub after: u64,
}

impl FigureChange {
    fn measure<T>(before: T, after: T, figure: impl Fn(T) -> u64) -> Self {
        Self { before: figure(before), after: figure(after) }
    }

    /// Whether they differ.
    pub fn differs(self) -> bool {
        self.before != self.after
    }
}

/// Cachelines a struct takes when it begins on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LineCount {
    /// Bytes of a line.
    pub line: u64,
    /// How many, before and after.
    #[serde(flatten)]
    pub count: FigureChange,
}

/// Changes of a struct. Sizes in bytes unless the name says bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TypeChange {
    /// struct, union or class, in the new layout.
    pub kind: String,
    /// Tag, or the typedef's name of one without.
    pub name: String,
    /// File that declares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line that declares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The struct's size.
    pub size: FigureChange,
    /// Its alignment.
    pub align: FigureChange,
    /// Bytes `kmalloc` takes for it.
    pub slab: FigureChange,
    /// Cachelines, by size of the line.
    pub cachelines: Vec<LineCount>,
    /// Bits in holes between members.
    pub hole_bits: FigureChange,
    /// Bits behind the last member.
    pub padding_bits: FigureChange,
    /// Members that changed: those of the new layout in its order, then the removed ones.
    pub members: Vec<MemberChange>,
}

/// Kind of a member's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It has another name: of the same type at the same offset or between the same neighbours.
    Renamed,
    /// Its place in the order of members changed.
    Moved,
    /// Its offset changed because other members were added, removed or resized.
    Shifted,
    /// It has another size.
    Resized,
    /// It has another type.
    Retyped,
    /// Alignment written at it changed.
    Realigned,
}

/// A member that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberChange {
    /// Its name, after the names of the members it is in.
    pub member: String,
    /// Its former name, if it was renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// Kinds of its change.
    pub what: Vec<ChangeKind>,
    /// Its earlier position; `None` if it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<MemberPosition>,
    /// Its position; `None` if it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<MemberPosition>,
    /// Line sizes for which it straddles two lines and did not before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub straddles: Vec<u64>,
    /// Line sizes for which it straddled two lines and lies on one now. A member that grew beyond a line
    /// still crosses one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<u64>,
    /// Line sizes for which it begins on another line than before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes_line: Vec<u64>,
}

/// Offset, size and type of a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemberPosition {
    /// Offset in bits.
    pub bit_offset: u64,
    /// Size in bits.
    pub bit_size: u64,
    /// Type as C spells it.
    pub type_name: String,
    /// Line that declares it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl TypeChange {
    /// Compares two layouts; `None` if they are equal. `lines` are sizes of cachelines in bytes.
    pub fn between(before: &Layout, after: &Layout, lines: &[u64]) -> Option<Self> {
        let (old, new) = (fields(before), fields(after));
        let members = member_changes(&old, &new, lines);
        let step = |figure: fn(&Layout) -> u64| FigureChange::measure(before, after, figure);
        let (size, align) = (step(|layout| layout.size), step(|layout| layout.align));
        if members.is_empty() && !size.differs() && !align.differs() && before.kind == after.kind {
            return None;
        }
        let cachelines = |line: &u64| LineCount {
            line: *line,
            count: FigureChange::measure(before, after, |layout| layout.cachelines(*line)),
        };
        Some(Self {
            kind: after.kind.clone(),
            name: after.name.clone(),
            file: after.file.clone(),
            line: after.line,
            size,
            align,
            slab: step(|layout| slab_class(layout.size)),
            cachelines: lines.iter().map(cachelines).collect(),
            hole_bits: step(hole_bits),
            padding_bits: step(padding_bits),
            members,
        })
    }

    /// Whether any member has this kind of change.
    pub fn has_change(&self, what: ChangeKind) -> bool {
        self.members.iter().any(|member| member.what.contains(&what))
    }
}

/// Bits in holes between members.
pub(crate) fn hole_bits(layout: &Layout) -> u64 {
    gap_bits(layout, |item| matches!(item, Hole { .. } | BitHole { .. }))
}

/// Bits behind the last member.
pub(crate) fn padding_bits(layout: &Layout) -> u64 {
    gap_bits(layout, |item| matches!(item, Padding { .. } | BitPadding { .. }))
}

fn gap_bits(layout: &Layout, is_meant: impl Fn(&LayoutItem) -> bool) -> u64 {
    layout.items.iter().filter(|item| is_meant(item)).map(|item| item.bits().1).sum()
}

fn member_changes(old: &[Field<'_>], new: &[Field<'_>], lines: &[u64]) -> Vec<MemberChange> {
    if is_unchanged(old, new) {
        return Vec::new();
    }
    let of_new = match_fields(old, new);
    let kept = keeps_order(old, new, &of_new);
    let mut renames: Vec<(&str, &str)> = Vec::new();
    let mut changes = Vec::new();
    for (at, field) in new.iter().enumerate() {
        match of_new[at] {
            None => changes.push(added_or_removed(None, Some(field), lines)),
            Some(index) => {
                let was = &old[index];
                let is_renamed = is_renamed(was, field, &renames);
                if was.path != field.path {
                    renames.push((&was.path, &field.path));
                }
                changes.extend(change_in_both(was, field, (is_renamed, kept[at]), lines));
            }
        }
    }
    let paired: BTreeSet<usize> = of_new.iter().copied().flatten().collect();
    let gone = (0..).zip(old).filter(|(index, _)| !paired.contains(index));
    changes.extend(gone.map(|(_, field)| added_or_removed(Some(field), None, lines)));
    changes
}

fn is_unchanged(old: &[Field<'_>], new: &[Field<'_>]) -> bool {
    let location = |field: &Field<'_>| (field.member.bit_offset, field.member.bit_size, field.own_align());
    let is_equal = |(old, new): (&Field<'_>, &Field<'_>)| {
        location(old) == location(new) && old.path == new.path && old.has_type_of(new)
    };
    old.len() == new.len() && old.iter().zip(new).all(is_equal)
}

/// A path that differs only because an outer member was renamed is no rename of its own.
fn is_renamed(old_field: &Field<'_>, new_field: &Field<'_>, renames: &[(&str, &str)]) -> bool {
    let follows = |(old, new): &(&str, &str)| {
        let rest = old_field.path.strip_prefix(old).filter(|rest| rest.starts_with('.'));
        rest.is_some() && rest == new_field.path.strip_prefix(new)
    };
    old_field.path != new_field.path && !renames.iter().any(follows)
}

fn position(field: &Field<'_>) -> MemberPosition {
    MemberPosition {
        bit_offset: field.member.bit_offset,
        bit_size: field.member.bit_size,
        type_name: field.member.type_name.clone(),
        line: field.member.line,
    }
}

/// The change of a member that only one layout has.
fn added_or_removed(old: Option<&Field<'_>>, new: Option<&Field<'_>>, lines: &[u64]) -> MemberChange {
    let straddles = |line: &u64| new.is_some_and(|field| field.straddles(*line));
    MemberChange {
        member: new.or(old).map(|field| field.path.clone()).unwrap_or_default(),
        was: None,
        what: vec![if new.is_some() { ChangeKind::Added } else { ChangeKind::Removed }],
        before: old.map(position),
        after: new.map(position),
        straddles: lines.iter().copied().filter(|line| straddles(line)).collect(),
        joined: Vec::new(),
        changes_line: Vec::new(),
    }
}

/// The change of a member that is in both layouts, if there is one.
fn change_in_both(
    old: &Field<'_>,
    new: &Field<'_>,
    (is_renamed, keeps_order): (bool, bool),
    lines: &[u64],
) -> Option<MemberChange> {
    let (old_member, new_member) = (old.member, new.member);
    let lies_elsewhere = old_member.bit_offset != new_member.bit_offset;
    let facts = [
        (is_renamed, ChangeKind::Renamed),
        (lies_elsewhere && !keeps_order, ChangeKind::Moved),
        (lies_elsewhere && keeps_order, ChangeKind::Shifted),
        (old_member.bit_size != new_member.bit_size, ChangeKind::Resized),
        (!old.has_type_of(new), ChangeKind::Retyped),
        (old.own_align() != new.own_align(), ChangeKind::Realigned),
    ];
    let what: Vec<ChangeKind> = facts.into_iter().filter(|(holds, _)| *holds).map(|(_, what)| what).collect();
    if what.is_empty() {
        return None;
    }
    let lines_where = |fits: &dyn Fn(u64) -> bool| lines.iter().copied().filter(|line| fits(*line)).collect();
    Some(MemberChange {
        member: new.path.clone(),
        was: is_renamed.then(|| old.path.clone()),
        what,
        before: Some(position(old)),
        after: Some(position(new)),
        straddles: lines_where(&|line| new.straddles(line) && !old.straddles(line)),
        joined: lines_where(&|line| old.straddles(line) && !new_member.crosses_line(line)),
        changes_line: lines_where(&|line| old.line(line) != new.line(line)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{layout, longs, member, typed};

    fn kinds(change: &TypeChange) -> Vec<(&str, &[ChangeKind])> {
        change.members.iter().map(|member| (member.member.as_str(), member.what.as_slice())).collect()
    }

    #[test]
    fn a_layout_has_no_change_against_itself() {
        let sample = longs(&["a", "b", "c"]);
        assert_eq!(TypeChange::between(&sample, &sample, &[64]), None);
    }

    #[test]
    fn growth_shifts_what_follows_and_moves_what_changed_its_place() {
        let old = longs(&["a", "b", "c", "d", "e", "f", "g", "h"]);
        let new = longs(&["new", "a", "b", "c", "d", "f", "g", "h", "e"]);
        let change = TypeChange::between(&old, &new, &[64, 128]).unwrap();
        assert_eq!(change.size, FigureChange { before: 64, after: 72 });
        assert_eq!(change.slab, FigureChange { before: 64, after: 96 });
        let counts: Vec<FigureChange> = change.cachelines.iter().map(|lines| lines.count).collect();
        assert_eq!(counts, [FigureChange { before: 1, after: 2 }, FigureChange { before: 1, after: 1 }]);
        let [(first, added), .., (last, moved)] = &kinds(&change)[..] else { panic!("{change:?}") };
        assert_eq!((*first, *added), ("new", &[ChangeKind::Added][..]));
        assert_eq!((*last, *moved), ("e", &[ChangeKind::Moved][..]));
        assert_eq!(change.members.last().unwrap().changes_line, [64]);
        assert!(!change.has_change(ChangeKind::Removed) && change.has_change(ChangeKind::Shifted));
    }

    #[test]
    fn renames_carry_their_members_along() {
        let holding = |name: &str, inner: &str| {
            let mut stats = typed(Some(name), "struct {…}", 8, 8);
            stats.members = vec![member(Some(inner), 8, 8)];
            layout(16, vec![member(Some("a"), 0, 8), stats])
        };
        let between = |old: &Layout, new: &Layout| TypeChange::between(old, new, &[64]).unwrap();
        let change = between(&holding("stats", "hits"), &holding("counts", "hits"));
        assert_eq!(kinds(&change), [("counts", &[ChangeKind::Renamed][..])]);
        assert_eq!(change.members[0].was.as_deref(), Some("stats"));
        let change = between(&holding("stats", "hits"), &holding("stats", "visits"));
        assert_eq!(kinds(&change), [("stats.visits", &[ChangeKind::Renamed][..])]);
    }

    #[test]
    fn types_sizes_and_crossings_are_seen() {
        let old =
            layout(72, vec![member(Some("a"), 0, 56), member(Some("b"), 56, 8), member(Some("c"), 64, 8)]);
        let new = layout(
            72,
            vec![member(Some("a"), 0, 60), member(Some("b"), 60, 8), typed(Some("c"), "int", 68, 4)],
        );
        let change = TypeChange::between(&old, &new, &[64]).unwrap();
        assert_eq!(
            kinds(&change),
            [
                ("a", &[ChangeKind::Resized][..]),
                ("b", &[ChangeKind::Shifted][..]),
                ("c", &[ChangeKind::Shifted, ChangeKind::Resized, ChangeKind::Retyped][..])
            ]
        );
        assert_eq!(change.members[1].straddles, [64]);
        let back = TypeChange::between(&new, &old, &[64]).unwrap();
        assert_eq!(back.members[1].joined, [64]);
    }

    #[test]
    fn a_lost_alignment_and_a_removed_member_are_changes() {
        let mut old = longs(&["a", "b"]);
        old.members[1].explicit_align = Some(8);
        let change = TypeChange::between(&old, &longs(&["a", "b"]), &[64]).unwrap();
        assert_eq!(kinds(&change), [("b", &[ChangeKind::Realigned][..])]);
        let change = TypeChange::between(&longs(&["a", "b"]), &longs(&["a"]), &[64]).unwrap();
        assert_eq!(kinds(&change), [("b", &[ChangeKind::Removed][..])]);
        assert!(change.members[0].after.is_none());
    }
}
