//! Offsets at which names may be meant, found by the bytes that stand there.
//!
//! One name is searched for as text is, by its rarest bytes. Many names are searched for in one pass: every four bytes are
//! looked up in a small table of marks that rules out nearly all of them.

use super::spelling::Spellings;
use crate::dwarf::bytes::units::{Dwarf, UnitEntry};
use gimli::DwForm;
use memchr::arch::all::packedpair::HeuristicFrequencyRank;
use memchr::memmem;
use rustc_hash::FxHashMap;

/// From how many needles on one pass over all is faster than one for each.
const MIN_TABLE_NEEDLES: usize = 4;
/// Bytes that are looked up.
const PREFIX_LEN: usize = 4;

/// An offset at which a name may be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NeedleMatch {
    /// The name, as [`Spellings`] counts.
    pub(super) name: u32,
    /// The form it would have there.
    pub(super) form: DwForm,
    /// Offset in the unit.
    pub(super) at: usize,
}

/// Byte strings to search for.
pub(super) struct Needles<'n> {
    finders: Vec<(Needle, memmem::Finder<'n>)>,
    table: Option<NeedleTable>,
    big_endian: bool,
}

/// Bytes that mean a name under a form.
#[derive(Clone, Debug)]
struct Needle {
    name: u32,
    form: DwForm,
    bytes: Box<[u8]>,
}

impl Needles<'_> {
    /// Needles for some of the names, at the offsets an attempt supposes.
    pub(super) fn new(dwarf: &Dwarf<'_>, spellings: &Spellings<'_>, attempt: usize, names: &[u32]) -> Self {
        let big_endian = dwarf.target.big_endian;
        let mut needles = Vec::new();
        for (name, spelling) in names.iter().filter_map(|name| Some((*name, spellings.get(*name)?))) {
            let in_place = spelling.inline.clone().into_boxed_slice();
            needles.push(Needle { name, form: gimli::DW_FORM_string, bytes: in_place });
            let offsets = spelling.offsets(attempt).iter();
            let bytes = |offset| offset_bytes(offset, big_endian);
            needles.extend(offsets.map(|(form, offset)| Needle { name, form: *form, bytes: bytes(*offset) }));
        }
        let is_many = needles.len() >= MIN_TABLE_NEEDLES;
        let (many, few) = needles.into_iter().partition(|needle| is_many && needle.bytes.len() >= PREFIX_LEN);
        Self { finders: build_finders(few), table: is_many.then(|| NeedleTable::new(many)), big_endian }
    }

    /// Matches in a unit, by name. Of the 8 bytes of 64-bit DWARF the lower 4 are searched.
    pub(super) fn find_matches<'s>(&self, dwarf: &Dwarf<'s>, entry: &UnitEntry<'s>) -> Vec<NeedleMatch> {
        let bytes = dwarf.unit_bytes(entry);
        let wide = entry.header.encoding().format == gimli::Format::Dwarf64;
        let shift = if wide && self.big_endian { 4 } else { 0 };
        let mut matches = Vec::new();
        for (needle, finder) in &self.finders {
            matches.extend(finder.find_iter(bytes).filter_map(|at| needle.match_at_offset(at, shift)));
        }
        if let Some(table) = &self.table {
            table.find(bytes, |needle, at| matches.extend(needle.match_at_offset(at, shift)));
        }
        matches.sort_unstable();
        matches
    }
}

impl Needle {
    fn match_at_offset(&self, at: usize, shift: usize) -> Option<NeedleMatch> {
        let shift = if self.form == gimli::DW_FORM_string { 0 } else { shift };
        Some(NeedleMatch { name: self.name, form: self.form, at: at.checked_sub(shift)? })
    }
}

/// The lower four bytes of an offset as they stand in the file.
fn offset_bytes(offset: u64, big_endian: bool) -> Box<[u8]> {
    let (little, big) = (offset.to_le_bytes(), offset.to_be_bytes());
    if big_endian { big[PREFIX_LEN..].into() } else { little[..PREFIX_LEN].into() }
}

/// How common bytes are in .debug_info, other than in text: small numbers abound, so searches key on the others.
struct DebugInfoByteRank;

impl HeuristicFrequencyRank for DebugInfoByteRank {
    fn rank(&self, byte: u8) -> u8 {
        255 - byte.min(16) * 8
    }
}

fn build_finders(needles: Vec<Needle>) -> Vec<(Needle, memmem::Finder<'static>)> {
    let builder = memmem::FinderBuilder::new();
    let with_finder = |needle: Needle| {
        let finder = builder.build_forward_with_ranker(DebugInfoByteRank, &needle.bytes).into_owned();
        (needle, finder)
    };
    needles.into_iter().map(with_finder).collect()
}

/// Needles by their first bytes.
struct NeedleTable {
    /// For each hash of first bytes, 1 if a needle has it.
    marks: Box<[u8; MARK_COUNT]>,
    by_prefix: FxHashMap<u32, Vec<Needle>>,
}

/// How many marks there are: few enough for the cache next to the processor.
const MARK_COUNT: usize = 1 << MARK_BITS;
const MARK_BITS: u32 = 14;

impl NeedleTable {
    fn new(needles: Vec<Needle>) -> Self {
        let mut table = Self { marks: Box::new([0; MARK_COUNT]), by_prefix: FxHashMap::default() };
        for needle in needles {
            let Some(first) = needle.bytes.first_chunk::<PREFIX_LEN>() else { continue };
            let word = u32::from_le_bytes(*first);
            table.marks[mark_index(word)] = 1;
            table.by_prefix.entry(word).or_default().push(needle);
        }
        table
    }

    /// Every match of every needle. Four offsets at a time are rejected, with one branch.
    fn find(&self, bytes: &[u8], mut found: impl FnMut(&Needle, usize)) {
        let mut at = 0;
        while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let here = u64::from_le_bytes(*eight);
            if self.mark(here) | self.mark(here >> 8) | self.mark(here >> 16) | self.mark(here >> 24) != 0 {
                (at..at + 4).for_each(|at| self.match_prefix(bytes, at, &mut found));
            }
            at += 4;
        }
        (at..bytes.len()).for_each(|at| self.match_prefix(bytes, at, &mut found));
    }

    fn mark(&self, bytes: u64) -> u8 {
        self.marks[mark_index(bytes as u32)]
    }

    fn match_prefix(&self, bytes: &[u8], at: usize, found: &mut impl FnMut(&Needle, usize)) {
        let rest = bytes.get(at..).unwrap_or(&[]);
        let Some(first) = rest.first_chunk::<PREFIX_LEN>() else { return };
        let here = self.by_prefix.get(&u32::from_le_bytes(*first)).map_or(&[][..], Vec::as_slice);
        here.iter().filter(|needle| rest.starts_with(&needle.bytes)).for_each(|needle| found(needle, at));
    }
}

/// The index of the mark of a word (D. Knuth, The Art of Computer Programming 3, section 6.4: multiplicative hashing).
fn mark_index(word: u32) -> usize {
    (word.wrapping_mul(0x9e37_79b1) >> (32 - MARK_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needle(name: u32, bytes: &[u8]) -> Needle {
        Needle { name, form: gimli::DW_FORM_strp, bytes: bytes.into() }
    }

    #[test]
    fn one_pass_finds_what_a_pass_for_each_finds() {
        let needles: Vec<Needle> = [&b"\x01\0\0\0"[..], b"\0\0\0\x01", b"abcd", b"abcdef\0", b"\x01\0\x01\0"]
            .iter()
            .zip(0..)
            .map(|(bytes, name)| needle(name, bytes))
            .collect();
        let mut bytes = Vec::new();
        for round in 0..200u32 {
            bytes.extend([1, 0, 0, 0, 1, 0, 1, 0, round as u8]);
            bytes.extend(if round % 3 == 0 { &b"abcdef\0"[..] } else { b"abcde" });
        }
        let (mut together, mut each) = (Vec::new(), Vec::new());
        NeedleTable::new(needles.clone()).find(&bytes, |needle, at| together.push((needle.name, at)));
        for (needle, finder) in build_finders(needles) {
            // memmem's iterator steps over what it found, and "1 0 1 0" may overlap itself.
            let mut from = 0;
            while let Some(at) = finder.find(&bytes[from..]) {
                each.push((needle.name, from + at));
                from += at + 1;
            }
        }
        together.sort_unstable();
        each.sort_unstable();
        assert!(!together.is_empty());
        assert_eq!(together, each);
    }
}
