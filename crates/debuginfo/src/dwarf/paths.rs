//! Namespaces and classes around types: `fleet` of `fleet::Bus`.
//!
//! A DIE does not say what it stands in, so the first question about a unit walks it. Units of C have no such scopes and
//! are not walked.

use super::abbrev::Attr;
use super::scan::{Raw, Seen, UnitScan};
use super::units::{DieRef, Dwarf};
use gimli::{AttributeValue as Value, DwLang};
use std::sync::{Arc, OnceLock};

/// How deep scopes may nest.
const MAX_DEPTH: u32 = 24;
/// What compilers and debuggers call a namespace without a name.
const UNNAMED: &str = "(anonymous namespace)";

/// Paths of the types of one unit.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    /// Offset of a type that is in something, and in what; sorted.
    found: Vec<(usize, Arc<str>)>,
}

impl Paths {
    /// Walks a unit. Where a DIE is broken the walk ends: what stands behind it has no path.
    pub(crate) fn new(dwarf: &Dwarf<'_>, unit: u32) -> Self {
        let mut paths = Self::default();
        let Ok(scan) = UnitScan::new(dwarf, unit) else { return paths };
        // A partial unit may not say which language it is of.
        if !dwarf.language(unit).is_some_and(is_flat) {
            let mut walk = Walk { dwarf, scan: &scan, unit, found: &mut paths.found };
            walk.children(scan.root, &Arc::from(""), MAX_DEPTH);
            paths.found.sort_unstable();
        }
        paths
    }

    /// What a type is in.
    pub(crate) fn of(&self, offset: usize) -> Option<&Arc<str>> {
        let place = self.found.binary_search_by_key(&offset, |(at, _)| *at).ok()?;
        self.found.get(place).map(|(_, path)| path)
    }
}

/// Languages without namespaces: C and assembly.
fn is_flat(language: DwLang) -> bool {
    matches!(
        language,
        gimli::DW_LANG_C
            | gimli::DW_LANG_C89
            | gimli::DW_LANG_C99
            | gimli::DW_LANG_C11
            | gimli::DW_LANG_C17
            | gimli::DW_LANG_Mips_Assembler
    )
}

struct Walk<'w, 's> {
    dwarf: &'w Dwarf<'s>,
    scan: &'w UnitScan<'s>,
    unit: u32,
    found: &'w mut Vec<(usize, Arc<str>)>,
}

impl Walk<'_, '_> {
    fn children(&mut self, parent: usize, path: &Arc<str>, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let parent = self.scan.die(parent)?;
        if !parent.shape.has_children {
            return Some(());
        }
        let mut at = self.scan.end(parent)?;
        while let Some(seen) = self.scan.die(at) {
            let is_type = seen.shape.is_aggregate();
            if is_type && !path.is_empty() {
                self.found.push((at, Arc::clone(path)));
            }
            if is_type || seen.shape.tag == gimli::DW_TAG_namespace {
                let inner = self.inner(path, seen);
                self.children(at, &inner, depth);
            }
            at = self.scan.next_sibling(seen)?;
        }
        Some(())
    }

    /// The path of what stands in a scope. An unnamed struct is none.
    fn inner(&self, path: &Arc<str>, scope: Seen<'_>) -> Arc<str> {
        let bytes = match self.scan.get(scope, Attr::Name) {
            Raw::Inline(bytes) => Some(bytes),
            Raw::Str(form, value) => self.dwarf.string(self.unit, form, value),
            _ => None,
        };
        let name = bytes.map(String::from_utf8_lossy);
        let name = match &name {
            Some(name) => name.as_ref(),
            None if scope.shape.tag == gimli::DW_TAG_namespace => UNNAMED,
            None => return Arc::clone(path),
        };
        match path.as_ref() {
            "" => Arc::from(name),
            path => Arc::from(format!("{path}::{name}")),
        }
    }
}

/// The paths of all units, as far as somebody asked.
#[derive(Debug)]
pub(crate) struct AllPaths(Box<[OnceLock<Paths>]>);

impl AllPaths {
    pub(crate) fn new(units: usize) -> Self {
        Self((0..units).map(|_| OnceLock::new()).collect())
    }

    fn unit(&self, unit: u32) -> Option<&OnceLock<Paths>> {
        self.0.get(unit as usize)
    }
}

impl Dwarf<'_> {
    /// The language a unit is written in, if it says so.
    pub(crate) fn language(&self, unit: u32) -> Option<DwLang> {
        let offset = self.entry(unit).ok()?.header.root_offset().0;
        let root = self.die(DieRef { unit, offset }).ok()?;
        match root.attr_value(gimli::DW_AT_language)? {
            Value::Language(language) => Some(language),
            _ => None,
        }
    }

    /// The namespaces and classes around a type, `::` between them; `None` at the top of a unit.
    pub fn path_of(&self, die: DieRef) -> Option<Arc<str>> {
        let all = self.paths.get_or_init(|| AllPaths::new(self.unit_count()));
        let paths = all.unit(die.unit)?.get_or_init(|| Paths::new(self, die.unit));
        paths.of(die.offset).cloned()
    }
}
