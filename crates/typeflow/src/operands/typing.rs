//! Targets of all instructions of a function.

use super::reason::Reason;
use super::target::{Fixed, Operand, Target, TypeEntry, TypeIndex};
use crate::flow::{Code, Solution, Spot, State, World, region_at};
use crate::types::{Place, Shape, Ty};
use fieldline_debuginfo::dwarf::code::Function;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Instruction, Memory};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// An instruction's operands in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed<T> {
    /// Address of the instruction.
    pub address: u64,
    /// Its bytes.
    pub length: u8,
    /// Its operands, those written in it first. Instructions that the kernel may put there count with it.
    pub operands: Vec<Operand<T>>,
}

/// A function and what its instructions touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedFunction {
    /// Its name.
    pub name: String,
    /// Its code.
    pub ranges: Vec<Range<u64>>,
    /// All its instructions that touch memory, by address.
    pub instructions: Vec<Typed<TypeIndex>>,
}

/// A function with types of its own.
#[derive(Clone, Debug)]
pub(crate) struct TypedPart {
    pub(crate) types: Vec<TypeEntry>,
    pub(crate) function: TypedFunction,
}

impl TypedPart {
    /// A function's operands as others understand them.
    pub(crate) fn new(world: &World<'_>, function: &Function, typed: Vec<Typed<Ty>>) -> Self {
        let mut types = Vec::new();
        let mut known: FxHashMap<Ty, TypeIndex> = FxHashMap::default();
        let mut index = |ty| {
            *known.entry(ty).or_insert_with(|| {
                types.push(TypeEntry::of(&world.types, ty));
                TypeIndex(types.len() as u32 - 1)
            })
        };
        let instructions = typed.into_iter().map(|typed| Typed {
            address: typed.address,
            length: typed.length,
            operands: typed.operands.iter().map(|operand| operand.map(&mut index)).collect(),
        });
        let instructions = instructions.collect();
        let name = world.program.dwarf.name_of(function.die).unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        Self { types, function: TypedFunction { name, ranges: function.ranges.clone(), instructions } }
    }
}

/// The operands of all instructions of a function that touch memory, by address.
pub(super) fn typed(
    world: &mut World<'_>,
    code: &Code,
    solution: &Solution<'_>,
    reader: &mut InstructionReader,
) -> Vec<Typed<Ty>> {
    let mut all = Vec::new();
    solution.walk(world, &mut |world, index, state| {
        let Some(instruction) = code.instructions.get(index) else { return };
        all.extend(patched(world, code, state, instruction.address, reader));
        let Instruction { address, length, .. } = *instruction;
        let memory = instruction.memory();
        let operands: Vec<_> = memory.map(|memory| operand(world, code, state, address, memory)).collect();
        if !operands.is_empty() {
            all.push(Typed { address, length, operands });
        }
    });
    join_same(all)
}

/// Entries of one address as one, those that were found first in front.
fn join_same(mut all: Vec<Typed<Ty>>) -> Vec<Typed<Ty>> {
    all.sort_by_key(|typed| typed.address);
    let mut joined: Vec<Typed<Ty>> = Vec::with_capacity(all.len());
    for typed in all {
        match joined.last_mut().filter(|last| last.address == typed.address) {
            Some(last) => last.operands.extend(typed.operands),
            None => joined.push(typed),
        }
    }
    joined
}

/// Instructions the kernel may put in place of this one. Their operands are seen with the state before the first.
fn patched(
    world: &mut World<'_>,
    code: &Code,
    state: &State,
    begin: u64,
    reader: &mut InstructionReader,
) -> Vec<Typed<Ty>> {
    let program = world.program;
    let mut others: Vec<Typed<Ty>> = Vec::new();
    for alternative in program.patches.alternatives_at(begin).filter(|entry| entry.original == begin) {
        let end = alternative.replacement + u64::from(alternative.replacement_length);
        let bytes = program.image.code(alternative.replacement, end);
        for other in reader.read_all(begin, bytes) {
            // Its address may count from where the instruction stands, which is elsewhere.
            let movable = other.memory().filter(|memory| memory.address.base.is_some());
            let operands: Vec<_> = movable.map(|memory| operand(world, code, state, begin, memory)).collect();
            if !operands.is_empty() {
                others.push(Typed { address: other.address, length: other.length, operands });
            }
        }
    }
    // Of several others the one that names its operand is more likely meant than one that only pushes.
    others.sort_by_key(|typed| typed.operands.iter().all(|operand| operand.is_implicit));
    others
}

fn operand(world: &mut World<'_>, code: &Code, state: &State, at: u64, memory: &Memory) -> Operand<Ty> {
    let spot = world.spot(state, &memory.address);
    let fixed = match spot {
        Spot::Fixed { address, per_cpu } => Some(Fixed { address, per_cpu }),
        _ => None,
    };
    let target = match spot {
        // Whatever way the program came, the stack pointer points to the stack.
        Spot::Unknown if memory.address.base == Some(world.program.architecture.stack()) => {
            Target::Unknown(Reason::Stack)
        }
        spot => target(world, code, state, at, spot),
    };
    Operand { access: memory.access, size: memory.size, is_implicit: memory.is_implicit, target, fixed }
}

fn target(world: &mut World<'_>, code: &Code, state: &State, at: u64, spot: Spot) -> Target<Ty> {
    match spot {
        Spot::Unknown => Target::Unknown(Reason::UnknownPointer),
        Spot::Frame => Target::Unknown(Reason::Stack),
        Spot::Stack(offset) => stack(world, code, state, at, offset),
        Spot::Pointer(pointer) => match pointer.place() {
            Some(place) => {
                let place = world.around(place).unwrap_or(place);
                of_place(world, place)
            }
            None => Target::Within { ty: pointer.ty },
        },
        Spot::Fixed { .. } => {
            let place = world.place(spot);
            place.map_or(Target::Unknown(Reason::UnknownPointer), |place| of_place(world, place))
        }
        Spot::Element(pointer) => {
            pointer.first().map_or(Target::Within { ty: pointer.ty }, |place| element(world, place))
        }
        Spot::FixedElement { address, per_cpu } => {
            let place = world.place(Spot::Fixed { address, per_cpu });
            place.map_or(Target::Unknown(Reason::UnknownPointer), |place| element(world, place))
        }
    }
}

/// A struct in the frame counts as such; all else on the stack is spilled registers and numbers.
fn stack(world: &mut World<'_>, code: &Code, state: &State, at: u64, offset: i64) -> Target<Ty> {
    let place = region_at(state, &code.facts.regions, at, offset);
    let inside = place.filter(|place| world.types.is_inside(*place));
    let target = inside.map(|place| of_place(world, place));
    let is_struct =
        |target: &Target<Ty>| matches!(target, Target::Place { ty, .. } if world.types.is_aggregate(*ty));
    target.filter(is_struct).unwrap_or(Target::Unknown(Reason::Stack))
}

/// A place in its outermost struct; in an array of structs the element is that.
fn of_place(world: &mut World<'_>, place: Place) -> Target<Ty> {
    let Some(place) = world.types.innermost(place).filter(|place| world.types.size(place.ty) > 0) else {
        return Target::Unknown(Reason::NoDefinition);
    };
    match u64::try_from(place.offset) {
        Ok(offset) if world.types.is_inside(place) => Target::Place { ty: place.ty, offset },
        _ => Target::Unknown(Reason::OutsideType),
    }
}

/// Some element of the array at a place.
fn element(world: &mut World<'_>, place: Place) -> Target<Ty> {
    let Some(array) = world.types.array_at(place) else {
        return match world.types.shape(place.ty) {
            Shape::Void => Target::Unknown(Reason::UnknownPointer),
            _ => match world.types.in_number(place) {
                Some(place) => of_place(world, place),
                None => Target::Within { ty: place.ty },
            },
        };
    };
    // Of an array that is in nothing the element is the whole. Of structs in a struct it is what can be told for sure.
    if matches!(world.types.shape(place.ty), Shape::Array { .. }) || world.types.is_aggregate(array.element) {
        return of_place(world, Place { ty: array.element, offset: array.offset });
    }
    let (stride, count) = (array.stride.unsigned_abs(), array.count);
    let offset = u64::try_from(array.array.saturating_add(array.offset));
    offset.map_or(Target::Unknown(Reason::OutsideType), |offset| Target::Element {
        ty: place.ty,
        offset,
        stride,
        count,
    })
}
