//! Types of the objects that calls return pointers to, by what their callers do with them: what allocators of
//! untyped memory give out.

use super::target::TypeEntry;
use crate::flow::value::Pointer;
use crate::flow::{ArgumentLocations, FlowSolution, FunctionCode, UnitContext};
use crate::program::Program;
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::code::{Function, ScopeReader};
use fieldline_machinecode::insn::InstructionReader;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The struct that a call returns a pointer to the start of, by the address that it returns to. Calls of which the
/// code doesn't show it are not among them.
pub fn returned_types<'a>(
    program: &'a Program<'a>,
    return_addresses: &[LinkedAddress],
) -> FxHashMap<LinkedAddress, TypeEntry> {
    program.index_units(return_addresses.iter().copied());
    let mut callers: BTreeMap<(u32, usize), (&Function, Vec<LinkedAddress>)> = BTreeMap::new();
    for address in return_addresses {
        if let Some((unit, function)) = program.function_at(*address) {
            let caller = callers.entry((unit, function.die.offset)).or_insert((function, Vec::new()));
            caller.1.push(*address);
        }
    }
    let callers: Vec<_> = callers.into_iter().map(|((unit, _), caller)| (unit, caller)).collect();
    let found = fieldline_parallel::map(&callers, |(unit, (function, addresses))| {
        types_in_function(program, *unit, function, addresses)
    });
    found.into_iter().flatten().collect()
}

fn types_in_function<'a>(
    program: &'a Program<'a>,
    unit: u32,
    function: &Function,
    addresses: &[LinkedAddress],
) -> Vec<(LinkedAddress, TypeEntry)> {
    let mut world = UnitContext::new(program, unit);
    let mut reader = InstructionReader::new(program.architecture);
    let scopes = ScopeReader::new(program.dwarf, unit).ok();
    let code = scopes.and_then(|scopes| FunctionCode::read(&mut world, &scopes, &mut reader, function));
    let Some(code) = code else { return Vec::new() };
    let solution = FlowSolution::new(&mut world, &code, &ArgumentLocations::default());
    let mut found = Vec::new();
    solution.for_each_state(&mut world, &mut |world, index, state| {
        let Some(instruction) = code.instructions.get(index) else { return };
        let address = LinkedAddress(instruction.address);
        if !addresses.contains(&address) {
            return;
        }
        let returned = state.register(program.architecture.result_register());
        let place = returned.pointer().and_then(Pointer::exact_location).filter(|place| place.offset == 0);
        if let Some(place) = place.filter(|place| world.types.is_aggregate(place.ty)) {
            found.push((address, TypeEntry::from_type(&world.types, place.ty)));
        }
    });
    found
}
