//! The definitions of names, without parsing the rest of the file.
//!
//! A name stands in .debug_str (or in place), so the units that may define it are those whose bytes hold the
//! string's offset. A match is a definition's name only if, under some abbreviation of the unit that defines a struct,
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
use gimli::Section;
use memchr::memmem;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// How many units a thread searches in one go.
const UNITS_PER_CHUNK: usize = 32;

/// All distinct definitions of each of some names, in order of their first occurrence; none of a name that has none. Fails if a
/// unit that may hold one is broken.
pub fn find_many(dwarf: &Dwarf<'_>, names: &[&str]) -> Result<Vec<Vec<DwarfDefinition>>> {
    let (distinct, positions) = deduplicate_names(names);
    let spellings = Spellings::new(dwarf, &distinct);
    let units: Vec<u32> = dwarf.unit_indices().collect();
    let mut found = vec![Vec::new(); distinct.len()];
    for attempt in 0..MAX_ATTEMPTS {
        let missing = spellings.with_attempt(attempt, |name| found[name].is_empty());
        if missing.is_empty() {
            continue;
        }
        let search = Search::new(dwarf, &spellings, attempt, missing, false);
        // Chunks are found in parallel but joined in order, so that the first definition is the file's first.
        let chunks: Vec<&[u32]> = units.chunks(UNITS_PER_CHUNK).collect();
        for chunk in fieldline_parallel::map(&chunks, |chunk| search.find_in_units(chunk)) {
            for (known, more) in found.iter_mut().zip(chunk?) {
                more.into_iter().for_each(|definition| add_definition(known, definition));
            }
        }
    }
    for definitions in found.iter_mut().filter(|definitions| definitions.len() > 1) {
        *definitions = merge_equal_definitions(dwarf, std::mem::take(definitions))?;
    }
    find_in_full_index(dwarf, &spellings, &mut found)?;
    Ok(positions.into_iter().map(|position| found[position].clone()).collect())
}

/// The first definition of each of some names in file order, `units` counting itself only. For callers that know there is one
/// definition and want no proof: most kernel structs stand in the first of thousands of units. Fails as [`find_many`] does.
pub fn find_first_many(dwarf: &Dwarf<'_>, names: &[&str]) -> Result<Vec<Option<DwarfDefinition>>> {
    let (distinct, positions) = deduplicate_names(names);
    let spellings = Spellings::new(dwarf, &distinct);
    let first = |(name, all): (u32, Vec<DwarfDefinition>)| {
        all.into_iter().next().map(|first| (name, DwarfDefinition { units: 1, ..first }))
    };
    let find = |search: &Search<'_, '_, '_>, units: &[u32]| {
        Ok((0..).zip(search.find_in_units(units)?).filter_map(first).collect())
    };
    let mut found = vec![None; distinct.len()];
    for attempt in 0..MAX_ATTEMPTS {
        let missing = spellings.with_attempt(attempt, |name| found[name].is_none());
        find_first_in_batches(dwarf, &spellings, (attempt, missing), find, &mut found)?;
    }
    let mut found: Vec<Vec<DwarfDefinition>> = found.into_iter().map(Vec::from_iter).collect();
    find_in_full_index(dwarf, &spellings, &mut found)?;
    Ok(positions.into_iter().map(|position| found[position].first().cloned()).collect())
}

/// The names, each once, and for each of those given which of them it is.
pub(super) fn deduplicate_names<'n>(names: &[&'n str]) -> (Vec<&'n str>, Vec<usize>) {
    let (mut distinct, mut known) = (Vec::new(), FxHashMap::default());
    let positions = names.iter().map(|name| {
        *known.entry(*name).or_insert_with(|| {
            distinct.push(*name);
            distinct.len() - 1
        })
    });
    let positions = positions.collect();
    (distinct, positions)
}

/// Walks everything for names that were not found but may stand where no attempt looked.
fn find_in_full_index(
    dwarf: &Dwarf<'_>,
    spellings: &Spellings<'_>,
    found: &mut [Vec<DwarfDefinition>],
) -> Result<()> {
    let missing: Vec<bool> =
        (0..).zip(&*found).map(|(name, found)| found.is_empty() && spellings.is_incomplete(name)).collect();
    if !missing.contains(&true) {
        return Ok(());
    }
    for definition in index::index_definitions(dwarf)? {
        let name = spellings.index(definition.name.as_bytes()).map(|name| name as usize);
        if let Some(name) = name.filter(|name| missing[*name]) {
            found[name].push(definition);
        }
    }
    Ok(())
}

/// Looks at ever more units at once until all names are found, and gives the first of each in file order.
pub(super) fn find_first_in_batches<T: Send>(
    dwarf: &Dwarf<'_>,
    spellings: &Spellings<'_>,
    (attempt, mut missing): (usize, Vec<u32>),
    find: impl Fn(&Search<'_, '_, '_>, &[u32]) -> Result<Vec<(u32, T)>> + Sync,
    found: &mut [Option<T>],
) -> Result<()> {
    let units: Vec<u32> = dwarf.unit_indices().collect();
    let (mut rest, mut batch) = (units.as_slice(), 1);
    while !rest.is_empty() && !missing.is_empty() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        let search = Search::new(dwarf, spellings, attempt, missing.clone(), true);
        let chunks: Vec<&[u32]> = now.chunks(UNITS_PER_CHUNK).collect();
        let parts = fieldline_parallel::map(&chunks, |chunk| find(&search, chunk)).into_iter();
        for (name, first) in parts.collect::<Result<Vec<_>>>()?.into_iter().flatten() {
            found[name as usize].get_or_insert(first);
        }
        missing.retain(|name| found[*name as usize].is_none());
        (rest, batch) = (later, batch * 4);
    }
    Ok(())
}

/// Whether the file holds units of a compiler whose types BTF leaves out (pahole's --lang_exclude=rust in
/// scripts/Makefile.btf), so that BTF does not tell how many definitions a name has.
pub fn has_types_beyond_btf(dwarf: &Dwarf<'_>) -> bool {
    memmem::find(dwarf.inner.debug_str.reader().slice(), b"rustc version").is_some()
}

/// A search for some names, where one attempt supposes them.
pub(super) struct Search<'w, 's, 'n> {
    pub(super) dwarf: &'w Dwarf<'s>,
    spellings: &'w Spellings<'n>,
    /// The names that are searched for, sorted.
    pub(super) names: Vec<u32>,
    needles: Needles<'static>,
    /// Whether one definition of each is enough.
    is_first_enough: bool,
}

/// A name that a unit may define, and the sorted offsets at which it may; `None`: where arithmetic does not reach.
type Candidate = (u32, Option<Vec<usize>>);

impl<'w, 's, 'n> Search<'w, 's, 'n> {
    fn new(
        dwarf: &'w Dwarf<'s>,
        spellings: &'w Spellings<'n>,
        attempt: usize,
        names: Vec<u32>,
        is_first_enough: bool,
    ) -> Self {
        let needles = Needles::new(dwarf, spellings, attempt, &names);
        Self { dwarf, spellings, names, needles, is_first_enough }
    }

    /// The definitions of each name in some units.
    fn find_in_units(&self, units: &[u32]) -> Result<Vec<Vec<DwarfDefinition>>> {
        let mut found: Vec<Vec<DwarfDefinition>> = vec![Vec::new(); self.spellings.len()];
        for &unit in units {
            let is_wanted = |name: u32| !self.is_first_enough || found[name as usize].is_empty();
            if self.spellings.indexed {
                let names: Vec<u32> = self.names.iter().copied().filter(|name| is_wanted(*name)).collect();
                let mut builder = SignatureBuilder::new_by_offset(self.dwarf, unit)?;
                self.walk_for_definitions(&mut builder, (&names, None), &mut found)?;
                continue;
            }
            let mut candidates = self.candidates(unit, is_wanted)?;
            if candidates.is_empty() {
                continue;
            }
            let mut builder = SignatureBuilder::new_by_offset(self.dwarf, unit)?;
            candidates.retain(|(name, offsets)| {
                let known = &mut found[*name as usize];
                !offsets.as_ref().is_some_and(|offsets| match_candidates(&mut builder, offsets, known))
            });
            if !candidates.is_empty() {
                let (names, offsets) = join_candidates(candidates);
                self.walk_for_definitions(&mut builder, (&names, offsets.as_deref()), &mut found)?;
            }
        }
        Ok(found)
    }

    /// Names that a unit may define, in order.
    pub(super) fn candidates(&self, unit: u32, is_wanted: impl Fn(u32) -> bool) -> Result<Vec<Candidate>> {
        let entry = self.dwarf.entry(unit)?;
        let matches = self.needles.find_matches(self.dwarf, entry);
        if matches.is_empty() {
            return Ok(Vec::new());
        }
        let (section, start, encoding) = self.dwarf.abbreviation_bytes(entry);
        let abbrevs = abbrev::find_defining_abbrevs(section, start, encoding);
        let bytes = self.dwarf.unit_bytes(entry);
        let by_name = matches.chunk_by(|left, right| left.name == right.name);
        let named = by_name.filter_map(|matches| Some((matches.first()?.name, matches)));
        let candidates = named
            .filter(|(name, _)| is_wanted(*name))
            .map(|(name, matches)| (name, candidate_offsets(bytes, abbrevs.as_deref(), matches)));
        Ok(candidates
            .filter(|(_, offsets)| offsets.as_ref().is_none_or(|offsets| !offsets.is_empty()))
            .collect())
    }

    /// Walks the builder's unit for definitions of names, which are sorted.
    fn walk_for_definitions(
        &self,
        builder: &mut SignatureBuilder<'_, 's>,
        (names, candidates): (&[u32], Option<&[usize]>),
        found: &mut [Vec<DwarfDefinition>],
    ) -> Result<()> {
        let (scan, unit) = (Rc::clone(&builder.scan), builder.unit);
        walk_unit(self.dwarf, unit, &scan, candidates, |offset, die| {
            if let Some(kind) = defined_kind(&scan, die)
                && let Some(name) = self.match_name(unit, &scan, die)
                && names.binary_search(&name).is_ok()
                && let Some(spelling) = self.spellings.get(name)
            {
                let (at, signature) = (DieRef { unit, offset }, builder.require_signature(offset)?);
                let definition = DwarfDefinition::new(spelling.name, kind, die.abbrev.tag, at, signature);
                add_definition(&mut found[name as usize], definition);
            }
            Ok(true)
        })
    }

    /// Which of the names a DIE has.
    pub(super) fn match_name(&self, unit: u32, scan: &UnitScan<'s>, die: ScannedDie<'_>) -> Option<u32> {
        self.spellings.index(self.dwarf.raw_string(unit, scan.attr_value(die, Attr::Name))?)
    }
}

/// The names, and all offsets in order; `None`: anywhere.
pub(super) fn join_candidates(candidates: Vec<Candidate>) -> (Vec<u32>, Option<Vec<usize>>) {
    let (names, offsets): (Vec<u32>, Vec<_>) = candidates.into_iter().unzip();
    let offsets = offsets.into_iter().collect::<Option<Vec<_>>>().map(|offsets| {
        let mut offsets = offsets.concat();
        offsets.sort_unstable();
        offsets
    });
    (names, offsets)
}

/// Offsets of DIEs that would be definitions with the name at a match, sorted. Empty: there is no definition here, for sure.
/// `None`: a definition may be where arithmetic does not reach.
fn candidate_offsets(
    unit: &[u8],
    abbrevs: Option<&[DefiningAbbrev]>,
    matches: &[NeedleMatch],
) -> Option<Vec<usize>> {
    let mut candidates = Vec::new();
    for abbrev in abbrevs? {
        let offset = abbrev.name_offset?;
        let here = matches.iter().filter(|candidate| candidate.form == abbrev.form);
        let attrs = here.filter_map(|candidate| candidate.at.checked_sub(offset));
        candidates.extend(attrs.filter_map(|attrs| scan::code_before(unit, attrs, abbrev.code)));
    }
    candidates.sort_unstable();
    Some(candidates)
}

/// Counts the candidates that equal a definition known for certain; `false` if one does not.
fn match_candidates(
    builder: &mut SignatureBuilder<'_, '_>,
    candidates: &[usize],
    found: &mut [DwarfDefinition],
) -> bool {
    let mut counts = vec![0; found.len()];
    for &offset in candidates {
        let signature = builder.signature(offset);
        match found.iter().position(|known| Some(known.signature) == signature) {
            Some(known) => counts[known] += 1,
            None if is_plain_typedef(&builder.scan, offset) => {}
            None => return false,
        }
    }
    for (known, count) in found.iter_mut().zip(counts) {
        known.units += count;
    }
    true
}

/// Whether a DIE is a typedef that does not name an anonymous aggregate, and so no definition.
fn is_plain_typedef(scan: &UnitScan<'_>, offset: usize) -> bool {
    let typedef = scan.die(offset).filter(|die| die.abbrev.tag == gimli::DW_TAG_typedef);
    typedef.is_some_and(|die| defined_kind(scan, die).is_none())
}

/// Walks the DIEs of a unit: all of them, or only as far as needed to tell which candidates are DIEs, until the callback ends it.
pub(super) fn walk_unit(
    dwarf: &Dwarf<'_>,
    unit: u32,
    scan: &UnitScan<'_>,
    candidates: Option<&[usize]>,
    mut callback: impl FnMut(usize, ScannedDie<'_>) -> Result<bool>,
) -> Result<()> {
    let end = candidates.map(|candidates| candidates.last().map_or(0, |last| last + 1));
    let (mut at, mut goes_on) = (scan.root, true);
    while goes_on && !scan.is_end(at) && end.is_none_or(|end| at < end) {
        let next = match scan.die(at) {
            Some(die) => {
                goes_on = callback(at, die)?;
                next_walk_offset(scan, die, at, candidates)
            }
            None => scan.null_end(at),
        };
        at = next.ok_or_else(|| dwarf.broken_die_error(unit, at))?;
    }
    Ok(())
}

/// The offset behind the DIE's attributes, or behind its descendants if no candidate is among them.
fn next_walk_offset(
    scan: &UnitScan<'_>,
    die: ScannedDie<'_>,
    at: usize,
    candidates: Option<&[usize]>,
) -> Option<usize> {
    if let Some(candidates) = candidates
        && die.abbrev.has(Attr::Sibling)
    {
        let sibling = scan.next_sibling(die)?;
        let next = candidates.partition_point(|candidate| *candidate <= at);
        if candidates.get(next).is_none_or(|candidate| *candidate >= sibling) {
            return Some(sibling);
        }
    }
    scan.attrs_end(die)
}

/// Adds a definition, or its units to an equal one.
fn add_definition(found: &mut Vec<DwarfDefinition>, definition: DwarfDefinition) {
    match found.iter_mut().find(|known| known.signature == definition.signature) {
        Some(known) => known.units += definition.units,
        None => found.push(definition),
    }
}
