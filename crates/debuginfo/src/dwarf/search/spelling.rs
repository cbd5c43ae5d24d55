//! How names may stand in DIEs: as offsets into string sections, or in place.

use crate::dwarf::bytes::units::Dwarf;
use gimli::{DwForm, Section};
use memchr::memmem;
use rustc_hash::FxHashMap;

/// How many offsets of a shared tail are tried one by one before everything is walked.
pub(super) const MAX_ATTEMPTS: usize = 2;

/// Distinct names.
pub(super) struct Spellings<'n> {
    all: Vec<Spelling<'n>>,
    by_name: FxHashMap<&'n [u8], u32>,
    /// Units may name strings by index, so that only walking them tells.
    pub(super) indexed: bool,
}

/// How one name may stand in DIEs.
pub(super) struct Spelling<'n> {
    pub(super) name: &'n [u8],
    /// The name with its terminator, as it stands in place (DW_FORM_string).
    pub(super) inline: Vec<u8>,
    /// Its offsets in string sections, with their forms, by attempt: the likeliest first.
    attempts: Vec<Vec<(DwForm, u64)>>,
    /// Whether the attempts are all there can be.
    complete: bool,
}

impl<'n> Spellings<'n> {
    pub(super) fn new(dwarf: &Dwarf<'_>, names: &[&'n str]) -> Self {
        let mut all: Vec<Spelling<'n>> = names.iter().map(|name| Spelling::new(name)).collect();
        let by_name = (0..).zip(&all).map(|(index, spelling)| (spelling.name, index)).collect();
        let main = dwarf.inner.debug_str.reader().slice();
        let sup = dwarf.inner.sup().map(|sup| sup.debug_str.reader().slice());
        let forms = [gimli::DW_FORM_strp, gimli::DW_FORM_GNU_strp_alt, gimli::DW_FORM_strp_sup];
        for (section, forms) in [(Some(main), &forms[..1]), (sup, &forms[..])] {
            let offsets = find_name_offsets(section.unwrap_or(&[]), &all, &by_name);
            for (spelling, (offsets, is_all)) in all.iter_mut().zip(offsets) {
                spelling.add_offsets(&offsets, is_all, forms);
            }
        }
        let indexed = !dwarf.inner.debug_str_offsets.reader().slice().is_empty();
        Self { all, by_name, indexed }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn get(&self, name: u32) -> Option<&Spelling<'n>> {
        self.all.get(name as usize)
    }

    /// Whether a name may stand where no attempt looks.
    pub(super) fn is_incomplete(&self, name: u32) -> bool {
        self.get(name).is_some_and(|spelling| !spelling.complete)
    }

    /// The names that an attempt has something to try for, as far as they are wanted.
    pub(super) fn with_attempt(&self, attempt: usize, is_wanted: impl Fn(usize) -> bool) -> Vec<u32> {
        let wanted = (0..).zip(&self.all).filter(|(name, _)| is_wanted(*name as usize));
        wanted.filter(|(_, spelling)| spelling.has_attempt(attempt)).map(|(name, _)| name).collect()
    }

    /// Which of the names a text is.
    pub(super) fn index(&self, name: &[u8]) -> Option<u32> {
        self.by_name.get(name).copied()
    }
}

impl<'n> Spelling<'n> {
    fn new(name: &'n str) -> Self {
        let mut inline = name.as_bytes().to_vec();
        inline.push(0);
        let attempts = vec![Vec::new(); MAX_ATTEMPTS];
        Self { name: name.as_bytes(), inline, attempts, complete: true }
    }

    fn add_offsets(&mut self, offsets: &[Vec<u64>], is_all: bool, forms: &[DwForm]) {
        self.complete &= is_all;
        for (attempt, offsets) in self.attempts.iter_mut().zip(offsets) {
            attempt.extend(offsets.iter().flat_map(|offset| forms.iter().map(|form| (*form, *offset))));
        }
    }

    /// Whether there is something to try: names in place are searched for with the first attempt, offsets or not.
    fn has_attempt(&self, attempt: usize) -> bool {
        attempt == 0 || !self.offsets(attempt).is_empty()
    }

    /// The offsets in string sections at which an attempt supposes the name.
    pub(super) fn offsets(&self, attempt: usize) -> &[(DwForm, u64)] {
        self.attempts.get(attempt).map_or(&[], Vec::as_slice)
    }
}

/// Where each name is meant in a section, as [`find_string_offsets`] finds it.
fn find_name_offsets(
    section: &[u8],
    names: &[Spelling<'_>],
    by_name: &FxHashMap<&[u8], u32>,
) -> Vec<(Vec<Vec<u64>>, bool)> {
    let mut whole = match names {
        [_] => vec![Vec::new()],
        _ => find_whole_strings(section, names, by_name),
    };
    let found = names.iter().zip(&mut whole).map(|(name, whole)| match whole.is_empty() {
        true => find_string_offsets(section, &name.inline),
        false => (vec![std::mem::take(whole)], true),
    });
    found.collect()
}

/// Offsets of the strings that are names, by name: one pass for all.
fn find_whole_strings(
    section: &[u8],
    names: &[Spelling<'_>],
    by_name: &FxHashMap<&[u8], u32>,
) -> Vec<Vec<u64>> {
    let longest = names.iter().map(|spelling| spelling.name.len()).max().unwrap_or(0);
    let mut found = vec![Vec::new(); names.len()];
    let mut start = 0;
    for end in memchr::memchr_iter(0, section) {
        let string = &section[start..end];
        let name = if string.len() <= longest { by_name.get(string) } else { None };
        if let Some(offsets) = name.and_then(|name| found.get_mut(*name as usize)) {
            offsets.push(start as u64);
        }
        start = end + 1;
    }
    found
}

/// Offsets at which a terminated string is meant, by attempt, and whether that is all.
///
/// Where the string stands whole it is meant there. Linkers that let strings share tails (GNU ld, lld) keep none
/// whole that is the tail of another, and give each one place: in the neighbour by reversed spelling, from one side
/// (bfd/merge.c) or the other.
fn find_string_offsets(section: &[u8], inline: &[u8]) -> (Vec<Vec<u64>>, bool) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn name_offsets(section: &[u8], names: &[&'static str]) -> Vec<(Vec<Vec<u64>>, bool)> {
        let all: Vec<Spelling<'_>> = names.iter().map(|name| Spelling::new(name)).collect();
        let by_name = (0..).zip(&all).map(|(index, spelling)| (spelling.name, index)).collect();
        find_name_offsets(section, &all, &by_name)
    }

    #[test]
    fn strings_of_several_names_are_found_in_one_pass_as_one_by_one() {
        let section = b"\0node\0a_node\0tree_list\0blacklist\0node\0x";
        let names = ["node", "list", "a_node", "gone", "st"];
        let together = name_offsets(section, &names);
        for (name, found) in names.iter().zip(&together) {
            assert_eq!(name_offsets(section, &[name])[..], *std::slice::from_ref(found), "{name}");
        }
        assert_eq!(together[0], (vec![vec![1, 33]], true));
        assert_eq!(together[1].0.len(), 2, "the tail of two strings");
        assert!(!together[1].1);
        assert_eq!(together[3], (vec![vec![]], true));
    }
}
