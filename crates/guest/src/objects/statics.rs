//! Static variables that are structs.

use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::code::NameKind;
use fieldline_typeflow::program::Program;
use fieldline_typeflow::types::{Ty, TypeShape, TypeSpace};
use std::collections::BTreeMap;

/// Elements of an array that count.
const MAX_ELEMENTS: u64 = 4096;

/// A static variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StaticVariable {
    pub(crate) address: LinkedAddress,
    pub(crate) name: String,
    pub(crate) type_name: String,
    /// Bytes of an element.
    pub(crate) size: u64,
    /// Elements; 1 if it is no array.
    pub(crate) count: u64,
    pub(crate) is_per_cpu: bool,
}

/// All static variables that are structs or arrays of structs, by address.
pub(crate) fn static_variables<'a>(program: &'a Program<'a>) -> Vec<StaticVariable> {
    let units: Vec<u32> = (0..u32::try_from(program.dwarf.unit_count()).unwrap_or(u32::MAX)).collect();
    let found = fieldline_parallel::map(&units, |unit| variables_of_unit(program, *unit));
    let by_address: BTreeMap<LinkedAddress, StaticVariable> =
        found.into_iter().flatten().map(|variable| (variable.address, variable)).collect();
    by_address.into_values().collect()
}

fn variables_of_unit<'a>(program: &'a Program<'a>, unit: u32) -> Vec<StaticVariable> {
    let Some(index) = program.unit_index(unit) else { return Vec::new() };
    let mut types = program.types();
    let mut found = Vec::new();
    for (_, die) in index.names(NameKind::Variable) {
        let Some(address) = index.address_of(die).map(LinkedAddress) else { continue };
        // Linkers leave what they dropped at address 0, without a symbol.
        let Some(symbol) = program.symbols.data_at(address).filter(|symbol| symbol.address == address.0)
        else {
            continue;
        };
        let Some(ty) = program.dwarf.type_die(die).map(|die| types.type_of_die(die)) else { continue };
        let Some((element, count)) = element(&types, ty) else { continue };
        let (Some(type_name), Some(size)) = (types.name(element), types.size(element)) else { continue };
        let is_whole = symbol.size.is_none_or(|bytes| bytes >= size.saturating_mul(count));
        if size > 0 && is_whole {
            let (type_name, name) = (type_name.to_owned(), symbol.name.to_owned());
            let is_per_cpu = program.per_cpu.range.contains(&address);
            found.push(StaticVariable { address, name, type_name, size, count, is_per_cpu });
        }
    }
    found
}

/// The struct of a variable's type, and how many there are.
fn element(types: &TypeSpace<'_, '_>, ty: Ty) -> Option<(Ty, u64)> {
    match types.shape(ty) {
        TypeShape::Aggregate { .. } => Some((ty, 1)),
        TypeShape::Array { element, count: Some(count) } if types.is_aggregate(*element) => {
            Some((*element, (*count).min(MAX_ELEMENTS)))
        }
        _ => None,
    }
}
