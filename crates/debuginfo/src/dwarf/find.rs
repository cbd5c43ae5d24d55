//! The definitions of one name, without parsing the rest of the file.
//!
//! A name stands in .debug_str (or in place), so the units that may define it are those whose bytes hold the
//! string's offset. A hit is a definition's name only if, under some abbreviation of the unit that defines a struct,
//! the attribute's place fits: that is a proof when it fails, and a guess when it fits. A guess is believed only if
//! the struct it shows has the signature of a definition found for certain; otherwise the unit is walked to the place.

use super::abbrev::{Attr, definers};
use super::index::{Definition, broken, defined_kind, unify};
use super::scan::{self, Raw, Seen, UnitScan};
use super::signature::Signer;
use super::units::{DieRef, Dwarf, UnitEntry};
use crate::error::Result;
use gimli::{DwForm, Section};
use memchr::arch::all::packedpair::HeuristicFrequencyRank;
use memchr::memmem;
use rayon::prelude::*;
use std::rc::Rc;

/// All distinct definitions of a name, in order of their first occurrence; none if there is none.
///
/// # Errors
/// If a unit that may hold one is broken.
pub fn find(dwarf: &Dwarf<'_>, name: &str) -> Result<Vec<Definition>> {
    let spellings = Spellings::new(dwarf, name);
    for offsets in &spellings.attempts {
        let definitions = find_spelled(dwarf, &Wanted { spellings: &spellings, offsets })?;
        if !definitions.is_empty() {
            return Ok(definitions);
        }
    }
    if spellings.complete {
        return Ok(Vec::new());
    }
    Ok(super::index(dwarf)?.into_iter().filter(|definition| *definition.name == *name).collect())
}

/// The first definition of a name in file order, `units` counting itself only. For callers that know there is one
/// definition and want no proof: most kernel structs stand in the first of thousands of units.
///
/// # Errors
/// If a unit that may hold one is broken.
pub fn find_first(dwarf: &Dwarf<'_>, name: &str) -> Result<Option<Definition>> {
    let spellings = Spellings::new(dwarf, name);
    for offsets in &spellings.attempts {
        if let Some(definition) = first_spelled(dwarf, &Wanted { spellings: &spellings, offsets })? {
            return Ok(Some(definition));
        }
    }
    Ok(find(dwarf, name)?.into_iter().next())
}

/// The first typedef of a name, of whatever it is one; `None` if there is none.
///
/// # Errors
/// If a unit that may hold one is broken.
pub fn find_typedef(dwarf: &Dwarf<'_>, name: &str) -> Result<Option<DieRef>> {
    let spellings = Spellings::new(dwarf, name);
    for offsets in &spellings.attempts {
        let wanted = Wanted { spellings: &spellings, offsets };
        let finders = Finders::new(dwarf, &wanted);
        let found = first_in_units(dwarf, |units| {
            let mut found = units.iter().map(|unit| typedef_in_unit(dwarf, *unit, &wanted, Some(&finders)));
            found.find_map(Result::transpose).transpose()
        })?;
        if found.is_some() {
            return Ok(found);
        }
    }
    if spellings.complete {
        return Ok(None);
    }
    let wanted = Wanted { spellings: &spellings, offsets: &[] };
    first_in_units(dwarf, |units| {
        let mut found = units.iter().map(|unit| typedef_in_unit(dwarf, *unit, &wanted, None));
        found.find_map(Result::transpose).transpose()
    })
}

/// The first typedef of the name in a unit: where the finders find it, or anywhere.
fn typedef_in_unit(
    dwarf: &Dwarf<'_>,
    unit: u32,
    wanted: &Wanted<'_>,
    finders: Option<&Finders<'_>>,
) -> Result<Option<DieRef>> {
    let hits = finders.map(|finders| Ok(finders.hits(dwarf, dwarf.entry(unit)?))).transpose()?;
    let candidates = match hits {
        Some(hits) if !wanted.spellings.indexed => candidates(dwarf, unit, &hits),
        _ => None,
    };
    if candidates.as_ref().is_some_and(Vec::is_empty) {
        return Ok(None);
    }
    let scan = Rc::clone(&Signer::quick(dwarf, unit)?.scan);
    let mut at = scan.root;
    while !scan.is_end(at) {
        let Some(seen) = scan.die(at) else {
            at = scan.null_end(at).ok_or_else(|| broken(dwarf, unit, at))?;
            continue;
        };
        if seen.shape.tag == gimli::DW_TAG_typedef && is_named(dwarf, unit, &scan, seen, wanted) {
            return Ok(Some(DieRef { unit, offset: at }));
        }
        let next = next_to_look_at(&scan, seen, at, candidates.as_deref());
        at = next.ok_or_else(|| broken(dwarf, unit, at))?;
    }
    Ok(None)
}

fn first_spelled(dwarf: &Dwarf<'_>, wanted: &Wanted<'_>) -> Result<Option<Definition>> {
    let first = first_in_units(dwarf, |units| Ok(find_in_units(dwarf, units, wanted)?.into_iter().next()))?;
    Ok(first.map(|first| Definition { units: 1, ..first }))
}

/// Looks at ever more units at once until something is found, and gives the first in file order.
fn first_in_units<T: Send>(
    dwarf: &Dwarf<'_>,
    look: impl Fn(&[u32]) -> Result<Option<T>> + Sync,
) -> Result<Option<T>> {
    let units: Vec<u32> = (0..dwarf.unit_count() as u32).collect();
    let mut rest = units.as_slice();
    let mut batch = 1;
    while !rest.is_empty() {
        let (now, later) = rest.split_at(batch.min(rest.len()));
        let parts: Result<Vec<Option<T>>> = now.par_chunks(32).map(&look).collect();
        if let Some(first) = parts?.into_iter().flatten().next() {
            return Ok(Some(first));
        }
        (rest, batch) = (later, batch * 4);
    }
    Ok(None)
}

/// Whether the file holds units of a compiler whose types BTF leaves out (pahole's --lang_exclude=rust in
/// scripts/Makefile.btf), so that BTF does not tell how many definitions a name has.
pub fn has_types_beyond_btf(dwarf: &Dwarf<'_>) -> bool {
    memmem::find(dwarf.inner.debug_str.reader().slice(), b"rustc version").is_some()
}

fn find_spelled(dwarf: &Dwarf<'_>, wanted: &Wanted<'_>) -> Result<Vec<Definition>> {
    let units: Vec<u32> = (0..dwarf.unit_count() as u32).collect();
    // Chunks are found in parallel but joined in order, so that the first definition is the file's first.
    let parts: Result<Vec<Vec<Definition>>> =
        units.par_chunks(32).map(|chunk| find_in_units(dwarf, chunk, wanted)).collect();
    let mut definitions: Vec<Definition> = Vec::new();
    for definition in parts?.into_iter().flatten() {
        add(&mut definitions, definition);
    }
    if definitions.len() > 1 {
        return unify(dwarf, definitions);
    }
    Ok(definitions)
}

/// What to search for.
struct Wanted<'n> {
    spellings: &'n Spellings<'n>,
    offsets: &'n [(DwForm, u64)],
}

/// How a name may stand in DIEs.
struct Spellings<'n> {
    name: &'n [u8],
    /// The name with its terminator, as it stands in place (DW_FORM_string).
    inline: Vec<u8>,
    /// Where it stands in string sections, by form: the likeliest places first.
    attempts: Vec<Vec<(DwForm, u64)>>,
    /// Whether the attempts are all there can be.
    complete: bool,
    /// Units may name strings by index, so that only walking them tells.
    indexed: bool,
}

impl<'n> Spellings<'n> {
    fn new(dwarf: &Dwarf<'_>, name: &'n str) -> Self {
        let mut inline = name.as_bytes().to_vec();
        inline.push(0);
        let mut attempts = vec![Vec::new(); MAX_ATTEMPTS];
        let mut complete = true;
        let main = dwarf.inner.debug_str.reader().slice();
        let sup = dwarf.inner.sup().map(|sup| sup.debug_str.reader().slice());
        let of_sup = [gimli::DW_FORM_strp, gimli::DW_FORM_GNU_strp_alt, gimli::DW_FORM_strp_sup];
        for (section, forms) in [(Some(main), &of_sup[..1]), (sup, &of_sup[..])] {
            let (places, all) = string_places(section.unwrap_or(&[]), &inline);
            complete &= all;
            for (attempt, offsets) in attempts.iter_mut().zip(places) {
                let spelled = offsets.iter().flat_map(|offset| forms.iter().map(|form| (*form, *offset)));
                attempt.extend(spelled);
            }
        }
        // Names in place are searched for with the first attempt, offsets or not.
        let used = attempts.iter().rposition(|offsets| !offsets.is_empty()).map_or(1, |last| last + 1);
        attempts.truncate(used);
        let indexed = !dwarf.inner.debug_str_offsets.reader().slice().is_empty();
        Self { name: name.as_bytes(), inline, attempts, complete, indexed }
    }
}

/// How many places of a shared tail are tried one by one before everything is walked.
const MAX_ATTEMPTS: usize = 2;

/// Offsets at which a terminated string is meant, by attempt, and whether that is all.
///
/// Where the string stands whole it is meant there. Linkers that let strings share tails (GNU ld, lld) keep none
/// whole that is the tail of another, and give each one place: in the neighbour by reversed spelling, from one side
/// (bfd/merge.c) or the other.
fn string_places(section: &[u8], inline: &[u8]) -> (Vec<Vec<u64>>, bool) {
    let (mut whole, mut tails) = (Vec::new(), Vec::new());
    for at in memmem::find_iter(section, inline) {
        let start = memchr::memrchr(0, &section[..at]).map_or(0, |zero| zero + 1);
        if start == at { whole.push(at as u64) } else { tails.push((&section[start..at], at as u64)) }
    }
    if !whole.is_empty() || tails.is_empty() {
        return (vec![whole], true);
    }
    tails.sort_unstable_by(|(left, _), (right, _)| left.iter().rev().cmp(right.iter().rev()));
    let ends = [tails.first(), tails.last()].into_iter().flatten();
    (ends.map(|(_, at)| vec![*at]).collect(), tails.len() == 1)
}

fn find_in_units(dwarf: &Dwarf<'_>, units: &[u32], wanted: &Wanted<'_>) -> Result<Vec<Definition>> {
    let mut found: Vec<Definition> = Vec::new();
    let finders = Finders::new(dwarf, wanted);
    for &unit in units {
        let entry = dwarf.entry(unit)?;
        let hits = finders.hits(dwarf, entry);
        if hits.is_empty() && !wanted.spellings.indexed {
            continue;
        }
        find_in_unit(dwarf, unit, wanted, &hits, &mut found)?;
    }
    Ok(found)
}

/// Searchers for the bytes that stand where a name is meant.
struct Finders<'n> {
    inline: memmem::Finder<'n>,
    words: Vec<(DwForm, memmem::Finder<'static>)>,
}

/// How common bytes are in .debug_info: small numbers abound, so searches key on the others. (The default ranks
/// are those of text, where zero bytes are rare.)
struct SmallNumbersAbound;

impl HeuristicFrequencyRank for SmallNumbersAbound {
    fn rank(&self, byte: u8) -> u8 {
        255 - byte.min(16) * 8
    }
}

impl<'n> Finders<'n> {
    fn new(dwarf: &Dwarf<'_>, wanted: &'n Wanted<'_>) -> Self {
        let bytes = |offset: u64| {
            let little = offset.to_le_bytes()[..4].to_vec();
            let big = offset.to_be_bytes()[4..].to_vec();
            if dwarf.target.big_endian { big } else { little }
        };
        let builder = memmem::FinderBuilder::new();
        let finder =
            |offset| builder.build_forward_with_ranker(SmallNumbersAbound, &bytes(offset)).into_owned();
        let words = wanted.offsets.iter().map(|(form, offset)| (*form, finder(*offset))).collect();
        Self {
            inline: builder.build_forward_with_ranker(SmallNumbersAbound, &wanted.spellings.inline),
            words,
        }
    }

    /// Offsets in the unit at which the name may stand, with the form it would have there. (64-bit DWARF holds 8
    /// bytes of which the lower 4 are searched: big-endian offsets are adjusted.)
    fn hits<'s>(&self, dwarf: &Dwarf<'s>, entry: &UnitEntry<'s>) -> Vec<(DwForm, usize)> {
        let bytes = dwarf.unit_bytes(entry);
        let wide = entry.header.encoding().format == gimli::Format::Dwarf64;
        let shift = if wide && dwarf.target.big_endian { 4 } else { 0 };
        let mut hits = Vec::new();
        for (form, word) in &self.words {
            let places = word.find_iter(bytes).filter_map(|at| at.checked_sub(shift));
            hits.extend(places.map(|at| (*form, at)));
        }
        hits.extend(self.inline.find_iter(bytes).map(|at| (gimli::DW_FORM_string, at)));
        hits
    }
}

fn find_in_unit(
    dwarf: &Dwarf<'_>,
    unit: u32,
    wanted: &Wanted<'_>,
    hits: &[(DwForm, usize)],
    found: &mut Vec<Definition>,
) -> Result<()> {
    let candidates = if wanted.spellings.indexed { None } else { candidates(dwarf, unit, hits) };
    if candidates.as_ref().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    let mut signer = Signer::quick(dwarf, unit)?;
    match candidates {
        Some(candidates) if believe(&mut signer, &candidates, found) => Ok(()),
        candidates => walk(dwarf, unit, &mut signer, wanted, candidates.as_deref(), found),
    }
}

/// Offsets of DIEs that would be definitions with the name at a hit. Empty: there is no definition here, for sure.
/// `None`: a definition may be where arithmetic does not reach.
fn candidates(dwarf: &Dwarf<'_>, unit: u32, hits: &[(DwForm, usize)]) -> Option<Vec<usize>> {
    let entry = dwarf.entry(unit).ok()?;
    let bytes = dwarf.unit_bytes(entry);
    let (section, start, encoding) = dwarf.abbreviation_bytes(entry);
    let mut candidates = Vec::new();
    for definer in definers(section, start, encoding)? {
        let offset = definer.name_offset?;
        let here = hits.iter().filter(|(form, _)| *form == definer.form);
        candidates.extend(
            here.filter_map(|(_, at)| scan::code_before(bytes, at.checked_sub(offset)?, definer.code)),
        );
    }
    candidates.sort_unstable();
    Some(candidates)
}

/// Counts the candidates that equal a definition known for certain; `false` if one does not.
fn believe(signer: &mut Signer<'_, '_>, candidates: &[usize], found: &mut [Definition]) -> bool {
    let mut counts = vec![0; found.len()];
    for &offset in candidates {
        let signature = signer.sign(offset);
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
    let typedef = scan.die(offset).filter(|seen| seen.shape.tag == gimli::DW_TAG_typedef);
    typedef.is_some_and(|seen| defined_kind(scan, seen).is_none())
}

/// Walks the DIEs of a unit: all of them, or only as far as needed to tell which candidates are DIEs.
fn walk(
    dwarf: &Dwarf<'_>,
    unit: u32,
    signer: &mut Signer<'_, '_>,
    wanted: &Wanted<'_>,
    candidates: Option<&[usize]>,
    found: &mut Vec<Definition>,
) -> Result<()> {
    let scan = Rc::clone(&signer.scan);
    let mut at = scan.root;
    let past = candidates.map(|candidates| candidates.last().map_or(0, |last| last + 1));
    while !scan.is_end(at) && past.is_none_or(|past| at < past) {
        let Some(seen) = scan.die(at) else {
            at = scan.null_end(at).ok_or_else(|| broken(dwarf, unit, at))?;
            continue;
        };
        if let Some(kind) = defined_kind(&scan, seen)
            && is_named(dwarf, unit, &scan, seen, wanted)
        {
            let signature = signer.sign(at).ok_or_else(|| broken(dwarf, unit, at))?;
            let is_typedef = seen.shape.tag == gimli::DW_TAG_typedef;
            let name = String::from_utf8_lossy(wanted.spellings.name).into_owned().into_boxed_str();
            let die = DieRef { unit, offset: at };
            add(found, Definition { name, kind, is_typedef, die, units: 1, signature, is_nested: false });
        }
        let next = next_to_look_at(&scan, seen, at, candidates);
        at = next.ok_or_else(|| broken(dwarf, unit, at))?;
    }
    Ok(())
}

/// Behind the DIE's attributes, or behind its descendants if no candidate is among them.
fn next_to_look_at(
    scan: &UnitScan<'_>,
    seen: Seen<'_>,
    at: usize,
    candidates: Option<&[usize]>,
) -> Option<usize> {
    if let Some(candidates) = candidates
        && seen.shape.has(Attr::Sibling)
    {
        let sibling = scan.next_sibling(seen)?;
        let next = candidates.partition_point(|candidate| *candidate <= at);
        if candidates.get(next).is_none_or(|candidate| *candidate >= sibling) {
            return Some(sibling);
        }
    }
    scan.end(seen)
}

/// Adds a definition, or its units to an equal one.
fn add(found: &mut Vec<Definition>, definition: Definition) {
    match found.iter_mut().find(|known| known.signature == definition.signature) {
        Some(known) => known.units += definition.units,
        None => found.push(definition),
    }
}

fn is_named(dwarf: &Dwarf<'_>, unit: u32, scan: &UnitScan<'_>, seen: Seen<'_>, wanted: &Wanted<'_>) -> bool {
    match scan.get(seen, Attr::Name) {
        Raw::Inline(bytes) => bytes == wanted.spellings.name,
        Raw::Str(form, value) => dwarf.string(unit, form, value) == Some(wanted.spellings.name),
        _ => false,
    }
}
