//! All definitions of a file: each distinct struct, union and class once.

use super::signature::SignatureBuilder;
use crate::dwarf::bytes::abbrev::{Attr, kind_of};
use crate::dwarf::bytes::scan::{RawValue, ScannedDie, UnitScan};
use crate::dwarf::bytes::units::{DieRef, Dwarf};
use crate::error::Result;
use fieldline_files::printable::printable_bytes;
use fieldline_layout::types::AggregateKind;
use gimli::DwTag;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// One definition of a struct, union or class, or of a typedef that names an anonymous one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DwarfDefinition {
    /// Tag, or the typedef's name.
    pub name: Box<str>,
    /// struct, union or class.
    pub kind: AggregateKind,
    /// Whether the name is a typedef's.
    pub is_typedef: bool,
    /// The first DIE that defines it.
    pub die: DieRef,
    /// How many units have an equal definition.
    pub units: u32,
    /// Tells definitions of one name apart: equal for equal layouts.
    pub signature: u64,
    /// Whether every unit has it inside a function, class or namespace. Only [`index_definitions`] sets it.
    pub is_nested: bool,
}

impl DwarfDefinition {
    /// The definition as one unit has it.
    pub(super) fn new(name: &[u8], kind: AggregateKind, tag: DwTag, die: DieRef, signature: u64) -> Self {
        let name = printable_bytes(name).into_owned().into_boxed_str();
        let is_typedef = tag == gimli::DW_TAG_typedef;
        Self { name, kind, is_typedef, die, units: 1, signature, is_nested: false }
    }
}

/// All distinct definitions in the order of their first occurrence. Fails if a unit is broken.
pub fn index_definitions(dwarf: &Dwarf<'_>) -> Result<Vec<DwarfDefinition>> {
    let units = dwarf.unit_indices().into_par_iter();
    let parts = units.try_fold(DefinitionMap::default, |found, unit| index_unit(dwarf, unit, found));
    let mut all = DefinitionMap::default();
    for (signature, definition) in parts.collect::<Result<Vec<_>>>()?.into_iter().flat_map(|part| part.0) {
        let DwarfDefinition { die, units, is_nested, .. } = definition;
        all.add_definition(signature, (die, units, is_nested), || Some(definition));
    }
    let mut definitions: Vec<DwarfDefinition> = all.0.into_values().collect();
    definitions.sort_by_key(|definition| definition.die);
    merge_equal_definitions(dwarf, definitions)
}

/// Gives exact signatures to names with several definitions and joins those that are equal.
pub(crate) fn merge_equal_definitions(
    dwarf: &Dwarf<'_>,
    definitions: Vec<DwarfDefinition>,
) -> Result<Vec<DwarfDefinition>> {
    let mut by_name: FxHashMap<Box<str>, u32> = FxHashMap::default();
    for definition in &definitions {
        *by_name.entry(definition.name.clone()).or_default() += 1;
    }
    let mut kept: Vec<DwarfDefinition> = Vec::with_capacity(definitions.len());
    let mut positions: FxHashMap<u64, usize> = FxHashMap::default();
    for mut definition in definitions {
        if by_name.get(&definition.name).is_some_and(|count| *count > 1) {
            let DieRef { unit, offset } = definition.die;
            definition.signature = SignatureBuilder::new(dwarf, unit)?.require_signature(offset)?;
            if let Some(known) =
                positions.get(&definition.signature).and_then(|position| kept.get_mut(*position))
            {
                known.units += definition.units;
                continue;
            }
            positions.insert(definition.signature, kept.len());
        }
        kept.push(definition);
    }
    Ok(kept)
}

/// Definitions by signature.
#[derive(Default)]
struct DefinitionMap(FxHashMap<u64, DwarfDefinition>);

impl DefinitionMap {
    /// Counts a definition, which is made only the first time.
    fn add_definition(
        &mut self,
        signature: u64,
        (die, units, is_nested): (DieRef, u32, bool),
        make: impl FnOnce() -> Option<DwarfDefinition>,
    ) {
        if let Some(known) = self.0.get_mut(&signature) {
            known.units += units;
            known.die = known.die.min(die);
            known.is_nested &= is_nested;
        } else if let Some(definition) = make() {
            self.0.insert(signature, DwarfDefinition { is_nested, ..definition });
        }
    }
}

/// Walks all DIEs of a unit, those inside functions too.
fn index_unit(dwarf: &Dwarf<'_>, unit: u32, mut found: DefinitionMap) -> Result<DefinitionMap> {
    let mut builder = SignatureBuilder::new_by_offset(dwarf, unit)?;
    let scan = Rc::clone(&builder.scan);
    let mut at = scan.root;
    let mut depth = 0u32;
    while !scan.is_end(at) {
        let broken = move || dwarf.broken_die_error(unit, at);
        let Some(entry) = scan.die(at) else {
            at = scan.null_end(at).ok_or_else(broken)?;
            depth = depth.saturating_sub(1);
            continue;
        };
        let kind = defined_kind(&scan, entry);
        if let Some(kind) = kind {
            let (die, signature) = (DieRef { unit, offset: at }, builder.require_signature(at)?);
            found.add_definition(signature, (die, 1, depth > 1), || {
                let name = dwarf.raw_string(unit, scan.attr_value(entry, Attr::Name))?;
                Some(DwarfDefinition::new(name, kind, entry.abbrev.tag, die, signature))
            });
        }
        let inside = kind.is_none() || !builder.has_members_only(at);
        depth += u32::from(inside && entry.abbrev.has_children);
        let next = if inside { scan.attrs_end(entry) } else { scan.next_sibling(entry) };
        at = next.ok_or_else(broken)?;
    }
    Ok(found)
}

/// The kind of the aggregate that a DIE defines: itself if it is a named aggregate, or an anonymous one it is a typedef of.
pub(crate) fn defined_kind(scan: &UnitScan<'_>, die: ScannedDie<'_>) -> Option<AggregateKind> {
    if !die.abbrev.has(Attr::Name) || die.abbrev.has(Attr::Declaration) {
        return None;
    }
    if die.abbrev.tag == gimli::DW_TAG_typedef {
        anonymous_target_kind(scan, die)
    } else {
        kind_of(die.abbrev.tag)
    }
}

/// The kind of the anonymous aggregate a typedef names directly.
fn anonymous_target_kind(scan: &UnitScan<'_>, typedef: ScannedDie<'_>) -> Option<AggregateKind> {
    let RawValue::Local(target) = scan.attr_value(typedef, Attr::Type) else { return None };
    let target = scan.die(usize::try_from(target).ok()?)?;
    let kind = kind_of(target.abbrev.tag)?;
    (!target.abbrev.has(Attr::Name)).then_some(kind)
}
