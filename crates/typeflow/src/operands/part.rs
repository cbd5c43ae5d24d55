//! A function with what its instructions touch, as other functions understand it.

use super::target::{TypeEntry, TypeIndex};
use super::typing::Typed;
use crate::flow::World;
use crate::types::Ty;
use fieldline_debuginfo::dwarf::code::Function;
use rustc_hash::FxHashMap;
use std::ops::Range;

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
    /// A function's operands as others understand them; `None`: it could not be read.
    pub(crate) fn new(world: &World<'_>, function: &Function, typed: Option<Vec<Typed<Ty>>>) -> Self {
        let mut types = Vec::new();
        let mut known: FxHashMap<Ty, TypeIndex> = FxHashMap::default();
        let mut index = |ty| {
            *known.entry(ty).or_insert_with(|| {
                types.push(TypeEntry::of(&world.types, ty));
                TypeIndex(types.len() as u32 - 1)
            })
        };
        let instructions = typed.unwrap_or_default().into_iter().map(|typed| Typed {
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
