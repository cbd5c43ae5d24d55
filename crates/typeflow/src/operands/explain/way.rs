//! The way by which a register got what it holds.

use super::spell;
use super::view::View;
use super::words::WayStep;
use crate::flow::Value;
use fieldline_machinecode::machine::{Effect, Flow, Instruction, Register, ValueSource};

const MAX_STEPS: usize = 16;

impl View<'_, '_> {
    /// How a register got what it holds before an instruction, first things first.
    pub(super) fn way(&self, index: usize, register: Register) -> Vec<WayStep> {
        let mut steps = Vec::new();
        let mut next = Some((index, register));
        while let Some((index, register)) = next.filter(|_| steps.len() < MAX_STEPS) {
            if register == self.architecture().stack() {
                break;
            }
            let (address, text);
            (address, text, next) = match self.made(index, register) {
                Made::By(maker) => {
                    let Some(instruction) = self.code.instructions.get(maker) else { break };
                    let source = source(instruction, register).map(|source| (maker, source));
                    (instruction.address, self.text(instruction), source)
                }
                Made::ByCaller => (self.function.entry(), "at the entry".to_owned(), None),
                Made::AtMeeting(at) => (at, "several ways meet".to_owned(), None),
                Made::Nowhere => break,
            };
            let value = spell::value(&self.world.types, self.value(index, register));
            steps.push(WayStep { address, text, value: spell::holds(self.register(register), &value) });
        }
        steps.reverse();
        steps
    }

    fn value(&self, index: usize, register: Register) -> Value {
        let state = self.states.get(index).and_then(Option::as_ref);
        state.map_or(Value::UNKNOWN, |state| state.register(register))
    }

    /// The last instruction that gave a register its value before another, where only one can have.
    fn made(&self, index: usize, register: Register) -> Made {
        let graph = &self.code.graph;
        let Some(mut number) = graph.block_of(index as u32) else { return Made::Nowhere };
        let mut past = index;
        for _ in 0..=graph.blocks.len() {
            let Some(block) = graph.blocks.get(number as usize) else { break };
            let first = block.first as usize;
            let own = self.code.instructions.get(first..past).unwrap_or(&[]);
            if let Some(distance) = own.iter().rposition(|one| self.changes(one, register)) {
                return Made::By(first + distance);
            }
            let at = self.code.instructions.get(first).map_or(0, |one| one.address);
            match self.predecessors(number).as_slice() {
                [] if at == self.function.entry() => return Made::ByCaller,
                [(only, end)] => (number, past) = (*only, *end),
                [] => break,
                _ => return Made::AtMeeting(at),
            }
        }
        Made::Nowhere
    }

    fn changes(&self, instruction: &Instruction, register: Register) -> bool {
        let is_clobbered =
            matches!(instruction.flow, Flow::Call(_)) && self.code.clobbered(instruction).contains(register);
        let moves_on = instruction.moves_on.is_some_and(|(base, _)| base == register);
        is_clobbered || moves_on || instruction.written.contains(register)
    }

    /// Blocks that run and lead to one: number, and index behind the last instruction.
    fn predecessors(&self, block: u32) -> Vec<(u32, usize)> {
        let blocks = (0u32..).zip(&self.code.graph.blocks);
        let runs = |first: u32| self.states.get(first as usize).is_some_and(Option::is_some);
        let leading = blocks.filter(|(_, from)| runs(from.first) && from.successors.contains(&block));
        leading.map(|(number, from)| (number, from.past as usize)).collect()
    }
}

enum Made {
    /// An instruction, an index.
    By(usize),
    ByCaller,
    /// One of several, before the ways to an address meet.
    AtMeeting(u64),
    /// Nobody knows.
    Nowhere,
}

/// The register that decides about what an instruction makes.
fn source(instruction: &Instruction, made: Register) -> Option<Register> {
    if instruction.moves_on.is_some_and(|(base, _)| base == made) {
        return Some(made);
    }
    let in_memory = || instruction.operand().and_then(|memory| memory.address.base);
    let of = |from: ValueSource| match from {
        ValueSource::Register(register) => Some(register),
        ValueSource::Memory => in_memory(),
        ValueSource::Number(_) | ValueSource::System(_) => None,
    };
    match instruction.effect {
        Effect::Move { from, .. } => of(from),
        Effect::Choose { or, .. } => of(or),
        Effect::Lea { address, .. } => address.base,
        Effect::Add { of, .. } | Effect::And { of, .. } => Some(of),
        Effect::Insert { to, .. } => Some(to),
        Effect::Exchange { .. } | Effect::LoadPair { .. } => in_memory(),
        _ => None,
    }
}
