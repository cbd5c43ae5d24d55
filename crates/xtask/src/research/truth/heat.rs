//! Heat of members, by samples and in truth.

use crate::research::statistics;
use anyhow::{Context, Result};
use fieldline_access::access::TypeProfile;
use fieldline_layout::Member;
use std::collections::BTreeMap;
use std::path::Path;

/// Rank correlation of samples with true accesses over the innermost members that have either.
pub(super) fn correlation(profile: &TypeProfile, name: &str, truth: &Path) -> Result<f64> {
    let members = profile.layout.as_ref().map_or(&[][..], |layout| &layout.members);
    let mut heat: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for access in &profile.accesses {
        heat.entry(member_offset(members, access.offset)).or_default().0 += access.samples();
    }
    for (offset, accesses) in accesses(name, truth)? {
        heat.entry(member_offset(members, offset)).or_default().1 += accesses;
    }
    Ok(statistics::rank_correlation(&heat.into_values().collect::<Vec<_>>()))
}

/// Offset of the innermost member that holds a byte; of none, the byte's.
fn member_offset(members: &[Member], offset: u64) -> u64 {
    let holds = |member: &&Member| member.offset() <= offset && offset < member.bit_end().div_ceil(8);
    match members.iter().find(holds) {
        Some(member) if member.members.is_empty() => member.offset(),
        Some(member) => member_offset(&member.members, offset),
        None => offset,
    }
}

/// Loads and stores of a type by offset, from rows `ip type offset loads stores`.
fn accesses(name: &str, truth: &Path) -> Result<Vec<(u64, u64)>> {
    let text = std::fs::read_to_string(truth).with_context(|| truth.display().to_string())?;
    let mut found = Vec::new();
    for row in text.lines().filter(|row| !row.starts_with('#')) {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [_, owner, offset, loads, stores] = words.as_slice() else {
            anyhow::bail!("{}: not a row: {row:?}", truth.display())
        };
        if *owner == name {
            found.push((offset.parse()?, loads.parse::<u64>()? + stores.parse::<u64>()?));
        }
    }
    Ok(found)
}
