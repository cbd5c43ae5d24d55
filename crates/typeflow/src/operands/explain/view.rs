//! A function that is explained.

use super::spell;
use super::words::{ExplainedOperand, Line};
use crate::flow::{Arguments, Code, Fact, Location, State, Value, World};
use fieldline_debuginfo::dwarf::DieRef;
use fieldline_debuginfo::dwarf::code::{Function, ScopeKind};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn;
use fieldline_machinecode::machine::{Instruction, Register};

/// A function with all that is known of it.
pub(super) struct View<'c, 'a> {
    pub(super) world: World<'a>,
    pub(super) code: &'c Code,
    pub(super) function: &'c Function,
    /// Before each instruction, if it may run.
    pub(super) states: Vec<Option<State>>,
    /// By address of the instruction; sorted.
    pub(super) operands: Vec<(u64, Vec<ExplainedOperand>)>,
    pub(super) given: Arguments,
}

impl View<'_, '_> {
    pub(super) fn architecture(&self) -> Architecture {
        self.world.program.architecture
    }

    pub(super) fn register(&self, register: Register) -> &'static str {
        self.architecture().name(register)
    }

    /// An instruction as people read it.
    pub(super) fn text(&self, instruction: &Instruction) -> String {
        let program = self.world.program;
        let code = program.image.code(instruction.address, instruction.end());
        insn::text(program.architecture, &|target| program.symbols.spelled(target), instruction.address, code)
            .unwrap_or_else(|| "(bad)".to_owned())
    }

    pub(super) fn bytes(&self, index: usize) -> String {
        let Some(instruction) = self.code.instructions.get(index) else { return String::new() };
        let code = self.world.program.image.code(instruction.address, instruction.end());
        let bytes: Vec<String> = code.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    }

    pub(super) fn line(&self, index: usize) -> Line {
        let Some(instruction) = self.code.instructions.get(index) else {
            return Line { address: 0, text: String::new(), operands: Vec::new() };
        };
        let found = self.operands.binary_search_by_key(&instruction.address, |(address, _)| *address);
        let mut operands = found.map_or_else(|_| Vec::new(), |found| self.operands[found].1.clone());
        // Those the kernel may patch in stand in front.
        let own = instruction.memory().count();
        let patched = operands.len().saturating_sub(own);
        for (operand, memory) in operands.iter_mut().skip(patched).zip(instruction.memory()) {
            operand.written = spell::address(self.architecture(), memory);
        }
        Line { address: instruction.address, text: self.text(instruction), operands }
    }

    pub(super) fn name(&self, die: DieRef) -> String {
        let name = self.world.program.dwarf.name_of(die).unwrap_or(b"?");
        String::from_utf8_lossy(name).into_owned()
    }

    pub(super) fn scopes(&self, address: u64) -> Vec<String> {
        let inlined = self.code.scopes.at(address).filter(|scope| scope.kind != ScopeKind::Block);
        inlined.map(|scope| self.name(scope.die)).collect()
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        let given = self.architecture().arguments().iter().zip(&self.given);
        let place = |place: &Option<_>| Some(spell::place(&self.world.types, (*place)?));
        let given =
            given.filter_map(|(register, at)| Some(spell::holds(self.register(*register), &place(at)?)));
        given.collect()
    }

    pub(super) fn variables(&self, address: u64) -> Vec<String> {
        let facts = self.code.facts.facts.iter();
        let here = facts.filter(|fact| fact.begin <= address && address < fact.end);
        let subject = |fact: &Fact| spell::subject(self.architecture(), fact.subject);
        here.map(|fact| spell::holds(&subject(fact), &spell::place(&self.world.types, fact.place))).collect()
    }

    pub(super) fn registers(&self, index: usize) -> Vec<String> {
        let Some(Some(state)) = self.states.get(index) else { return Vec::new() };
        let known = state.locations().filter(|(_, value)| !matches!(value, Value::Word(_)));
        let known = known.map(|(location, value)| {
            let location = match location {
                Location::Register(register) => self.register(register).to_owned(),
                Location::Slot(offset) => format!("{offset:+}(cfa)"),
            };
            spell::holds(&location, &spell::value(&self.world.types, value))
        });
        known.collect()
    }
}
