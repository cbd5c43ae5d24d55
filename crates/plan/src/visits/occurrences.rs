//! The types of a profile that have accesses to a struct: the struct itself, or else those that hold it by
//! value.

use crate::visits::{NameRanks, WindowEntry};
use fieldline_access::access::{Access, AccessProfile, CpuAccess};
use fieldline_layout::{Layout, Member};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// A type of the profile that is the struct or holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StructOccurrence {
    /// Index into the profile's types.
    pub type_index: usize,
    /// Where the struct begins in that type, in bytes.
    pub base: u64,
}

/// Finds a struct in a profile. A profile counts an access for every struct it touches, so the struct's own
/// entry is complete, and its holders would count the same accesses again.
pub fn find_occurrences(profile: &AccessProfile, layout: &Layout) -> Vec<StructOccurrence> {
    let mut found = Vec::new();
    let wanted = format!("{} {}", layout.kind, layout.name);
    for (type_index, profile_type) in profile.types.iter().enumerate() {
        if profile_type.name == layout.name && profile_type.size == layout.size {
            found.push(StructOccurrence { type_index, base: 0 });
        } else if let Some(outer) = &profile_type.layout {
            let bases = find_bases(&outer.members, &wanted, layout.size);
            found.extend(bases.into_iter().map(|base| StructOccurrence { type_index, base }));
        }
    }
    let own = |occurrence: &StructOccurrence| {
        profile.types.get(occurrence.type_index).is_some_and(|profile_type| profile_type.name == layout.name)
    };
    if found.iter().any(own) {
        found.retain(own);
    }
    found
}

/// Window entries of accesses, by function: a window names the struct that the code accesses through, which
/// for a struct inside another may be either.
pub fn window_entries(
    profile: &AccessProfile,
    accesses: &[Access],
    names: &NameRanks,
) -> BTreeMap<u32, Vec<WindowEntry>> {
    let instructions: FxHashSet<u64> = accesses.iter().map(|access| access.ip).collect();
    let mut entries: BTreeMap<u32, BTreeSet<WindowEntry>> = BTreeMap::new();
    for (type_index, profile_type) in (0..).zip(&profile.types) {
        for access in profile_type.accesses.iter().filter(|access| instructions.contains(&access.ip)) {
            let entry = names.rank_entry((type_index, access.function));
            entries.entry(access.function).or_default().insert(entry);
        }
    }
    entries.into_iter().map(|(function, entries)| (function, entries.into_iter().collect())).collect()
}

/// Byte offsets at which members, at any depth, are of a type.
pub(crate) fn find_bases(members: &[Member], type_name: &str, size: u64) -> Vec<u64> {
    let mut bases = Vec::new();
    for member in members {
        if member.type_name == type_name && member.size() == size {
            bases.push(member.offset());
        } else {
            bases.extend(find_bases(&member.members, type_name, size));
        }
    }
    bases
}

/// The accesses of a source that lie inside the struct, with offsets from its start.
pub fn struct_accesses(
    profile: &AccessProfile,
    occurrence: StructOccurrence,
    size: u64,
) -> impl Iterator<Item = Access> + '_ {
    let known = profile.types.get(occurrence.type_index).into_iter();
    let all = known.flat_map(|known| &known.accesses);
    all.filter_map(move |access| {
        let offset = access.offset.checked_sub(occurrence.base).filter(|offset| *offset < size)?;
        Some(Access { offset, ..access.clone() })
    })
}

/// The same by CPU, of all sources.
pub(crate) fn cpu_accesses<'p>(
    profile: &'p AccessProfile,
    occurrences: &'p [StructOccurrence],
    size: u64,
) -> impl Iterator<Item = CpuAccess> + 'p {
    let profile_type = occurrences
        .iter()
        .filter_map(|occurrence| Some((occurrence.base, profile.types.get(occurrence.type_index)?)));
    profile_type.flat_map(move |(base, held)| {
        held.cpus.iter().filter_map(move |access| {
            let offset = access.offset.checked_sub(base).filter(|offset| *offset < size)?;
            Some(CpuAccess { offset, ..*access })
        })
    })
}

/// Accesses to the struct, in an order that doesn't depend on the profile's.
pub(crate) fn collect_accesses(
    profile: &AccessProfile,
    layout: &Layout,
    occurrences: &[StructOccurrence],
) -> Vec<Access> {
    let found = occurrences.iter().flat_map(|occurrence| struct_accesses(profile, *occurrence, layout.size));
    let mut found: Vec<Access> = found.collect();
    found.sort_by_key(|access| (access.ip, access.offset, access.size, access.samples()));
    found
}
