//! Targets of sampled instructions: every function that was sampled is analysed once, in parallel.

use super::fixpoint::InterproceduralFixpoint;
use super::reason::Reason;
use super::sampled_instructions::SampledInstructions;
use super::target::{Operand, Target, TypeEntry, TypeIndex, TypeName};
use super::typing::{SelfContainedFunction, TypedFunction};
use crate::program::Program;
use crate::types::Untagged;
use fieldline_debuginfo::LinkedAddress;
use rustc_hash::FxHashMap;

/// Operands of all sampled functions, typed by their code.
#[derive(Clone, Debug, Default)]
pub struct ProgramOperands {
    /// Types, in the order in which they were met.
    pub types: Vec<TypeEntry>,
    /// Functions by unit and DIE.
    pub functions: Vec<TypedFunction>,
    /// Begin, end and function; sorted.
    ranges: Vec<(LinkedAddress, LinkedAddress, u32)>,
    /// Of instructions that were sampled: function, and index among its instructions if it touches memory.
    sampled: FxHashMap<LinkedAddress, (u32, Option<u32>)>,
}

/// Operands of one instruction, typed by the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstructionOperands<'a> {
    /// The function around it, an index.
    pub function: Option<u32>,
    /// Its operands in memory, those written in it first.
    pub operands: &'a [Operand<TypeIndex>],
}

impl ProgramOperands {
    /// Analyses the functions around some instructions.
    pub fn new<'a>(program: &'a Program<'a>, sampled: &SampledInstructions) -> Self {
        let mut operands = Self::default();
        let mut known = FxHashMap::default();
        for part in InterproceduralFixpoint::new(program, sampled).run() {
            operands.add(part, &mut known);
        }
        for (index, function) in (0..).zip(&operands.functions) {
            let ranges = function.ranges.iter();
            operands
                .ranges
                .extend(ranges.map(|range| (LinkedAddress(range.start), LinkedAddress(range.end), index)));
        }
        operands.ranges.sort_unstable();
        let addresses = sampled.addresses().iter();
        operands.sampled =
            addresses.filter_map(|address| Some((*address, operands.find_instruction(*address)?))).collect();
        operands
    }

    fn add(
        &mut self,
        function: SelfContainedFunction,
        known: &mut FxHashMap<(TypeName, Option<Untagged>), TypeIndex>,
    ) {
        let mut indices = Vec::new();
        for entry in function.types {
            let next = TypeIndex(self.types.len() as u32);
            let index = *known.entry((entry.name.clone(), entry.untagged)).or_insert(next);
            if index == next {
                self.types.push(entry);
            }
            indices.push(index);
        }
        let map_type = |ty: TypeIndex| indices.get(ty.0 as usize).copied().unwrap_or(ty);
        let mut function = function.function;
        for operand in function.instructions.iter_mut().flat_map(|typed| &mut typed.operands) {
            *operand = operand.map(map_type);
        }
        self.functions.push(function);
    }

    /// The function around an instruction.
    pub fn function_at(&self, address: LinkedAddress) -> Option<u32> {
        let past = self.ranges.partition_point(|(begin, ..)| *begin <= address);
        let (_, end, index) = self.ranges.get(past.checked_sub(1)?)?;
        (address < *end).then_some(*index)
    }

    /// The function around an instruction, and its index among those that touch memory.
    fn find_instruction(&self, address: LinkedAddress) -> Option<(u32, Option<u32>)> {
        let function = self.function_at(address)?;
        let instructions = &self.functions.get(function as usize)?.instructions;
        let found = instructions.binary_search_by_key(&address, |typed| typed.address);
        Some((function, found.ok().map(|index| index as u32)))
    }

    /// The instruction that touches memory and ends where another begins.
    pub fn instruction_before(&self, address: LinkedAddress) -> Option<LinkedAddress> {
        let function = self.function_at(address.checked_sub(1)?)?;
        let instructions = &self.functions.get(function as usize)?.instructions;
        let past = instructions.partition_point(|typed| typed.address < address);
        let typed = instructions.get(past.checked_sub(1)?)?;
        (address.bytes_from(typed.address) == Some(u64::from(typed.length))).then_some(typed.address)
    }

    /// The operands of an instruction.
    pub fn operands_at(&self, address: LinkedAddress) -> InstructionOperands<'_> {
        let found = self.sampled.get(&address).copied().or_else(|| self.find_instruction(address));
        let (function, index) = found.unzip();
        let typed = function.and_then(|function| self.functions.get(function as usize)).zip(index.flatten());
        let typed = typed.and_then(|(function, index)| function.instructions.get(index as usize));
        InstructionOperands { function, operands: typed.map_or(&[][..], |typed| &typed.operands) }
    }

    /// The index of a type, which becomes known if it is not.
    pub fn intern(&mut self, entry: TypeEntry) -> TypeIndex {
        let known = self.types.iter().position(|known| known.is_same_type(&entry));
        let index = known.unwrap_or(self.types.len());
        if known.is_none() {
            self.types.push(entry);
        }
        TypeIndex(index as u32)
    }

    /// A type.
    pub fn type_entry(&self, index: TypeIndex) -> Option<&TypeEntry> {
        self.types.get(index.0 as usize)
    }
}

impl<'a> InstructionOperands<'a> {
    /// The operand a sample means: one that does what was sampled, written in the instruction rather than
    /// implicit.
    pub fn operand(&self, is_store: Option<bool>) -> Option<&'a Operand<TypeIndex>> {
        let fits = |operand: &&Operand<TypeIndex>| match is_store {
            Some(true) => operand.access.is_write(),
            Some(false) => operand.access.is_read(),
            None => true,
        };
        self.operands.iter().find(fits).or_else(|| self.operands.first())
    }

    /// The target of that operand.
    pub fn target(&self, is_store: Option<bool>) -> Target<TypeIndex> {
        match self.operand(is_store) {
            Some(operand) => operand.target,
            None if self.function.is_none() => Target::Unknown(Reason::NoDebugInfo),
            None => Target::Unknown(Reason::NoMemoryOperand),
        }
    }
}
