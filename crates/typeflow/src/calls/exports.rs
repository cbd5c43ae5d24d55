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
    let mut uses = Uses { is_function, found: Vec::new() };
    solution.walk(world, &mut |world, index, state| {
        let Some(instruction) = code.instructions.get(index) else { return };
        // The function that an instruction calls, or jumps to as its last act.
        let called = match instruction.flow {
            Flow::Call(Callee::Direct(target)) => Some(target),
            Flow::Jump(target) | Flow::Branch(target) if !code.has(target) => Some(target),
            _ => None,
        };
        if let Some(function) = called.filter(|target| is_function(*target)) {
            let mut arguments = [Passed::Unknown; MAX_ARGUMENTS];
            for (argument, register) in arguments.iter_mut().zip(world.program.architecture.arguments()) {
                *argument = passed(world, state.register(*register));
            }
            uses.found.push(Export { function, usage: FunctionUse::Call(arguments) });
        }
        let known = uses.found.len();
        uses.stored(world, state, instruction);
        if matches!(instruction.flow, Flow::Call(_)) {
            uses.passed_along(world, state);
        }
        if uses.found.len() == known {
            let taken = number(state, instruction).filter(|number| is_function(*number));
            uses.found.extend(taken.map(|function| Export { function, usage: FunctionUse::Address }));
        }
    });
    let mut found = uses.found;
    found.sort_unstable();
    found.dedup();
    // Where a function is known to put an address, taking it is explained.
    let is_callback = |export: &&Export| matches!(export.usage, FunctionUse::Callback(_));
    let explained: Vec<u64> = found.iter().filter(is_callback).map(|export| export.function).collect();
    found.retain(|export| export.usage != FunctionUse::Address || !explained.contains(&export.function));
    found
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

struct Uses<'u> {
    is_function: &'u (dyn Fn(u64) -> bool + Sync),
    found: Vec<Export>,
}

impl Uses<'_> {
    /// Callbacks that an instruction stores into a struct.
    fn stored(&mut self, world: &mut World<'_>, state: &State, instruction: &Instruction) {
        let Some(address) = instruction.operand().map(|memory| memory.address) else { return };
        let behind = Address { displacement: address.displacement.wrapping_add(8), ..address };
        let stores = match instruction.effect {
            Effect::Store { from } => [Some((from, address)), None],
            Effect::StorePair { first, second } => [Some((first, address)), Some((second, behind))],
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
            let place = match world.spot(state, &address) {
                Spot::Pointer(pointer) => pointer.place(),
                spot @ Spot::Fixed { .. } => world.place(spot),
                _ => None,
            };
            let shown = place.and_then(|place| shown(&world.types, place));
            let usage = shown.map_or(FunctionUse::Address, FunctionUse::Callback);
            self.found.push(Export { function, usage });
        }
    }

    /// A call that is given a function and a struct may have the function called with the struct.
    fn passed_along(&mut self, world: &mut World<'_>, state: &State) {
        let registers = world.program.architecture.arguments().iter();
        let values: Vec<Value> = registers.map(|register| state.register(*register)).collect();
        let functions = values.iter().filter_map(|value| match value {
            Value::Number(number) if (self.is_function)(*number) => Some(*number),
            _ => None,
        });
        let functions: Vec<u64> = functions.collect();
        if functions.is_empty() {
            return;
        }
        let pointers = values.into_iter().filter_map(|value| match passed(world, value) {
            Passed::Pointer(shown) => Some(FunctionUse::Callback(shown)),
            _ => None,
        });
        let mut usages: Vec<FunctionUse> = pointers.collect();
        if usages.is_empty() {
            usages.push(FunctionUse::Address);
        }
        for function in functions {
            self.found.extend(usages.iter().map(|usage| Export { function, usage: *usage }));
        }
    }
}

/// The number that an instruction brings into a register, if it may be an address.
fn number(state: &State, instruction: &Instruction) -> Option<u64> {
    match instruction.effect {
        Effect::Move { from: ValueSource::Number(number), .. }
        | Effect::Push { from: ValueSource::Number(number) } => Some(number as u64),
        Effect::Lea { address, .. } if address.base.is_none() && address.index.is_none() => {
            Some(address.displacement as u64)
        }
        // The rest of an address, of which the page is known.
        Effect::Add { of, from: ValueSource::Number(rest), subtract: false, .. } => {
            match state.register(of) {
                Value::Number(page) => Some(page.wrapping_add(rest as u64)),
                _ => None,
            }
        }
        _ => None,
    }
}
