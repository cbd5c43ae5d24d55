//! The definitions of names, without parsing the rest of the file.
//!
//! A name stands in .debug_str (or in place), so the units that may define it are those whose bytes hold the
//! string's offset. A hit is a definition's name only if, under some abbreviation of the unit that defines a struct,
//! the attribute's place fits: that is a proof when it fails, and a guess when it fits. A guess is believed only if
//! the struct it shows has the signature of a definition found for certain; otherwise the unit is walked to the place.
//! Many names share each pass: over the strings, over the units' bytes, and along a unit that is walked.

use super::index::{self, DwarfDefinition, defined_kind, merge_equal_definitions};
use super::needles::{NeedleMatch, Needles};
use super::signature::SignatureBuilder;
use super::spelling::{MAX_ATTEMPTS, Spellings};
use crate::dwarf::bytes::abbrev::{self, Attr, DefiningAbbrev};
use crate::dwarf::bytes::scan::{self, ScannedDie, UnitScan};
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::error::Result;
use fieldline_parallel as parallel;
use gimli::Section;
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many units a thread searches in one go.
const UNITS_PER_CHUNK: usize = 32;

/// All distinct definitions of each of some names, in order of their first occurrence; none of a name that has none. Fails if a
/// unit that may hold one is broken.
pub fn find_many(dwarf: &Dwarf<'_>, names: &[&str]) -> Result<Vec<Vec<DwarfDefinition>>> {
    let (distinct, places) = deduplicate_names(names);
    let spellings = Spellings::new(dwarf, &distinct);
    let units: Vec<u32> = (0..dwarf.unit_count() as u32).collect();
    let mut found = vec![Vec::new(); distinct.len()];
    for attempt in 0..MAX_ATTEMPTS {
        let open = names_to_try(&spellings, attempt, |name| found[name].is_empty());
        if open.is_empty() {
            continue;
        }
        let wanted = SearchTargets::new(dwarf, &spellings, attempt, open, false);
        // Chunks are found in parallel but joined in order, so that the first definition is the file's first.
        let chunks: Vec<&[u32]> = units.chunks(UNITS_PER_CHUNK).collect();
        let parts: Result<Vec<Vec<Vec<DwarfDefinition>>>> =
            parallel::map(&chunks, |chunk| find_in_units(dwarf, chunk, &wanted)).into_iter().collect();
        for part in parts? {
            for (known, more) in found.iter_mut().zip(part) {
                more.into_iter().for_each(|definition| add_definition(known, definition));
            }
        }
    }
    for definitions in found.iter_mut().filter(|definitions| definitions.len() > 1) {
        *definitions = merge_equal_definitions(dwarf, std::mem::take(definitions))?;
    }
    find_in_full_index(dwarf, &spellings, &mut found)?;
    Ok(places.into_iter().map(|place| found[place].clone()).collect())
}

/// The first definition of each of some names in file order, `units` counting itself only. For callers that know there is one
/// definition and want no proof: most kernel structs stand in the first of thousands of units. Fails as [`find_many`] does.
pub fn find_first_many(dwarf: &Dwarf<'_>, names: &[&str]) -> Result<Vec<Option<DwarfDefinition>>> {
    let (distinct, places) = deduplicate_names(names);
    let spellings = Spellings::new(dwarf, &distinct);
    let first = |(name, all): (u32, Vec<DwarfDefinition>)| {
        all.into_iter().next().map(|first| (name, DwarfDefinition { units: 1, ..first }))
    };
    let find = |units: &[u32], wanted: &SearchTargets<'_, '_>| {
        Ok((0..).zip(find_in_units(dwarf, units, wanted)?).filter_map(first).collect())
    };
    let mut found = vec![None; distinct.len()];
    for attempt in 0..MAX_ATTEMPTS {
        let open = names_to_try(&spellings, attempt, |name| found[name].is_none());
        find_first_in_batches(dwarf, &spellings, (attempt, open), find, &mut found)?;
    }
    let mut found: Vec<Vec<DwarfDefinition>> = found.into_iter().map(Vec::from_iter).collect();
    find_in_full_index(dwarf, &spellings, &mut found)?;
    Ok(places.into_iter().map(|place| found[place].first().cloned()).collect())
}

/// The names, each once, and for each of those given which of them it is.
pub(super) fn deduplicate_names<'n>(names: &[&'n str]) -> (Vec<&'n str>, Vec<usize>) {
    let (mut all, mut known) = (Vec::new(), FxHashMap::default());
    let places = names.iter().map(|name| {
        *known.entry(*name).or_insert_with(|| {
            all.push(*name);
            all.len() - 1
        })
    });
    let places = places.collect();
    (all, places)
}

/// The names that an attempt has something to try for, as far as they are wanted.
pub(super) fn names_to_try(
    spellings: &Spellings<'_>,
    attempt: usize,
    is_wanted: impl Fn(usize) -> bool,
) -> Vec<u32> {
    let has_attempt = |name: &u32| spellings.get(*name).is_some_and(|spelling| spelling.has_attempt(attempt));
    (0..spellings.len() as u32).filter(|name| is_wanted(*name as usize)).filter(has_attempt).collect()
}

/// Walks everything for names that were not found but may stand where no attempt looked.
fn find_in_full_index(
    dwarf: &Dwarf<'_>,
    spellings: &Spellings<'_>,
    found: &mut [Vec<DwarfDefinition>],
) -> Result<()> {
    let is_open = |name: usize| {
        found[name].is_empty() && spellings.get(name as u32).is_some_and(|spelling| !spelling.complete)
    };
    if !(0..found.len()).any(is_open) {
        return Ok(());
    }
    let open: Vec<bool> = (0..found.len()).map(is_open).collect();
    for definition in index::index_definitions(dwarf)? {
        let name = spellings.index(definition.name.as_bytes()).map(|name| name as usize);
        if let Some(name) = name.filter(|name| open[*name]) {
            found[name].push(definition);
        }
    }
    Ok(())
}

/// Looks at ever more units at once until all names are found, and gives the first of each in file order.
pub(super) fn find_first_in_batches<T: Send>(
    dwarf: &Dwarf<'_>,
    spellings: &Spellings<'_>,
    (attempt, mut open): (usize, Vec<u32>),
    find: impl Fn(&[u32], &SearchTargets<'_, '_>) -> Result<Vec<(u32, T)>> + Sync,
    found: &mut [Option<T>],
) -> Result<()> {
    let units: Vec<u32> = (0..dwarf.unit_count() as u32).collect();
    let (mut rest, mut batch) = (units.as_slice(), 1);
    while !rest.is_empty() && !open.is_empty() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        let wanted = SearchTargets::new(dwarf, spellings, attempt, open.clone(), true);
        let chunks: Vec<&[u32]> = now.chunks(UNITS_PER_CHUNK).collect();
        let parts: Result<Vec<Vec<(u32, T)>>> =
            parallel::map(&chunks, |chunk| find(chunk, &wanted)).into_iter().collect();
        for (name, first) in parts?.into_iter().flatten() {
            found[name as usize].get_or_insert(first);
        }
        open.retain(|name| found[*name as usize].is_none());
        (rest, batch) = (later, batch * 4);
    }
    Ok(())
}

/// Whether the file holds units of a compiler whose types BTF leaves out (pahole's --lang_exclude=rust in
/// scripts/Makefile.btf), so that BTF does not tell how many definitions a name has.
pub fn has_types_beyond_btf(dwarf: &Dwarf<'_>) -> bool {
    memmem::find(dwarf.inner.debug_str.reader().slice(), b"rustc version").is_some()
}

/// What to search for.
pub(super) struct SearchTargets<'w, 'n> {
    pub(super) spellings: &'w Spellings<'n>,
    /// The names that are searched for, sorted.
    pub(super) names: Vec<u32>,
    needles: Needles<'static>,
    /// Whether one definition of each is enough.
    is_first_enough: bool,
}

impl<'w, 'n> SearchTargets<'w, 'n> {
    pub(super) fn new(
        dwarf: &Dwarf<'_>,
        spellings: &'w Spellings<'n>,
        attempt: usize,
        names: Vec<u32>,
        is_first_enough: bool,
    ) -> Self {
        let needles = Needles::new(dwarf, spellings, attempt, &names);
        Self { spellings, names, needles, is_first_enough }
    }
}

/// The definitions of each name in some units.
fn find_in_units(
    dwarf: &Dwarf<'_>,
    units: &[u32],
    wanted: &SearchTargets<'_, '_>,
) -> Result<Vec<Vec<DwarfDefinition>>> {
    let mut found: Vec<Vec<DwarfDefinition>> = vec![Vec::new(); wanted.spellings.len()];
    for &unit in units {
        let is_wanted = |name: u32| !wanted.is_first_enough || found[name as usize].is_empty();
        if wanted.spellings.indexed {
            let names: Vec<u32> = wanted.names.iter().copied().filter(|name| is_wanted(*name)).collect();
            walk_for_definitions(
                dwarf,
                wanted,
                &mut SignatureBuilder::new_by_offset(dwarf, unit)?,
                (&names, None),
                &mut found,
            )?;
            continue;
        }
        let mut supposed = candidate_names(dwarf, unit, wanted, is_wanted)?;
        if supposed.is_empty() {
            continue;
        }
        let mut signer = SignatureBuilder::new_by_offset(dwarf, unit)?;
        supposed.retain(|(name, here)| {
            let known = &mut found[*name as usize];
            !here.as_ref().is_some_and(|here| match_candidates(&mut signer, here, known))
        });
        if !supposed.is_empty() {
            let (names, places) = join_candidates(supposed);
            walk_for_definitions(dwarf, wanted, &mut signer, (&names, places.as_deref()), &mut found)?;
        }
    }
    Ok(found)
}

/// Names that a unit may define, in order, each with the places where it may; `None`: where arithmetic does not reach.
pub(super) fn candidate_names(
    dwarf: &Dwarf<'_>,
    unit: u32,
    wanted: &SearchTargets<'_, '_>,
    is_wanted: impl Fn(u32) -> bool,
) -> Result<Vec<(u32, Option<Vec<usize>>)>> {
    let hits = wanted.needles.find_matches(dwarf, dwarf.entry(unit)?);
    if hits.is_empty() {
        return Ok(Vec::new());
    }
    let (section, start, encoding) = dwarf.abbreviation_bytes(dwarf.entry(unit)?);
    let definers = abbrev::find_defining_abbrevs(section, start, encoding);
    let by_name = hits.chunk_by(|left, right| left.name == right.name);
    let named = by_name.filter_map(|hits| Some((hits.first()?.name, hits)));
    let placed = named
        .filter(|(name, _)| is_wanted(*name))
        .map(|(name, hits)| (name, candidate_offsets(dwarf, unit, definers.as_deref(), hits)));
    Ok(placed.filter(|(_, here)| here.as_ref().is_none_or(|here| !here.is_empty())).collect())
}

/// The names, and all places in order; `None`: anywhere.
pub(super) fn join_candidates(supposed: Vec<(u32, Option<Vec<usize>>)>) -> (Vec<u32>, Option<Vec<usize>>) {
    let (names, places): (Vec<u32>, Vec<_>) = supposed.into_iter().unzip();
    let places = places.into_iter().collect::<Option<Vec<_>>>().map(|places| {
        let mut places = places.concat();
        places.sort_unstable();
        places
    });
    (names, places)
}

/// Walks the signer's unit for definitions of names, which are sorted.
fn walk_for_definitions<'s>(
    dwarf: &Dwarf<'s>,
    wanted: &SearchTargets<'_, '_>,
    signer: &mut SignatureBuilder<'_, 's>,
    (names, candidates): (&[u32], Option<&[usize]>),
    found: &mut [Vec<DwarfDefinition>],
) -> Result<()> {
    let (scan, unit) = (Rc::clone(&signer.scan), signer.unit);
    walk_unit(dwarf, unit, &scan, candidates, |offset, seen| {
        if let Some(kind) = defined_kind(&scan, seen)
            && let Some(index) = match_name(dwarf, unit, &scan, seen, wanted)
            && names.binary_search(&index).is_ok()
            && let Some(spelling) = wanted.spellings.get(index)
        {
            let signature =
                signer.compute_signature(offset).ok_or_else(|| dwarf.broken_die_error(unit, offset))?;
            let die = DieRef { unit, offset };
            let definition = DwarfDefinition::new(spelling.name, kind, seen.abbrev.tag, die, signature);
            add_definition(&mut found[index as usize], definition);
        }
        Ok(true)
    })
}

/// Offsets of DIEs that would be definitions with the name at a hit, sorted. Empty: there is no definition here, for sure.
/// `None`: a definition may be where arithmetic does not reach.
fn candidate_offsets(
    dwarf: &Dwarf<'_>,
    unit: u32,
    definers: Option<&[DefiningAbbrev]>,
    hits: &[NeedleMatch],
) -> Option<Vec<usize>> {
    let bytes = dwarf.unit_bytes(dwarf.entry(unit).ok()?);
    let mut candidates = Vec::new();
    for definer in definers? {
        let offset = definer.name_offset?;
        let here = hits.iter().filter(|hit| hit.form == definer.form);
        let starts =
            here.filter_map(|hit| scan::code_before(bytes, hit.at.checked_sub(offset)?, definer.code));
        candidates.extend(starts);
    }
    candidates.sort_unstable();
    Some(candidates)
}

/// Counts the candidates that equal a definition known for certain; `false` if one does not.
fn match_candidates(
    signer: &mut SignatureBuilder<'_, '_>,
    candidates: &[usize],
    found: &mut [DwarfDefinition],
) -> bool {
    let mut counts = vec![0; found.len()];
    for &offset in candidates {
        let signature = signer.compute_signature(offset);
        match found.iter().position(|known| Some(known.signature) == signature) {
            Some(known) => counts[known] += 1,
            None if is_plain_typedef(&signer.scan, offset) => {}
            None => return false,
        }
    }
    for (known, count) in found.iter_mut().zip(counts) {
        known.units += count;
    }
    true
}

/// A typedef that does not name an anonymous aggregate is none of ours.
fn is_plain_typedef(scan: &UnitScan<'_>, offset: usize) -> bool {
    let typedef = scan.die(offset).filter(|seen| seen.abbrev.tag == gimli::DW_TAG_typedef);
    typedef.is_some_and(|seen| defined_kind(scan, seen).is_none())
}

/// Walks the DIEs of a unit: all of them, or only as far as needed to tell which candidates are DIEs, until the callback ends it.
pub(super) fn walk_unit(
    dwarf: &Dwarf<'_>,
    unit: u32,
    scan: &UnitScan<'_>,
    candidates: Option<&[usize]>,
    mut callback: impl FnMut(usize, ScannedDie<'_>) -> Result<bool>,
) -> Result<()> {
    let past = candidates.map(|candidates| candidates.last().map_or(0, |last| last + 1));
    let (mut at, mut goes_on) = (scan.root, true);
    while goes_on && !scan.is_end(at) && past.is_none_or(|past| at < past) {
        let next = match scan.die(at) {
            Some(seen) => {
                goes_on = callback(at, seen)?;
                next_walk_offset(scan, seen, at, candidates)
            }
            None => scan.null_end(at),
        };
        at = next.ok_or_else(|| dwarf.broken_die_error(unit, at))?;
    }
    Ok(())
}

/// Behind the DIE's attributes, or behind its descendants if no candidate is among them.
fn next_walk_offset(
    scan: &UnitScan<'_>,
    seen: ScannedDie<'_>,
    at: usize,
    candidates: Option<&[usize]>,
) -> Option<usize> {
    if let Some(candidates) = candidates
        && seen.abbrev.has(Attr::Sibling)
    {
        let sibling = scan.next_sibling(seen)?;
        let next = candidates.partition_point(|candidate| *candidate <= at);
        if candidates.get(next).is_none_or(|candidate| *candidate >= sibling) {
            return Some(sibling);
        }
    }
    scan.attrs_end(seen)
}

/// Adds a definition, or its units to an equal one.
fn add_definition(found: &mut Vec<DwarfDefinition>, definition: DwarfDefinition) {
    match found.iter_mut().find(|known| known.signature == definition.signature) {
        Some(known) => known.units += definition.units,
        None => found.push(definition),
    }
}

/// Which of the names a DIE has.
pub(super) fn match_name<'s>(
    dwarf: &Dwarf<'s>,
    unit: u32,
    scan: &UnitScan<'s>,
    seen: ScannedDie<'_>,
    wanted: &SearchTargets<'_, '_>,
) -> Option<u32> {
    wanted.spellings.index(dwarf.raw_string(unit, scan.attr_value(seen, Attr::Name))?)
}
