//! Differences between two builds: only where members lie, and what follows from that, may differ.

use crate::error::{Error, Result};
use fieldline_check::change::{ChangeKind, MemberChange, TypeChange};
use fieldline_check::set::SetDiff;
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::Layout;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Beginning of the names of members and types that mark groups (include/linux/cache.h).
const MARKER: &str = "__cacheline_group_";
/// Changes of members that are more than another place.
const OTHER_CHANGES: [ChangeKind; 5] =
    [ChangeKind::Added, ChangeKind::Removed, ChangeKind::Renamed, ChangeKind::Retyped, ChangeKind::Resized];

/// Changes between a kernel and one with a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelChanges {
    /// Structs whose own members were moved, or begin at another offset though none of the structs within changed.
    pub reordered: Vec<String>,
    /// Structs that changed because one of these lies in them.
    pub holders: Vec<String>,
    /// Changes that are more than another place, a sentence each.
    pub others: Vec<String>,
}

/// Compares all layouts of two kernels. `lines` are sizes of cachelines in bytes.
#[must_use]
pub fn compare_kernels(before: &[Layout], after: &[Layout], lines: &[u64]) -> KernelChanges {
    let diff = SetDiff::between(before, after, lines);
    let changed: BTreeMap<&str, &TypeChange> =
        diff.changed.iter().map(|change| (change.name.as_str(), change)).collect();
    let mut found = KernelChanges::default();
    for change in &diff.changed {
        let names = inner_types(change, &changed);
        let is_moved = change.has_change(ChangeKind::Moved);
        let list = if is_moved || names.is_empty() { &mut found.reordered } else { &mut found.holders };
        list.push(change.name.clone());
        for member in &change.members {
            let kind = member.what.iter().find(|kind| OTHER_CHANGES.contains(kind));
            if let Some(kind) = kind.filter(|kind| !is_harmless(member, **kind, &changed)) {
                found.others.push(format!("{}.{} is {}", change.name, member.member, word(*kind)));
            }
        }
    }
    for (names, word) in [(&diff.added, "new"), (&diff.removed, "gone")] {
        let meant = names.iter().filter(|name| !name.starts_with(MARKER));
        found.others.extend(meant.map(|name| format!("type {name} is {word}")));
    }
    for list in [&mut found.reordered, &mut found.holders] {
        list.sort();
        list.dedup();
    }
    found
}

/// Whether a member is a mark, or has another size as its type has.
fn is_harmless(member: &MemberChange, kind: ChangeKind, changed: &BTreeMap<&str, &TypeChange>) -> bool {
    let name = member.member.rsplit('.').next().unwrap_or_default();
    let resized =
        || kind == ChangeKind::Resized && type_of(member).is_some_and(|tag| changed.contains_key(tag));
    name.starts_with(MARKER) || resized()
}

/// Changed types that members of a type have.
fn inner_types<'c>(change: &TypeChange, changed: &BTreeMap<&'c str, &TypeChange>) -> BTreeSet<&'c str> {
    let tags =
        change.members.iter().filter(|member| member.what.contains(&ChangeKind::Resized)).filter_map(type_of);
    tags.filter_map(|tag| changed.get_key_value(tag).map(|(name, _)| *name)).collect()
}

/// The tag of a member's type: of `struct a [4]` it is `a`.
fn type_of(member: &MemberChange) -> Option<&str> {
    let spelled = member.after.as_ref().or(member.before.as_ref())?.type_name.as_str();
    let tag = spelled.strip_prefix("struct ").or_else(|| spelled.strip_prefix("union ")).unwrap_or(spelled);
    tag.split([' ', '[']).next()
}

fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Added => "new",
        ChangeKind::Removed => "gone",
        ChangeKind::Renamed => "renamed",
        ChangeKind::Retyped => "of another type",
        ChangeKind::Resized => "of another size",
        ChangeKind::Moved => "moved",
        ChangeKind::Shifted => "shifted",
        ChangeKind::Realigned => "aligned otherwise",
    }
}

/// The first section of code or data that differs between two kernels, if one does.
///
/// # Errors
///
/// A file is no kernel.
pub fn same_sections(before: &Path, after: &Path) -> Result<Option<String>> {
    let files = [before, after].map(FileBytes::open);
    let [before, after] = files.map(|file| file.map_err(Error::debug_info));
    let (before, after) = (before?, after?);
    let sections = |file| -> Result<Vec<_>> {
        let elf = Elf::parse(file).map_err(Error::debug_info)?;
        let mut all = elf.text_sections();
        all.extend(elf.data_sections());
        Ok(all)
    };
    let (before, after) = (sections(&before)?, sections(&after)?);
    if before.len() != after.len() {
        return Ok(Some(format!("{} sections, and {}", before.len(), after.len())));
    }
    let mut pairs = before.iter().zip(&after);
    Ok(pairs.find(|(before, after)| before != after).map(|((name, ..), _)| (*name).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::Member;

    fn layout(name: &str, members: &[(&str, &str, u64, u64)]) -> Layout {
        let mut layout = Layout { name: name.to_owned(), kind: "struct".to_owned(), ..Layout::default() };
        for (name, type_name, offset, size) in members {
            layout.members.push(Member {
                name: Some((*name).to_owned()),
                type_name: (*type_name).to_owned(),
                bit_offset: offset * 8,
                bit_size: size * 8,
                ..Member::default()
            });
            layout.size = layout.size.max(offset + size);
        }
        layout
    }

    #[test]
    fn other_changes_are_listed_apart() {
        let before = [
            layout("inner", &[("a", "long", 0, 8), ("b", "int", 8, 4), ("c", "long", 16, 8)]),
            layout("outer", &[("in", "struct inner", 0, 24), ("x", "long", 24, 8)]),
            layout("other", &[("p", "long", 0, 8)]),
        ];
        let mut after = [
            layout("inner", &[("b", "int", 0, 4), ("a", "long", 8, 8), ("c", "long", 16, 8)]),
            layout("outer", &[("in", "struct inner", 0, 24), ("x", "long", 24, 8)]),
            layout("other", &[("p", "long", 0, 8)]),
        ];
        let changes = compare_kernels(&before, &after, &[64]);
        assert_eq!((changes.reordered, changes.others), (vec!["inner".to_owned()], vec![]));
        after[2] = layout("other", &[("q", "int", 0, 4)]);
        after[1] = layout("outer", &[("in", "struct inner", 0, 16), ("x", "long", 16, 8)]);
        let changes = compare_kernels(&before, &after, &[64]);
        assert_eq!(changes.holders, ["outer"]);
        assert!(!changes.others.is_empty() && changes.others.iter().all(|what| what.starts_with("other.")));
    }
}
