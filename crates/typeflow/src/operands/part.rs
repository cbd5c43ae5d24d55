//! A function with what its instructions touch, as other functions understand it.

use super::target::{Operand, TypeEntry, TypeIndex};
use super::typing::Typed;
use crate::flow::World;
use crate::types::{Ty, TypeSpace};
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
        let mut names = Names::default();
        let instructions = typed.unwrap_or_default().into_iter().map(|typed| Typed {
            address: typed.address,
            length: typed.length,
            operands: typed.operands.iter().map(|operand| names.operand(&world.types, operand)).collect(),
        });
        let function = TypedFunction {
            name: String::from_utf8_lossy(world.program.dwarf.name_of(function.die).unwrap_or_default())
                .into_owned(),
            ranges: function.ranges.clone(),
            instructions: instructions.collect(),
        };
        Self { types: names.entries, function }
    }
}

/// Types of a function as they are shown to others.
#[derive(Default)]
struct Names {
    entries: Vec<TypeEntry>,
    known: FxHashMap<Ty, TypeIndex>,
}

impl Names {
    fn operand(&mut self, types: &TypeSpace<'_, '_>, operand: &Operand<Ty>) -> Operand<TypeIndex> {
        Operand {
            access: operand.access,
            size: operand.size,
            is_implicit: operand.is_implicit,
            target: operand.target.map(|ty| self.index(types, ty)),
            fixed: operand.fixed,
        }
    }

    fn index(&mut self, types: &TypeSpace<'_, '_>, ty: Ty) -> TypeIndex {
        if let Some(known) = self.known.get(&ty) {
            return *known;
        }
        let index = TypeIndex(self.entries.len() as u32);
        self.entries.push(TypeEntry::of(types, ty));
        self.known.insert(ty, index);
        index
    }
}
