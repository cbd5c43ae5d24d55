//! Names of structs without a tag: `typedef struct { ... } point_t;`.
//!
//! The DIE of such a struct doesn't name the typedef, so the first question about a unit walks its top.

use crate::dwarf::bytes::abbrev::Attr;
use crate::dwarf::bytes::scan::{RawValue, ScannedDie, UnitScan};
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::dwarf::search::index::defined_kind;
use fieldline_files::printable::printable_bytes;
use std::sync::Arc;

/// How deep scopes may nest.
const MAX_DEPTH: u32 = 24;

struct TypedefWalk<'w, 's> {
    dwarf: &'w Dwarf<'s>,
    scan: &'w UnitScan<'s>,
    unit: u32,
    found: &'w mut Vec<(usize, Arc<str>)>,
}

impl TypedefWalk<'_, '_> {
    fn walk_children(&mut self, parent: ScannedDie<'_>, depth: u32) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let scan = self.scan;
        for (_, die) in scan.children(parent) {
            if die.abbrev.tag == gimli::DW_TAG_typedef {
                self.add(die);
            } else if die.abbrev.is_aggregate() || die.abbrev.tag == gimli::DW_TAG_namespace {
                self.walk_children(die, depth);
            }
        }
    }

    /// Adds a typedef of a struct without a tag.
    fn add(&mut self, typedef: ScannedDie<'_>) -> Option<()> {
        defined_kind(self.scan, typedef)?;
        let RawValue::Local(target) = self.scan.attr_value(typedef, Attr::Type) else { return None };
        let name = self.dwarf.raw_string(self.unit, self.scan.attr_value(typedef, Attr::Name))?;
        self.found.push((usize::try_from(target).ok()?, Arc::from(printable_bytes(name))));
        Some(())
    }
}

/// The structs of a unit that only a typedef names, with the first that does. A broken DIE ends the walk.
fn collect_typedef_names(dwarf: &Dwarf<'_>, unit: u32) -> Vec<(usize, Arc<str>)> {
    let mut found = Vec::new();
    if let Ok(scan) = UnitScan::new(dwarf, unit)
        && let Some(root) = scan.die(scan.root)
    {
        TypedefWalk { dwarf, scan: &scan, unit, found: &mut found }.walk_children(root, MAX_DEPTH);
    }
    // The sort is stable: the first typedef stays the first.
    found.sort_by_key(|(target, _)| *target);
    found.dedup_by_key(|(target, _)| *target);
    found
}

impl Dwarf<'_> {
    /// The typedef that names a struct without a tag, if one does.
    pub fn typedef_name_of(&self, die: DieRef) -> Option<Arc<str>> {
        let entry = self.entry(die.unit).ok()?;
        let names = entry.typedef_names.get_or_init(|| collect_typedef_names(self, die.unit));
        let index = names.binary_search_by_key(&die.offset, |(target, _)| *target).ok()?;
        names.get(index).map(|(_, name)| Arc::clone(name))
    }
}
