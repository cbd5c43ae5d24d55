//! False sharing that the tool reports, against the losses of the caches.

use super::table::Bound::{AtLeast, AtMost};
use super::table::Table;
use crate::research::statistics::percent;
use anyhow::{Context, Result};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_layout::Layout;
use fieldline_plan::cost::false_sharing::find_contended;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Cacheline size in bytes.
const LINE: u64 = 64;
/// Least losses, by writes to other words only, of a member that must be reported.
const MANY_LOSSES: u64 = 2_000;
/// A member with fewer losses must not be.
const FEW_LOSSES: u64 = 250;

/// A type and an offset in it.
type TypeOffset = (String, u64);

/// Adds the share of falsely shared members that is reported, and the share of reported ones without false sharing.
pub(super) fn add(table: &mut Table, profile: &AccessProfile, coherence: &Path) -> Result<()> {
    let truth = lost_lines(coherence)?;
    let types: BTreeSet<&str> = truth.keys().map(|(name, _)| name.as_str()).collect();
    let named: Vec<TypeOffset> = types.iter().flat_map(|name| reported(profile, name, &types)).collect();
    let many = truth.iter().filter(|(_, losses)| **losses >= MANY_LOSSES).map(|(place, _)| place);
    let (found, missed): (Vec<_>, Vec<_>) = many.partition(|place| named.contains(place));
    let wrong = named.iter().filter(|place| truth.get(place).copied().unwrap_or(0) < FEW_LOSSES).count();
    let share = |part: usize, whole: usize| percent(part as u64, whole as u64);
    let many = found.len() + missed.len();
    table.add(format!("falsely shared members found %, of {many}"), share(found.len(), many), AtLeast(90.0));
    let row = format!("members named without false sharing %, of {}", named.len());
    table.add(row, share(wrong, named.len()), AtMost(10.0));
    if !missed.is_empty() {
        let missed: Vec<String> = missed.iter().map(|(name, offset)| format!("{name}+{offset}")).collect();
        table.note(format!("falsely shared but not named: {}", missed.join(", ")));
    }
    Ok(())
}

/// Losses by writes to other words only, from rows whose first two fields are type and offset and whose last is the count.
fn lost_lines(path: &Path) -> Result<BTreeMap<TypeOffset, u64>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut found = BTreeMap::new();
    for row in text.lines().skip(1) {
        let words: Vec<&str> = row.split_whitespace().collect();
        let [name, offset, .., count] = words.as_slice() else {
            anyhow::bail!("{}: not a row: {row:?}", path.display())
        };
        found.insert(((*name).to_owned(), offset.parse()?), count.parse()?);
    }
    Ok(found)
}

/// Offsets of a struct that the tool reports, without those in an embedded struct that is scored itself.
fn reported(profile: &AccessProfile, name: &str, scored: &BTreeSet<&str>) -> Vec<TypeOffset> {
    let Some(ty) = busiest(profile, name) else { return Vec::new() };
    let layout = ty.layout.as_ref();
    let is_embedded = |offset| layout.is_some_and(|layout| is_embedded(layout, offset, scored));
    let offsets = find_contended(ty, LINE).into_iter().filter(|place| place.is_false());
    let offsets = offsets.map(|place| place.offset).filter(|offset| !is_embedded(*offset));
    offsets.map(|offset| (name.to_owned(), offset)).collect()
}

fn is_embedded(layout: &Layout, offset: u64, scored: &BTreeSet<&str>) -> bool {
    let member = layout.member_at(offset).and_then(|index| layout.members.get(index));
    let tag = member.and_then(|member| member.type_name.strip_prefix("struct "));
    tag.is_some_and(|tag| scored.contains(tag))
}

/// Of the structs of a name, the one with most samples.
pub(super) fn busiest<'p>(profile: &'p AccessProfile, name: &str) -> Option<&'p TypeProfile> {
    profile.types.iter().filter(|ty| ty.name == name).max_by_key(|ty| ty.samples())
}
