//! Typedefs by name, found as `find` finds definitions.

use super::find::{
    SearchTargets, candidate_names, deduplicate_names, find_first_in_batches, join_candidates, match_name,
    names_to_try, walk_unit,
};
use super::spelling::{MAX_ATTEMPTS, Spellings};
use crate::dwarf::bytes::scan::UnitScan;
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::error::Result;

/// The first typedef of each of some names, of whatever it is one. Fails if a unit that may hold one is broken.
pub fn find_typedefs(dwarf: &Dwarf<'_>, names: &[&str]) -> Result<Vec<Option<DieRef>>> {
    let (distinct, places) = deduplicate_names(names);
    let spellings = Spellings::new(dwarf, &distinct);
    let mut found = vec![None; distinct.len()];
    for attempt in 0..MAX_ATTEMPTS {
        let open = names_to_try(&spellings, attempt, |name| found[name].is_none());
        let find = |units: &[u32], wanted: &SearchTargets<'_, '_>| {
            find_typedefs_in_units(dwarf, units, wanted, !spellings.indexed)
        };
        find_first_in_batches(dwarf, &spellings, (attempt, open), find, &mut found)?;
    }
    let may_be = |name: &u32| spellings.get(*name).is_some_and(|spelling| !spelling.complete);
    let rest = (0..spellings.len() as u32).filter(|name| found[*name as usize].is_none()).filter(may_be);
    let anywhere =
        |units: &[u32], wanted: &SearchTargets<'_, '_>| find_typedefs_in_units(dwarf, units, wanted, false);
    find_first_in_batches(dwarf, &spellings, (MAX_ATTEMPTS, rest.collect()), anywhere, &mut found)?;
    Ok(places.into_iter().map(|place| found[place]).collect())
}

/// The first typedef of each name in some units.
fn find_typedefs_in_units(
    dwarf: &Dwarf<'_>,
    units: &[u32],
    wanted: &SearchTargets<'_, '_>,
    is_supposed: bool,
) -> Result<Vec<(u32, DieRef)>> {
    let mut found: Vec<(u32, DieRef)> = Vec::new();
    for &unit in units {
        let (mut names, places) = match is_supposed {
            true => join_candidates(candidate_names(dwarf, unit, wanted, |_| true)?),
            false => (wanted.names.clone(), None),
        };
        names.retain(|name| !found.iter().any(|(known, _)| known == name));
        if names.is_empty() {
            continue;
        }
        let scan = UnitScan::new(dwarf, unit)?;
        walk_unit(dwarf, unit, &scan, places.as_deref(), |offset, seen| {
            if seen.abbrev.tag == gimli::DW_TAG_typedef
                && let Some(name) = match_name(dwarf, unit, &scan, seen, wanted)
                && let Some(place) = names.iter().position(|wanted| *wanted == name)
            {
                names.swap_remove(place);
                found.push((name, DieRef { unit, offset }));
            }
            Ok(!names.is_empty())
        })?;
    }
    Ok(found)
}
