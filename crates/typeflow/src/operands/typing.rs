//! Targets of all instructions of a function.

use super::reason::Reason;
use super::target::{FixedAddress, Operand, Target, TypeEntry, TypeIndex};
use crate::flow::{AbstractAddress, FlowSolution, FunctionCode, State, UnitContext, region_at};
use crate::types::{Ty, TypeOffset, TypeShape};
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::code::Function;
use fieldline_files::printable::printable_bytes;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Instruction, MemoryOperand};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// An instruction's operands in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedInstruction<T> {
    /// Address of the instruction.
    pub address: LinkedAddress,
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
    pub instructions: Vec<TypedInstruction<TypeIndex>>,
}

/// A function with types of its own.
#[derive(Clone, Debug)]
pub(crate) struct SelfContainedFunction {
    pub(crate) types: Vec<TypeEntry>,
    pub(crate) function: TypedFunction,
}

impl SelfContainedFunction {
    /// A function's operands with types by index into its own list.
    pub(crate) fn new(world: &UnitContext<'_>, function: &Function, all: Vec<TypedInstruction<Ty>>) -> Self {
        let mut types = Vec::new();
        let mut known: FxHashMap<Ty, TypeIndex> = FxHashMap::default();
        let mut index = |ty| {
            *known.entry(ty).or_insert_with(|| {
                types.push(TypeEntry::from_type(&world.types, ty));
                TypeIndex(types.len() as u32 - 1)
            })
        };
        let instructions = all.into_iter().map(|typed| TypedInstruction {
            address: typed.address,
            length: typed.length,
            operands: typed.operands.iter().map(|operand| operand.map(&mut index)).collect(),
        });
        let instructions = instructions.collect();
        let name = world.program.dwarf.name_of(function.die).unwrap_or_default();
        let name = printable_bytes(name).into_owned();
        Self { types, function: TypedFunction { name, ranges: function.ranges.clone(), instructions } }
    }
}

/// The operands of all instructions of a function that touch memory, by address.
pub(super) fn type_instructions(
    world: &mut UnitContext<'_>,
    code: &FunctionCode,
    solution: &FlowSolution<'_>,
    reader: &mut InstructionReader,
) -> Vec<TypedInstruction<Ty>> {
    let mut all = Vec::new();
    solution.for_each_state(world, &mut |world, index, state| {
        let Some(instruction) = code.instructions.get(index) else { return };
        all.extend(alternative_operands(world, code, state, instruction.address, reader));
        let Instruction { address, length, .. } = *instruction;
        let place = instruction.memory_operands();
        let operands: Vec<_> = place.map(|place| type_operand(world, code, state, address, place)).collect();
        if !operands.is_empty() {
            all.push(TypedInstruction { address: LinkedAddress(address), length, operands });
        }
    });
    merge_by_address(all)
}

/// Merges entries of one address, those found first in front.
fn merge_by_address(mut all: Vec<TypedInstruction<Ty>>) -> Vec<TypedInstruction<Ty>> {
    all.sort_by_key(|typed| typed.address);
    let mut joined: Vec<TypedInstruction<Ty>> = Vec::with_capacity(all.len());
    for typed in all {
        match joined.last_mut().filter(|last| last.address == typed.address) {
            Some(last) => last.operands.extend(typed.operands),
            None => joined.push(typed),
        }
    }
    joined
}

/// Alternatives of this instruction. Their operands are typed with the state before the first.
fn alternative_operands(
    world: &mut UnitContext<'_>,
    code: &FunctionCode,
    state: &State,
    begin: u64,
    reader: &mut InstructionReader,
) -> Vec<TypedInstruction<Ty>> {
    let program = world.program;
    let mut others: Vec<TypedInstruction<Ty>> = Vec::new();
    for alternative in program.patches.alternatives_at(begin).filter(|entry| entry.original == begin) {
        let end = alternative.replacement + u64::from(alternative.replacement_length);
        let bytes = program.image.code(alternative.replacement, end);
        for other in reader.read_all(begin, bytes) {
            // Its address may count from where the instruction stands, which is elsewhere.
            let movable = other.memory_operands().filter(|memory| memory.address.base.is_some());
            let operands: Vec<_> =
                movable.map(|memory| type_operand(world, code, state, begin, memory)).collect();
            if !operands.is_empty() {
                let address = LinkedAddress(other.address);
                others.push(TypedInstruction { address, length: other.length, operands });
            }
        }
    }
    // Of several others the one that names its operand is more likely meant than one that only pushes.
    others.sort_by_key(|typed| typed.operands.iter().all(|operand| operand.is_implicit));
    others
}

fn type_operand(
    world: &mut UnitContext<'_>,
    code: &FunctionCode,
    state: &State,
    at: u64,
    memory: &MemoryOperand,
) -> Operand<Ty> {
    let address = world.resolve_address(state, &memory.address);
    let fixed_address = match address {
        AbstractAddress::Fixed { address, per_cpu } => {
            Some(FixedAddress { address: LinkedAddress(address), per_cpu })
        }
        _ => None,
    };
    let target = match address {
        // On any path the stack pointer points to the stack.
        AbstractAddress::Unknown
            if memory.address.base == Some(world.program.architecture.stack_pointer()) =>
        {
            Target::Unknown(Reason::Stack)
        }
        address => resolve_target(world, code, state, at, address),
    };
    let MemoryOperand { access, size, is_implicit, is_repeated, .. } = *memory;
    let target = if is_repeated { repeated_target(target, size) } else { target };
    Operand { access, size: size.unwrap_or(0), is_implicit, target, fixed_address }
}

/// The target of an instruction that is repeated: it begins at a place, and which one it has come to isn't known.
fn repeated_target(target: Target<Ty>, size: Option<u16>) -> Target<Ty> {
    match target {
        Target::Exact { ty, offset } => {
            Target::Element { ty, offset, stride: u64::from(size.unwrap_or(1).max(1)), count: None }
        }
        other => other,
    }
}

fn resolve_target(
    world: &mut UnitContext<'_>,
    code: &FunctionCode,
    state: &State,
    at: u64,
    address: AbstractAddress,
) -> Target<Ty> {
    match address {
        AbstractAddress::Unknown => Target::Unknown(Reason::UnknownPointer),
        AbstractAddress::Frame => Target::Unknown(Reason::Stack),
        AbstractAddress::Stack(offset) => stack_target(world, code, state, at, offset),
        AbstractAddress::Pointer(pointer) => match pointer.location() {
            Some(place) => {
                let place = world.relocate_to_container(place).unwrap_or(place);
                exact_target(world, place)
            }
            None => Target::Within { ty: pointer.ty },
        },
        AbstractAddress::Fixed { .. } => {
            let place = world.location_at(address);
            place.map_or(Target::Unknown(Reason::UnknownPointer), |place| exact_target(world, place))
        }
        AbstractAddress::Element(pointer) => pointer
            .first_location()
            .map_or(Target::Within { ty: pointer.ty }, |place| element_target(world, place)),
        AbstractAddress::FixedElement { address, per_cpu } => {
            let place = world.location_at(AbstractAddress::Fixed { address, per_cpu });
            place.map_or(Target::Unknown(Reason::UnknownPointer), |place| element_target(world, place))
        }
    }
}

/// Only structs in the frame are targets; all else on the stack is spilled registers and numbers.
fn stack_target(
    world: &mut UnitContext<'_>,
    code: &FunctionCode,
    state: &State,
    at: u64,
    offset: i64,
) -> Target<Ty> {
    let place = region_at(state, &code.facts.regions, at, offset);
    let inside = place.filter(|place| world.types.is_inside(*place));
    let target = inside.map(|place| exact_target(world, place));
    let is_struct =
        |target: &Target<Ty>| matches!(target, Target::Exact { ty, .. } if world.types.is_aggregate(*ty));
    target.filter(is_struct).unwrap_or(Target::Unknown(Reason::Stack))
}

/// An offset in its outermost struct; in an array of structs that is the element.
fn exact_target(world: &mut UnitContext<'_>, place: TypeOffset) -> Target<Ty> {
    let Some(place) = world.types.innermost(place).filter(|place| world.types.size(place.ty) > Some(0))
    else {
        return Target::Unknown(Reason::NoDefinition);
    };
    match u64::try_from(place.offset) {
        Ok(offset) if world.types.is_inside(place) => Target::Exact { ty: place.ty, offset },
        _ => Target::Unknown(Reason::OutsideType),
    }
}

/// Some element of the array at a place.
fn element_target(world: &mut UnitContext<'_>, place: TypeOffset) -> Target<Ty> {
    let Some(array) = world.types.array_at(place) else {
        return match world.types.shape(place.ty) {
            TypeShape::Void => Target::Unknown(Reason::UnknownPointer),
            _ => match world.types.wrap_in_scalar(place) {
                Some(place) => exact_target(world, place),
                None => Target::Within { ty: place.ty },
            },
        };
    };
    // Of an array outside structs the element is the target; of structs in a struct the element is all that
    // is certain.
    if matches!(world.types.shape(place.ty), TypeShape::Array { .. })
        || world.types.is_aggregate(array.element)
    {
        return exact_target(world, TypeOffset { ty: array.element, offset: array.offset });
    }
    let (stride, count) = (array.stride.unsigned_abs(), array.count);
    let offset = u64::try_from(array.array_offset.saturating_add(array.offset));
    offset.map_or(Target::Unknown(Reason::OutsideType), |offset| Target::Element {
        ty: place.ty,
        offset,
        stride,
        count,
    })
}
