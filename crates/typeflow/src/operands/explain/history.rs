//! The history of a register's value.

use super::display;
use super::explanation::HistoryStep;
use super::function::ExplainedFunction;
use crate::flow::Value;
use fieldline_debuginfo::LinkedAddress;
use fieldline_machinecode::machine::{Effect, Flow, Instruction, Register, ValueSource};

const MAX_STEPS: usize = 16;

impl ExplainedFunction<'_, '_> {
    /// The history of a register's value before an instruction, oldest first.
    pub(super) fn value_history(&self, index: usize, register: Register) -> Vec<HistoryStep> {
        let mut steps = Vec::new();
        let mut next = Some((index, register));
        while let Some((index, register)) = next.filter(|_| steps.len() < MAX_STEPS) {
            if register == self.architecture().stack_pointer() {
                break;
            }
            let (address, text);
            (address, text, next) = match self.reaching_definition(index, register) {
                ReachingDefinition::Instruction(definition) => {
                    let Some(instruction) = self.code.instructions.get(definition) else { break };
                    let source = source_register(instruction, register).map(|source| (definition, source));
                    (instruction.address, self.text(instruction), source)
                }
                ReachingDefinition::FromCaller => (self.function.entry(), "at the entry".to_owned(), None),
                ReachingDefinition::Phi(at) => (at, "several paths join".to_owned(), None),
                ReachingDefinition::Unknown => break,
            };
            let value = display::abstract_value(&self.world.types, self.value(index, register));
            steps.push(HistoryStep {
                address: LinkedAddress(address),
                text,
                value: display::assignment(self.register(register), &value),
            });
        }
        steps.reverse();
        steps
    }

    fn value(&self, index: usize, register: Register) -> Value {
        let state = self.states.get(index).and_then(Option::as_ref);
        state.map_or(Value::UNKNOWN, |state| state.register(register))
    }

    /// The reaching definition of a register before an instruction, where there is only one.
    fn reaching_definition(&self, index: usize, register: Register) -> ReachingDefinition {
        let graph = &self.code.graph;
        let Some(mut number) = graph.block_of(index as u32) else { return ReachingDefinition::Unknown };
        let mut past = index;
        for _ in 0..=graph.blocks.len() {
            let Some(block) = graph.blocks.get(number as usize) else { break };
            let first = block.first as usize;
            let instructions = self.code.instructions.get(first..past).unwrap_or(&[]);
            if let Some(distance) =
                instructions.iter().rposition(|instruction| self.writes_register(instruction, register))
            {
                return ReachingDefinition::Instruction(first + distance);
            }
            let at = self.code.instructions.get(first).map_or(0, |instruction| instruction.address);
            match self.predecessors(number).as_slice() {
                [] if at == self.function.entry() => return ReachingDefinition::FromCaller,
                [(only, end)] => (number, past) = (*only, *end),
                [] => break,
                _ => return ReachingDefinition::Phi(at),
            }
        }
        ReachingDefinition::Unknown
    }

    fn writes_register(&self, instruction: &Instruction, register: Register) -> bool {
        let is_clobbered = matches!(instruction.flow, Flow::Call(_))
            && self.code.clobbered_by_call(instruction).contains(register);
        let updates_base = instruction.writeback.is_some_and(|(base, _)| base == register);
        is_clobbered || updates_base || instruction.written.contains(register)
    }

    /// Blocks that run and lead to one: number, and index behind the last instruction.
    fn predecessors(&self, block: u32) -> Vec<(u32, usize)> {
        let blocks = (0u32..).zip(&self.code.graph.blocks);
        let runs = |first: u32| self.states.get(first as usize).is_some_and(Option::is_some);
        let leading = blocks.filter(|(_, from)| runs(from.first) && from.successors.contains(&block));
        leading.map(|(number, from)| (number, from.past as usize)).collect()
    }
}

enum ReachingDefinition {
    /// An instruction, an index.
    Instruction(usize),
    FromCaller,
    /// One of several, joined at an address.
    Phi(u64),
    /// Unknown.
    Unknown,
}

/// The register that determines the result of an instruction.
fn source_register(instruction: &Instruction, result: Register) -> Option<Register> {
    if instruction.writeback.is_some_and(|(base, _)| base == result) {
        return Some(result);
    }
    let in_memory = || instruction.explicit_operand().and_then(|memory| memory.address.base);
    let register_of = |from: ValueSource| match from {
        ValueSource::Register(register) => Some(register),
        ValueSource::Memory => in_memory(),
        ValueSource::Number(_) | ValueSource::System(_) => None,
    };
    match instruction.effect {
        Effect::Move { from, .. } | Effect::Multiply { from, .. } => register_of(from),
        Effect::Choose { or, .. } => register_of(or),
        Effect::Lea { address, .. } => address.base,
        Effect::Add { left: register, .. } | Effect::And { source: register, .. } => Some(register),
        Effect::Insert { to, .. } => Some(to),
        Effect::Exchange { .. } | Effect::LoadPair { .. } => in_memory(),
        _ => None,
    }
}
