//! DWARF opened no further than needed.
//!
//! Finding all units of a vmlinux touches a page for each of thousands of headers, which takes longer than reading a
//! struct that stands in the first of them, as most of a kernel's do.

use super::find::find_first_many;
use super::index::DwarfDefinition;
use super::typedefs::find_typedefs;
use crate::dwarf::bytes::abbrev::has_foreign_refs;
use crate::dwarf::bytes::sections::DebugSections;
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::error::Result;
use std::sync::OnceLock;

/// How many units are opened before all are.
const FIRST_UNITS: usize = 4;

/// The DWARF of one file: its first units, and all of them once they are needed.
pub struct LazyDwarf<'s> {
    sections: &'s DebugSections<'s>,
    first_units: Dwarf<'s>,
    all: OnceLock<Dwarf<'s>>,
}

impl<'s> LazyDwarf<'s> {
    /// Reads the headers of the first units. Fails as [`Dwarf::new`] does, as far as it was read.
    pub fn new(sections: &'s DebugSections<'s>) -> Result<Self> {
        let first_units = Dwarf::with_first_units(sections, FIRST_UNITS)?;
        Ok(Self { sections, first_units, all: OnceLock::new() })
    }

    /// The file's name, for messages.
    pub fn file(&self) -> &'s str {
        self.first_units.file()
    }

    /// All units. Fails as [`Dwarf::new`] does.
    pub fn all(&self) -> Result<&Dwarf<'s>> {
        if let Some(known) = self.all.get() {
            return Ok(known);
        }
        let all = Dwarf::new(self.sections)?;
        Ok(self.all.get_or_init(|| all))
    }

    /// The first units; indices of units are those of [`Self::all`].
    pub fn first_units(&self) -> &Dwarf<'s> {
        &self.first_units
    }

    /// Units that hold a DIE with all it may refer to: no more than needed. Fails as [`Dwarf::new`] does.
    pub(crate) fn units_for_die(&self, die: DieRef) -> Result<&Dwarf<'s>> {
        if self.is_in_first_units(die) { Ok(&self.first_units) } else { self.all() }
    }

    /// Whether a DIE, with all it may refer to, stands in the first units.
    pub fn is_in_first_units(&self, die: DieRef) -> bool {
        let entry = self.first_units.entry(die.unit).ok();
        entry.is_some_and(|entry| {
            let (section, start, _) = self.first_units.abbreviation_bytes(entry);
            has_foreign_refs(section, start) == Some(false)
        })
    }

    /// The first definition of each of some names in file order, for callers that know there is one definition. Fails if a
    /// unit that may hold one is broken.
    pub fn find_first_many(&self, names: &[&str]) -> Result<Vec<Option<DwarfDefinition>>> {
        self.find_lazily(names, find_first_many, |found| found.die)
    }

    /// The first typedef of each of some names, of whatever it is one. Fails if a unit that may hold one is broken.
    pub fn find_typedefs(&self, names: &[&str]) -> Result<Vec<Option<DieRef>>> {
        self.find_lazily(names, find_typedefs, |found| *found)
    }

    /// Results of the first units that refer to no other unit; for other names, those of all units.
    fn find_lazily<T>(
        &self,
        names: &[&str],
        find: impl Fn(&Dwarf<'s>, &[&str]) -> Result<Vec<Option<T>>>,
        die: impl Fn(&T) -> DieRef,
    ) -> Result<Vec<Option<T>>> {
        let mut found = find(&self.first_units, names)?;
        let is_early = |hit: &Option<T>| hit.as_ref().is_some_and(|hit| self.is_in_first_units(die(hit)));
        let late: Vec<usize> = (0..found.len()).filter(|name| !is_early(&found[*name])).collect();
        if late.is_empty() {
            return Ok(found);
        }
        let names: Vec<&str> = late.iter().map(|name| names[*name]).collect();
        for (name, definition) in late.into_iter().zip(find(self.all()?, &names)?) {
            found[name] = definition;
        }
        Ok(found)
    }
}
