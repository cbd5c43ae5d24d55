//! Uses of other functions by an analysed one: arguments of calls, and callbacks it stores in structs.

use crate::flow::{AbstractAddress, FlowSolution, FunctionCode, State, UnitContext, Value};
use crate::types::{TypeOffset, TypeSpace};
use fieldline_debuginfo::dwarf::DieRef;
use fieldline_machinecode::architecture::MAX_ARGUMENTS;
use fieldline_machinecode::machine::{Address, Callee, Effect, Flow, Instruction, ValueSource};

/// An offset in a struct, in terms that other units understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CrossUnitOffset {
    /// A DIE that defines the struct.
    pub die: DieRef,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ArgumentValue {
    Unknown,
    /// No pointer, or a null one.
    NoPointer,
    Pointer(CrossUnitOffset),
}

#[expect(clippy::large_enum_variant, reason = "nearly all uses are calls")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FunctionUse {
    Call([ArgumentValue; MAX_ARGUMENTS]),
    /// Stores its address at the offset: it will be called with the struct there.
    Callback(CrossUnitOffset),
    /// Takes its address for an unknown use.
    Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CalleeUse {
    /// The function that is used, by its entry.
    pub function: u64,
    pub usage: FunctionUse,
}

/// The uses a function makes of others. `is_function` tells whether an address is the entry of one that
/// matters.
pub(crate) fn collect_function_uses(
    world: &mut UnitContext<'_>,
    code: &FunctionCode,
    solution: &FlowSolution<'_>,
    is_function: &(dyn Fn(u64) -> bool + Sync),
) -> Vec<CalleeUse> {
    let mut uses = UseCollector { is_function, uses: Vec::new() };
    solution.for_each_state(world, &mut |world, index, state| {
        let Some(instruction) = code.instructions.get(index) else { return };
        // The function that an instruction calls, or jumps to as its last act.
        let called = match instruction.flow {
            Flow::Call(Callee::Direct(target)) => Some(target),
            Flow::Jump(target) | Flow::Branch(target) if !code.contains(target) => Some(target),
            _ => None,
        };
        if let Some(function) = called.filter(|target| is_function(*target)) {
            let mut arguments = [ArgumentValue::Unknown; MAX_ARGUMENTS];
            for (argument, register) in
                arguments.iter_mut().zip(world.program.architecture.argument_registers())
            {
                *argument = classify_argument(world, state.register(*register));
            }
            uses.uses.push(CalleeUse { function, usage: FunctionUse::Call(arguments) });
        }
        let count_before = uses.uses.len();
        uses.collect_stored_callbacks(world, state, instruction);
        if matches!(instruction.flow, Flow::Call(_)) {
            uses.collect_passed_callbacks(world, state);
        }
        if uses.uses.len() == count_before {
            let address = immediate_address(state, instruction).filter(|number| is_function(*number));
            uses.uses.extend(address.map(|function| CalleeUse { function, usage: FunctionUse::Address }));
        }
    });
    let mut found = uses.uses;
    found.sort_unstable();
    found.dedup();
    // Where a function is known to put an address, taking it is explained.
    let is_callback = |export: &&CalleeUse| matches!(export.usage, FunctionUse::Callback(_));
    let explained: Vec<u64> = found.iter().filter(is_callback).map(|export| export.function).collect();
    found.retain(|export| export.usage != FunctionUse::Address || !explained.contains(&export.function));
    found
}

fn classify_argument(world: &mut UnitContext<'_>, value: Value) -> ArgumentValue {
    match world.as_pointer(value) {
        Value::Pointer(pointer) => world
            .pointed_location(pointer)
            .and_then(|place| to_cross_unit(&world.types, place))
            .map_or(ArgumentValue::Unknown, ArgumentValue::Pointer),
        value if value.is_null() => ArgumentValue::NoPointer,
        _ => ArgumentValue::Unknown,
    }
}

fn to_cross_unit(types: &TypeSpace<'_, '_>, place: TypeOffset) -> Option<CrossUnitOffset> {
    let die = types.die(place.ty).filter(|_| types.is_aggregate(place.ty))?;
    Some(CrossUnitOffset { die, offset: place.offset })
}

struct UseCollector<'u> {
    is_function: &'u (dyn Fn(u64) -> bool + Sync),
    uses: Vec<CalleeUse>,
}

impl UseCollector<'_> {
    /// Callbacks that an instruction stores into a struct.
    fn collect_stored_callbacks(&mut self, world: &mut UnitContext<'_>, state: &State, store: &Instruction) {
        let Some(address) = store.explicit_operand().map(|memory| memory.address) else { return };
        let second_address = Address { displacement: address.displacement.wrapping_add(8), ..address };
        let stores = match store.effect {
            Effect::Store { from } => [Some((from, address)), None],
            Effect::StorePair { first, second } => [Some((first, address)), Some((second, second_address))],
            _ => return,
        };
        for (from, address) in stores.into_iter().flatten() {
            let function = match from {
                ValueSource::Number(number) => number as u64,
                ValueSource::Register(register) => match state.register(register) {
                    Value::Number(number) => number,
                    _ => continue,
                },
                ValueSource::Memory | ValueSource::System(_) => continue,
            };
            if !(self.is_function)(function) {
                continue;
            }
            let place = match world.resolve_address(state, &address) {
                AbstractAddress::Pointer(pointer) => pointer.location(),
                spot @ AbstractAddress::Fixed { .. } => world.location_at(spot),
                _ => None,
            };
            let cross_unit = place.and_then(|place| to_cross_unit(&world.types, place));
            let usage = cross_unit.map_or(FunctionUse::Address, FunctionUse::Callback);
            self.uses.push(CalleeUse { function, usage });
        }
    }

    /// A call that passes a function and a struct may have the function called with the struct.
    fn collect_passed_callbacks(&mut self, world: &mut UnitContext<'_>, state: &State) {
        let registers = world.program.architecture.argument_registers().iter();
        let values: Vec<Value> = registers.map(|register| state.register(*register)).collect();
        let functions = values.iter().filter_map(|value| match value {
            Value::Number(number) if (self.is_function)(*number) => Some(*number),
            _ => None,
        });
        let functions: Vec<u64> = functions.collect();
        if functions.is_empty() {
            return;
        }
        let pointers = values.into_iter().filter_map(|value| match classify_argument(world, value) {
            ArgumentValue::Pointer(cross_unit) => Some(FunctionUse::Callback(cross_unit)),
            _ => None,
        });
        let mut usages: Vec<FunctionUse> = pointers.collect();
        if usages.is_empty() {
            usages.push(FunctionUse::Address);
        }
        for function in functions {
            self.uses.extend(usages.iter().map(|usage| CalleeUse { function, usage: *usage }));
        }
    }
}

/// The number that an instruction brings into a register, if it may be an address.
fn immediate_address(state: &State, instruction: &Instruction) -> Option<u64> {
    match instruction.effect {
        Effect::Move { from: ValueSource::Number(number), .. }
        | Effect::Push { from: ValueSource::Number(number) } => Some(number as u64),
        Effect::Lea { address, .. } if address.base.is_none() && address.index.is_none() => {
            Some(address.displacement as u64)
        }
        // The rest of an address, of which the page is known.
        Effect::Add { left: register, from: ValueSource::Number(rest), subtract: false, .. } => {
            match state.register(register) {
                Value::Number(page) => Some(page.wrapping_add(rest as u64)),
                _ => None,
            }
        }
        _ => None,
    }
}
