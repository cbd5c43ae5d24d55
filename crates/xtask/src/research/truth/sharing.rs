//! False sharing that the tool names, against what caches really lost.

use super::score::percent;
use super::table::{FigureBound, FigureTable};
use anyhow::{Context, Result};
use fieldline_access::access::{AccessProfile, TypeProfile};
use fieldline_layout::{Layout, Member};
use fieldline_plan::cost::false_sharing::find_contended;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Cacheline size in bytes.
const LINE: u64 = 64;
/// Losses by writes to other words only: from so many on a member must be named.
const MANY_LOSSES: u64 = 2_000;
/// Below so many it must not be.
const FEW_LOSSES: u64 = 250;

/// A place of a struct: type and offset.
type StructOffset = (String, u64);

/// Adds what share of the members is found, and what share of those named has no false sharing.
pub(super) fn add(table: &mut FigureTable, profile: &AccessProfile, coherence: &Path) -> Result<()> {
    let truth = lost_lines(coherence)?;
    let types: BTreeSet<&str> = truth.keys().map(|(name, _)| name.as_str()).collect();
    let named: Vec<StructOffset> =
        types.iter().flat_map(|name| named_offsets(profile, name, &types)).collect();
    let many: Vec<&StructOffset> =
        truth.iter().filter(|row| *row.1 >= MANY_LOSSES).map(|row| row.0).collect();
    let (found, missed): (Vec<&StructOffset>, Vec<&StructOffset>) =
        many.iter().partition(|place| named.contains(place));
    let wrong = named.iter().filter(|place| truth.get(place).copied().unwrap_or(0) < FEW_LOSSES).count();
    let share = |part: usize, whole: usize| percent(part as u64, whole as u64);
    let row = format!("falsely shared members found %, of {}", many.len());
    table.add(row, share(found.len(), many.len()), FigureBound::AtLeast(90.0));
    let row = format!("members named without false sharing %, of {}", named.len());
    table.add(row, share(wrong, named.len()), FigureBound::AtMost(10.0));
    if !missed.is_empty() {
        let missed: Vec<String> = missed.iter().map(|(name, offset)| format!("{name}+{offset}")).collect();
        table.note(format!("falsely shared but not named: {}", missed.join(", ")));
    }
    Ok(())
}

/// Losses by writes to other words only, from rows whose first two fields are type and offset and whose last is the count.
fn lost_lines(path: &Path) -> Result<BTreeMap<StructOffset, u64>> {
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

/// Places of a struct that the tool names, without those in a held struct that is judged itself.
fn named_offsets(profile: &AccessProfile, name: &str, judged: &BTreeSet<&str>) -> Vec<StructOffset> {
    let Some(ty) = busiest(profile, name) else { return Vec::new() };
    let places = find_contended(ty, LINE).into_iter().filter(|place| place.is_false());
    let places = places
        .filter(|place| !ty.layout.as_ref().is_some_and(|layout| is_held(layout, place.offset, judged)));
    places.map(|place| (name.to_owned(), place.offset)).collect()
}

fn is_held(layout: &Layout, offset: u64, judged: &BTreeSet<&str>) -> bool {
    let is_judged =
        |member: &Member| member.type_name.strip_prefix("struct ").is_some_and(|name| judged.contains(name));
    layout.member_at(offset).and_then(|index| layout.members.get(index)).is_some_and(is_judged)
}

/// Of the structs of a name, the one most samples touched.
pub(super) fn busiest<'p>(profile: &'p AccessProfile, name: &str) -> Option<&'p TypeProfile> {
    profile.types.iter().filter(|ty| ty.name == name).max_by_key(|ty| ty.samples())
}
