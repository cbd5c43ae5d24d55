//! What an analysed function passes on: pointers in the arguments of calls, and callbacks it puts into structs.

use crate::flow::{Code, Solution, Spot, State, Value, World};
use crate::types::{Place, TypeSpace};
use fieldline_debuginfo::dwarf::DieRef;
use fieldline_machinecode::architecture::MAX_ARGUMENTS;
use fieldline_machinecode::machine::{Address, Callee, Effect, Flow, Instruction, ValueSource};

/// A place in a struct that other units understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SharedPlace {
    /// A DIE that defines the struct.
    pub die: DieRef,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Passed {
    Unknown,
    /// No pointer, or a null one.
    Nothing,
    Pointer(SharedPlace),
}

#[expect(clippy::large_enum_variant, reason = "nearly all uses are calls")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FunctionUse {
    Call([Passed; MAX_ARGUMENTS]),
    /// Puts its address there: it will be called with what the place is in.
    Callback(SharedPlace),
    /// Takes its address, and nobody knows for what.
    Address,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Export {
    /// The function that is used, by its entry.
    pub function: u64,
    pub usage: FunctionUse,
}

/// The uses a function makes of others. `is_function` tells whether an address is the entry of one that matters.
pub(crate) fn exports(
    world: &mut World<'_>,
    code: &Code,
    solution: &Solution<'_>,
    is_function: &(dyn Fn(u64) -> bool + Sync),
) -> Vec<Export> {
    let mut found = Vec::new();
    solution.walk(world, &mut |world, index, state| {
        let Some(instruction) = code.instructions.get(index) else { return };
        if let Some(function) = called(code, instruction).filter(|target| is_function(*target)) {
            let mut arguments = [Passed::Unknown; MAX_ARGUMENTS];
            for (argument, register) in arguments.iter_mut().zip(world.program.architecture.arguments()) {
                *argument = passed(world, state.register(*register));
            }
            found.push(Export { function, usage: FunctionUse::Call(arguments) });
        }
        let registered = found.len();
        callbacks(world, state, instruction, is_function, &mut found);
        if found.len() == registered {
            found.extend(addresses(state, instruction, is_function));
        }
    });
    found.sort_unstable();
    found.dedup();
    forget_explained(found)
}

/// The function that an instruction calls, or jumps to as its last act.
fn called(code: &Code, instruction: &Instruction) -> Option<u64> {
    match instruction.flow {
        Flow::Call(Callee::Direct(target)) => Some(target),
        Flow::Jump(target) | Flow::Branch(target) if !code.has(target) => Some(target),
        _ => None,
    }
}

fn passed(world: &mut World<'_>, value: Value) -> Passed {
    match world.as_pointer(value) {
        Value::Pointer(pointer) => world
            .pointed(pointer)
            .and_then(|place| shown(&world.types, place))
            .map_or(Passed::Unknown, Passed::Pointer),
        value if value.is_null() => Passed::Nothing,
        _ => Passed::Unknown,
    }
}

fn shown(types: &TypeSpace<'_, '_>, place: Place) -> Option<SharedPlace> {
    let die = types.die(place.ty).filter(|_| types.is_aggregate(place.ty))?;
    Some(SharedPlace { die, offset: place.offset })
}

/// Callbacks that an instruction stores into a struct or passes along with one.
fn callbacks(
    world: &mut World<'_>,
    state: &State,
    instruction: &Instruction,
    is_function: &(dyn Fn(u64) -> bool + Sync),
    found: &mut Vec<Export>,
) {
    for (from, address) in stored(instruction) {
        let stored = match from {
            ValueSource::Number(number) => Value::Number(number as u64),
            ValueSource::Register(register) => state.register(register),
            ValueSource::Memory | ValueSource::System(_) => Value::UNKNOWN,
        };
        if let Value::Number(function) = stored
            && is_function(function)
        {
            let place = match world.spot(state, &address) {
                Spot::Pointer(pointer) => pointer.place(),
                spot @ Spot::Fixed { .. } => world.place(spot),
                _ => None,
            };
            let usage = place
                .and_then(|place| shown(&world.types, place))
                .map_or(FunctionUse::Address, FunctionUse::Callback);
            found.push(Export { function, usage });
        }
    }
    if matches!(instruction.flow, Flow::Call(_)) {
        passed_along(world, state, is_function, found);
    }
}

fn stored(instruction: &Instruction) -> Vec<(ValueSource, Address)> {
    let Some(address) = instruction.operand().map(|memory| memory.address) else {
        return Vec::new();
    };
    match instruction.effect {
        Effect::Store { from } => vec![(from, address)],
        Effect::StorePair { first, second } => {
            let behind = Address { displacement: address.displacement.wrapping_add(8), ..address };
            vec![(first, address), (second, behind)]
        }
        _ => Vec::new(),
    }
}

/// A call that is given a function and a struct may have the function called with the struct.
fn passed_along(
    world: &mut World<'_>,
    state: &State,
    is_function: &(dyn Fn(u64) -> bool + Sync),
    found: &mut Vec<Export>,
) {
    let registers = world.program.architecture.arguments().iter();
    let values: Vec<Value> = registers.map(|register| state.register(*register)).collect();
    let functions = values.iter().filter_map(|value| match value {
        Value::Number(number) if is_function(*number) => Some(*number),
        _ => None,
    });
    let functions: Vec<u64> = functions.collect();
    if functions.is_empty() {
        return;
    }
    let pointers: Vec<SharedPlace> = values
        .into_iter()
        .filter_map(|value| match passed(world, value) {
            Passed::Pointer(shown) => Some(shown),
            _ => None,
        })
        .collect();
    for function in functions {
        let usages = pointers.iter().map(|shown| FunctionUse::Callback(*shown));
        found.extend(usages.map(|usage| Export { function, usage }));
        if pointers.is_empty() {
            found.push(Export { function, usage: FunctionUse::Address });
        }
    }
}

/// Functions whose addresses an instruction brings into a register.
fn addresses(
    state: &State,
    instruction: &Instruction,
    is_function: &(dyn Fn(u64) -> bool + Sync),
) -> Option<Export> {
    let number = match instruction.effect {
        Effect::Move { from: ValueSource::Number(number), .. }
        | Effect::Push { from: ValueSource::Number(number) } => number as u64,
        Effect::Lea { address, .. } if address.base.is_none() && address.index.is_none() => {
            address.displacement as u64
        }
        // The rest of an address, of which the page is known.
        Effect::Add { of, from: ValueSource::Number(rest), subtract: false, .. } => {
            match state.register(of) {
                Value::Number(page) => page.wrapping_add(rest as u64),
                _ => return None,
            }
        }
        _ => return None,
    };
    is_function(number).then_some(Export { function: number, usage: FunctionUse::Address })
}

/// Where a function is known to put an address, taking it is explained.
fn forget_explained(found: Vec<Export>) -> Vec<Export> {
    let explained: Vec<u64> = found
        .iter()
        .filter(|export| matches!(export.usage, FunctionUse::Callback(_)))
        .map(|export| export.function)
        .collect();
    let keeps =
        |export: &Export| export.usage != FunctionUse::Address || !explained.contains(&export.function);
    found.into_iter().filter(keeps).collect()
}
