//! Typedefs by name, found as `find` finds definitions.

use super::find::{Search, deduplicate_names, find_first_in_batches, join_candidates, walk_unit};
use super::spelling::{MAX_ATTEMPTS, Spellings};
use crate::dwarf::bytes::scan::UnitScan;
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::error::Result;

/// The first typedef of each of some names, of whatever it is one. Fails if a unit that may hold one is broken.
pub fn find_typedefs(dwarf: &Dwarf<'_>, names: &[&str]) -> Result<Vec<Option<DieRef>>> {
    let (distinct, positions) = deduplicate_names(names);
    let spellings = Spellings::new(dwarf, &distinct);
    let mut found = vec![None; distinct.len()];
    let find = |everywhere| {
        move |search: &Search<'_, '_, '_>, units: &[u32]| find_in_units(search, units, everywhere)
    };
    for attempt in 0..MAX_ATTEMPTS {
        let missing = spellings.with_attempt(attempt, |name| found[name].is_none());
        find_first_in_batches(dwarf, &spellings, (attempt, missing), find(spellings.indexed), &mut found)?;
    }
    let rest = (0..).zip(&found).filter(|(name, found)| found.is_none() && spellings.is_incomplete(*name));
    let rest = rest.map(|(name, _)| name).collect();
    find_first_in_batches(dwarf, &spellings, (MAX_ATTEMPTS, rest), find(true), &mut found)?;
    Ok(positions.into_iter().map(|position| found[position]).collect())
}

/// The first typedef of each name in some units: at the search's candidates, or anywhere in them.
fn find_in_units(search: &Search<'_, '_, '_>, units: &[u32], everywhere: bool) -> Result<Vec<(u32, DieRef)>> {
    let dwarf = search.dwarf;
    let mut found: Vec<(u32, DieRef)> = Vec::new();
    for &unit in units {
        let (mut names, offsets) = match everywhere {
            true => (search.names.clone(), None),
            false => join_candidates(search.candidates(unit, |_| true)?),
        };
        names.retain(|name| !found.iter().any(|(known, _)| known == name));
        if names.is_empty() {
            continue;
        }
        let scan = UnitScan::new(dwarf, unit)?;
        walk_unit(dwarf, unit, &scan, offsets.as_deref(), |offset, die| {
            if die.abbrev.tag == gimli::DW_TAG_typedef
                && let Some(name) = search.match_name(unit, &scan, die)
                && let Some(position) = names.iter().position(|missing| *missing == name)
            {
                names.swap_remove(position);
                found.push((name, DieRef { unit, offset }));
            }
            Ok(!names.is_empty())
        })?;
    }
    Ok(found)
}
