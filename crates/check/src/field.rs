//! The members of a struct as C code names them.
//!
//! Members of unnamed structs and unions count as the struct's own. Members of a named member of unnamed type
//! have a path (`stats.hits`). Members of structs with a tag are not listed: their changes belong to that
//! struct. Layouts have no elements of arrays, so an unnamed struct in an array shows its size only.

use fieldline_layout::declaration::flat_arrays;
use fieldline_layout::layout::{Layout, Member, MemberRole};

/// A member with its path.
#[derive(Clone, Debug)]
pub struct Field<'l> {
    /// Its name, after the names of the members it is in.
    pub path: String,
    /// Number of equal paths before it.
    pub nth: usize,
    /// The member.
    pub member: &'l Member,
    /// Index of the top-level member that it is or is in.
    pub top: usize,
}

impl Field<'_> {
    /// Whether it holds data; markers and flexible arrays have no size.
    pub fn is_data(&self) -> bool {
        self.member.bit_size > 0 && !self.member.role.is_marker()
    }

    /// Whether it holds data itself, not in members of its own that are fields as well.
    pub(crate) fn is_leaf(&self) -> bool {
        self.is_data() && self.member.members.is_empty()
    }

    /// Whether both are of one type.
    pub(crate) fn has_type_of(&self, other: &Field<'_>) -> bool {
        flat_arrays(&self.member.type_name) == flat_arrays(&other.member.type_name)
    }

    /// Whether it fits a line of `line` bytes and yet lies on two, in a struct that begins on a line.
    pub fn straddles(&self, line: u64) -> bool {
        self.member.straddles_line(line)
    }

    /// Index of the line of `line` bytes it begins on.
    pub fn line(&self, line: u64) -> u64 {
        self.member.offset() / line.max(1)
    }

    /// Alignment in bytes written at the member and not at its type.
    pub fn own_align(&self) -> Option<u64> {
        self.member.explicit_align.filter(|_| !self.member.aligned_type)
    }
}

/// All members with their paths, in declared order.
pub fn fields(layout: &Layout) -> Vec<Field<'_>> {
    let mut found = Vec::with_capacity(layout.members.len());
    for (top, member) in layout.members.iter().enumerate() {
        collect_fields(&mut found, member, "", top);
    }
    number_equal_paths(&mut found);
    found
}

/// Whether the members inside are listed as the struct's own.
fn is_open(member: &Member) -> bool {
    let is_unnamed = member.type_name.contains("{…}") && !member.type_name.contains(['*', '(', '[']);
    is_unnamed && !member.members.is_empty()
}

fn collect_fields<'l>(found: &mut Vec<Field<'l>>, member: &'l Member, prefix: &str, top: usize) {
    let (path, inner) = match &member.name {
        Some(name) => (format!("{prefix}{name}"), format!("{prefix}{name}.")),
        None => (format!("{prefix}({})", member.type_name), prefix.to_owned()),
    };
    let is_open = is_open(member);
    if member.name.is_some() || !is_open {
        found.push(Field { path, nth: 0, member, top });
    }
    for held in member.members.iter().filter(|_| is_open) {
        collect_fields(found, held, &inner, top);
    }
}

fn number_equal_paths(found: &mut [Field<'_>]) {
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|a, b| found[*a].path.cmp(&found[*b].path).then(a.cmp(b)));
    for pair in 1..order.len() {
        let (before, at) = (order[pair - 1], order[pair]);
        if found[before].path == found[at].path {
            found[at].nth = found[before].nth + 1;
        }
    }
}

/// Drops the members of structs with a tag, which no comparison uses.
pub fn prune(layout: &mut Layout) {
    layout.members.iter_mut().for_each(prune_member);
    layout.members.shrink_to_fit();
}

fn prune_member(member: &mut Member) {
    if is_open(member) {
        member.members.iter_mut().for_each(prune_member);
    } else {
        member.members = Vec::new();
    }
}

/// The groups between `__cacheline_group_begin__NAME` and `__cacheline_group_end__NAME` markers
/// (include/linux/cache.h): a marker's role and the group's name.
pub fn cacheline_group(member: &Member) -> Option<(MemberRole, &str)> {
    let name = member.name.as_deref()?;
    let prefix = match member.role {
        MemberRole::GroupBegin => "__cacheline_group_begin__",
        MemberRole::GroupEnd => "__cacheline_group_end__",
        _ => return None,
    };
    Some((member.role, name.strip_prefix(prefix)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{layout, member, typed};

    #[test]
    fn unnamed_structs_are_opened_and_tagged_ones_not() {
        let mut unnamed = typed(None, "union {…}", 0, 8);
        unnamed.members = vec![member(Some("a"), 0, 8), member(Some("b"), 0, 8)];
        let mut of_unnamed_type = typed(Some("stats"), "struct {…}", 8, 8);
        of_unnamed_type.members = vec![member(Some("hits"), 8, 8)];
        let mut tagged = typed(Some("node"), "struct node", 16, 16);
        tagged.members = vec![member(Some("next"), 16, 8)];
        let mut parent = layout(32, vec![unnamed, of_unnamed_type, tagged]);
        let paths = |parent: &Layout| fields(parent).into_iter().map(|field| field.path).collect::<Vec<_>>();
        assert_eq!(paths(&parent), ["a", "b", "stats", "stats.hits", "node"]);
        let before = paths(&parent);
        prune(&mut parent);
        assert_eq!(paths(&parent), before);
        assert!(parent.members[2].members.is_empty() && !parent.members[0].members.is_empty());
    }

    #[test]
    fn equal_paths_are_numbered() {
        let parent = layout(16, vec![typed(None, "int", 0, 4), typed(None, "int", 4, 4)]);
        let numbers: Vec<usize> = fields(&parent).iter().map(|field| field.nth).collect();
        assert_eq!(numbers, [0, 1]);
    }

    #[test]
    fn a_member_straddles_only_a_line_it_would_fit() {
        let straddles = |offset, size, line| {
            fields(&layout(128, vec![member(Some("a"), offset, size)]))[0].straddles(line)
        };
        assert!(straddles(60, 8, 64));
        assert!(!straddles(60, 4, 64));
        assert!(!straddles(0, 128, 64));
        assert!(!straddles(60, 8, 128));
    }
}
