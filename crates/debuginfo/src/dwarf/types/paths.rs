//! Namespaces and classes around types: `fleet` of `fleet::Bus`.
//!
//! A DIE does not name its parent, so the first question about a unit walks it, unless it is of C.

use crate::dwarf::bytes::abbrev::Attr;
use crate::dwarf::bytes::scan::{ScannedDie, UnitScan};
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use fieldline_files::printable::printable_bytes;
use gimli::DwLang;
use std::sync::Arc;

/// How deep scopes may nest.
const MAX_DEPTH: u32 = 24;
/// The name that compilers and debuggers give a namespace without one.
const UNNAMED: &str = "(anonymous namespace)";

/// Whether a language has no namespaces: C and assembly.
fn has_no_namespaces(language: DwLang) -> bool {
    use gimli::constants as dw;
    matches!(language, dw::DW_LANG_C | dw::DW_LANG_C89 | dw::DW_LANG_C99 | dw::DW_LANG_C11 | dw::DW_LANG_C17)
        || language == dw::DW_LANG_Mips_Assembler
}

struct PathWalk<'w, 's> {
    dwarf: &'w Dwarf<'s>,
    scan: &'w UnitScan<'s>,
    unit: u32,
    found: &'w mut Vec<(usize, Arc<str>)>,
}

impl PathWalk<'_, '_> {
    fn walk_children(&mut self, parent: ScannedDie<'_>, path: &Arc<str>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let scan = self.scan;
        for (at, die) in scan.children(parent) {
            let is_type = die.abbrev.is_aggregate();
            if is_type && !path.is_empty() {
                self.found.push((at, Arc::clone(path)));
            }
            if is_type || die.abbrev.tag == gimli::DW_TAG_namespace {
                let inner = self.inner_path(path, die);
                self.walk_children(die, &inner, depth);
            }
        }
    }

    /// The path of DIEs in a scope. An unnamed struct adds nothing to it.
    fn inner_path(&self, path: &Arc<str>, scope: ScannedDie<'_>) -> Arc<str> {
        let bytes = self.dwarf.raw_string(self.unit, self.scan.attr_value(scope, Attr::Name));
        let name = bytes.map(printable_bytes);
        let name = match &name {
            Some(name) => name.as_ref(),
            None if scope.abbrev.tag == gimli::DW_TAG_namespace => UNNAMED,
            None => return Arc::clone(path),
        };
        match path.as_ref() {
            "" => Arc::from(name),
            path => Arc::from(format!("{path}::{name}")),
        }
    }
}

/// The paths of all types of a unit that have one. A broken DIE ends the walk: types behind it have no path.
fn collect_paths(dwarf: &Dwarf<'_>, unit: u32) -> Vec<(usize, Arc<str>)> {
    let mut found = Vec::new();
    // A partial unit may not say which language it is of.
    if !dwarf.language(unit).is_some_and(has_no_namespaces)
        && let Ok(scan) = UnitScan::new(dwarf, unit)
        && let Some(root) = scan.die(scan.root)
    {
        let mut walk = PathWalk { dwarf, scan: &scan, unit, found: &mut found };
        walk.walk_children(root, &Arc::from(""), MAX_DEPTH);
        found.sort_unstable();
    }
    found
}

impl Dwarf<'_> {
    /// The namespaces and classes around a type, `::` between them; `None` at the top of a unit.
    pub fn path_of(&self, die: DieRef) -> Option<Arc<str>> {
        let paths = self.entry(die.unit).ok()?.paths.get_or_init(|| collect_paths(self, die.unit));
        let index = paths.binary_search_by_key(&die.offset, |(at, _)| *at).ok()?;
        paths.get(index).map(|(_, path)| Arc::clone(path))
    }
}
