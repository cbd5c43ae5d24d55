//! Where a profile tells about a struct: under its own name, and inside structs that hold it by value.

use fieldline_layout::access::{Access, AccessProfile};
use fieldline_layout::{Layout, Member};

/// A type of the profile that is the struct or holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Index into the profile's types.
    pub type_index: usize,
    /// Where the struct begins in that type, in bytes.
    pub base: u64,
}

/// The places where a profile tells about a struct.
pub fn sources(profile: &AccessProfile, layout: &Layout) -> Vec<Source> {
    let mut found = Vec::new();
    let wanted = format!("{} {}", layout.kind, layout.name);
    for (type_index, held) in profile.types.iter().enumerate() {
        if held.name == layout.name && held.size == layout.size {
            found.push(Source { type_index, base: 0 });
        } else if let Some(outer) = &held.layout {
            let bases = bases_of(&outer.members, &wanted, layout.size);
            found.extend(bases.into_iter().map(|base| Source { type_index, base }));
        }
    }
    found
}

/// Byte offsets at which members, at any depth, are of a type.
fn bases_of(members: &[Member], type_name: &str, size: u64) -> Vec<u64> {
    let mut bases = Vec::new();
    for member in members {
        if member.type_name == type_name && member.size() == size {
            bases.push(member.offset());
        } else {
            bases.extend(bases_of(&member.members, type_name, size));
        }
    }
    bases
}

/// The accesses of a source that lie inside the struct, with offsets from its start.
pub fn accesses(profile: &AccessProfile, source: Source, size: u64) -> impl Iterator<Item = Access> + '_ {
    let all = profile.types.get(source.type_index).map(|held| held.accesses.iter());
    let inside = all
        .into_iter()
        .flatten()
        .filter(move |access| access.offset >= source.base && access.offset - source.base < size);
    inside.map(move |access| Access { offset: access.offset - source.base, ..access.clone() })
}
