//! Members of structs by path, such as `se.load.weight`: what layouts of one type in several builds share.
//!
//! Anonymous structs and unions add nothing to a path: C has their members in the scope around them.

use fieldline_layout::{Layout, Member};

/// A member with its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMember {
    /// Names from the struct's top, with dots between.
    pub path: String,
    /// Its type as C spells it.
    pub type_name: String,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

/// All members that have names, also those of structs held by value, in order of declaration.
pub fn list(layout: &Layout) -> Vec<PathMember> {
    let mut found = Vec::new();
    add_members(&layout.members, "", &mut found);
    found
}

fn add_members(members: &[Member], prefix: &str, found: &mut Vec<PathMember>) {
    for member in members {
        let path = join(prefix, member);
        if member.name.is_some() {
            let (type_name, path) = (member.type_name.clone(), path.clone());
            found.push(PathMember { path, type_name, offset: member.offset(), size: member.size() });
        }
        add_members(&member.members, &path, found);
    }
}

fn join(prefix: &str, member: &Member) -> String {
    match &member.name {
        None => prefix.to_owned(),
        Some(name) if prefix.is_empty() => name.clone(),
        Some(name) => format!("{prefix}.{name}"),
    }
}

/// The innermost member with a name that holds a byte; where several overlap, the smallest.
pub fn find(layout: &Layout, byte: u64) -> Option<PathMember> {
    let (mut members, mut path, mut found) = (layout.members.as_slice(), String::new(), None);
    let holds = |member: &&Member| {
        member.bit_size > 0 && member.offset() <= byte && byte < member.bit_end().div_ceil(8)
    };
    while let Some(member) = members.iter().filter(holds).min_by_key(|member| member.bit_size) {
        path = join(&path, member);
        if member.name.is_some() {
            let (type_name, path) = (member.type_name.clone(), path.clone());
            found = Some(PathMember { path, type_name, offset: member.offset(), size: member.size() });
        }
        members = &member.members;
    }
    found
}

/// The place of bytes in another layout of the type: where the members are that they belong to. None if one of
/// them is missing there or smaller, or if what was together is apart.
pub fn move_bytes(from: &Layout, to: &Layout, offset: u64, size: u64) -> Option<u64> {
    let first = move_byte(from, to, offset)?;
    let distance = size.max(1) - 1;
    let last = move_byte(from, to, offset.checked_add(distance)?)?;
    (first.checked_add(distance) == Some(last)).then_some(first)
}

fn move_byte(from: &Layout, to: &Layout, byte: u64) -> Option<u64> {
    let member = find(from, byte)?;
    let there = list(to).into_iter().find(|there| there.path == member.path)?;
    let within = byte - member.offset;
    (within < there.size).then_some(there.offset + within)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: Option<&str>, offset: u64, size: u64, members: Vec<Member>) -> Member {
        Member {
            name: name.map(str::to_owned),
            bit_offset: 8 * offset,
            bit_size: 8 * size,
            members,
            ..Member::default()
        }
    }

    fn layout(members: Vec<Member>) -> Layout {
        Layout { members, ..Layout::default() }
    }

    fn declared() -> Layout {
        let weight = member(Some("weight"), 8, 8, vec![]);
        let inner = member(None, 8, 12, vec![weight, member(Some("inv"), 16, 4, vec![])]);
        layout(vec![member(Some("a"), 0, 8, vec![]), member(Some("load"), 8, 12, vec![inner])])
    }

    #[test]
    fn paths_pass_through_what_has_no_name() {
        let paths: Vec<String> = list(&declared()).into_iter().map(|member| member.path).collect();
        assert_eq!(paths, ["a", "load", "load.weight", "load.inv"]);
        assert_eq!(find(&declared(), 17).unwrap().path, "load.inv");
        assert_eq!(find(&declared(), 20), None);
    }

    #[test]
    fn bytes_follow_their_member_and_nothing_goes_by_offset() {
        let weight = member(Some("weight"), 12, 8, vec![]);
        let load = member(Some("load"), 8, 12, vec![member(Some("inv"), 8, 4, vec![]), weight]);
        let other = layout(vec![load]);
        assert_eq!(move_bytes(&declared(), &other, 8, 8), Some(12));
        assert_eq!(move_bytes(&declared(), &other, 16, 4), Some(8));
        assert_eq!(move_bytes(&declared(), &other, 0, 8), None, "the member is missing there");
        assert_eq!(move_bytes(&declared(), &other, 8, 12), None, "its members have changed places");
        assert_eq!(move_bytes(&declared(), &declared(), 4, 8), Some(4), "bytes of two neighbours");
    }
}
