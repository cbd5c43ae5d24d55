//! Where a profile tells about a struct: under its own name, or else inside structs that hold it by value.

use crate::visits::{Names, WindowWord};
use fieldline_access::access::{Access, AccessProfile, CpuAccess};
use fieldline_layout::{Layout, Member};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// A type of the profile that is the struct or holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileSource {
    /// Index into the profile's types.
    pub type_index: usize,
    /// Where the struct begins in that type, in bytes.
    pub base: u64,
}

/// The places where a profile tells about a struct. A profile credits an access to every struct it is one to, so what
/// it holds under the struct's own name is complete, and in its holders the same accesses would be met again.
pub fn sources(profile: &AccessProfile, layout: &Layout) -> Vec<ProfileSource> {
    let mut found = Vec::new();
    let wanted = format!("{} {}", layout.kind, layout.name);
    for (type_index, held) in profile.types.iter().enumerate() {
        if held.name == layout.name && held.size == layout.size {
            found.push(ProfileSource { type_index, base: 0 });
        } else if let Some(outer) = &held.layout {
            let bases = bases_of(&outer.members, &wanted, layout.size);
            found.extend(bases.into_iter().map(|base| ProfileSource { type_index, base }));
        }
    }
    let own = |source: &ProfileSource| {
        profile.types.get(source.type_index).is_some_and(|of| of.name == layout.name)
    };
    if found.iter().any(own) {
        found.retain(own);
    }
    found
}

/// The words that windows may hold for accesses, by function: a window names the one struct that the code speaks of,
/// which for a struct inside another is now the one, now the other.
pub fn words(profile: &AccessProfile, accesses: &[Access], names: &Names) -> BTreeMap<u32, Vec<WindowWord>> {
    let instructions: FxHashSet<u64> = accesses.iter().map(|access| access.ip).collect();
    let mut words: BTreeMap<u32, BTreeSet<WindowWord>> = BTreeMap::new();
    for (type_index, held) in (0..).zip(&profile.types) {
        for access in held.accesses.iter().filter(|access| instructions.contains(&access.ip)) {
            words.entry(access.function).or_default().insert(names.word((type_index, access.function)));
        }
    }
    words.into_iter().map(|(function, words)| (function, words.into_iter().collect())).collect()
}

/// Byte offsets at which members, at any depth, are of a type.
pub(crate) fn bases_of(members: &[Member], type_name: &str, size: u64) -> Vec<u64> {
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
pub fn accesses(
    profile: &AccessProfile,
    source: ProfileSource,
    size: u64,
) -> impl Iterator<Item = Access> + '_ {
    let all = profile.types.get(source.type_index).into_iter().flat_map(|held| &held.accesses);
    all.filter_map(move |access| {
        let offset = access.offset.checked_sub(source.base).filter(|offset| *offset < size)?;
        Some(Access { offset, ..access.clone() })
    })
}

/// The same by CPU, of all sources.
pub(crate) fn cpus<'p>(
    profile: &'p AccessProfile,
    sources: &'p [ProfileSource],
    size: u64,
) -> impl Iterator<Item = CpuAccess> + 'p {
    let held = sources.iter().filter_map(|source| Some((source.base, profile.types.get(source.type_index)?)));
    held.flat_map(move |(base, held)| {
        held.cpus.iter().filter_map(move |access| {
            let offset = access.offset.checked_sub(base).filter(|offset| *offset < size)?;
            Some(CpuAccess { offset, ..*access })
        })
    })
}

/// Accesses to the struct, in an order that doesn't depend on the profile's.
pub(crate) fn accesses_of(
    profile: &AccessProfile,
    layout: &Layout,
    sources: &[ProfileSource],
) -> Vec<Access> {
    let found = sources.iter().flat_map(|source| accesses(profile, *source, layout.size));
    let mut found: Vec<Access> = found.collect();
    found.sort_by_key(|access| (access.ip, access.offset, access.size, access.samples()));
    found
}
