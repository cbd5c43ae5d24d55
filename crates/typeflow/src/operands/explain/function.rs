//! A function with its states and operands, for explanations.

use super::display;
use super::explanation::{ExplainedInstruction, ExplainedOperand};
use crate::flow::{ArgumentLocations, FunctionCode, State, UnitContext, Value, ValueLocation, VariableFact};
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::DieRef;
use fieldline_debuginfo::dwarf::code::{Function, ScopeKind};
use fieldline_files::printable::printable_bytes;
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn;
use fieldline_machinecode::machine::{Instruction, Register};

/// A function with its states and operands.
pub(super) struct ExplainedFunction<'c, 'a> {
    pub(super) world: UnitContext<'a>,
    pub(super) code: &'c FunctionCode,
    pub(super) function: &'c Function,
    /// Before each instruction, if it may run.
    pub(super) states: Vec<Option<State>>,
    /// By address of the instruction; sorted.
    pub(super) operands: Vec<(LinkedAddress, Vec<ExplainedOperand>)>,
    pub(super) known_arguments: ArgumentLocations,
}

impl ExplainedFunction<'_, '_> {
    pub(super) fn architecture(&self) -> Architecture {
        self.world.program.architecture
    }

    pub(super) fn register(&self, register: Register) -> &'static str {
        self.architecture().register_name(register)
    }

    /// The disassembly of an instruction.
    pub(super) fn text(&self, instruction: &Instruction) -> String {
        let program = self.world.program;
        let code = program.image.code(instruction.address, instruction.end());
        insn::format_instruction(
            program.architecture,
            &|target| program.symbols.format_address(LinkedAddress(target)),
            instruction.address,
            code,
        )
        .unwrap_or_else(|| "(bad)".to_owned())
    }

    pub(super) fn bytes(&self, index: usize) -> String {
        let Some(instruction) = self.code.instructions.get(index) else { return String::new() };
        let code = self.world.program.image.code(instruction.address, instruction.end());
        let bytes: Vec<String> = code.iter().map(|byte| format!("{byte:02x}")).collect();
        bytes.join(" ")
    }

    pub(super) fn explain_line(&self, index: usize) -> ExplainedInstruction {
        let Some(instruction) = self.code.instructions.get(index) else {
            let address = LinkedAddress::default();
            return ExplainedInstruction { address, text: String::new(), operands: Vec::new() };
        };
        let at = LinkedAddress(instruction.address);
        let found = self.operands.binary_search_by_key(&at, |(address, _)| *address);
        let mut operands = found.map_or_else(|_| Vec::new(), |found| self.operands[found].1.clone());
        // Operands of alternatives come first.
        let written = instruction.memory_operands().count();
        let patched = operands.len().saturating_sub(written);
        for (operand, memory) in operands.iter_mut().skip(patched).zip(instruction.memory_operands()) {
            operand.written = display::memory_operand(self.architecture(), memory);
        }
        ExplainedInstruction { address: at, text: self.text(instruction), operands }
    }

    pub(super) fn name(&self, die: DieRef) -> String {
        let name = self.world.program.dwarf.name_of(die).unwrap_or(b"?");
        printable_bytes(name).into_owned()
    }

    pub(super) fn scopes(&self, address: u64) -> Vec<String> {
        let inlined = self.code.scopes.scopes_at(address).filter(|scope| scope.kind != ScopeKind::Block);
        inlined.map(|scope| self.name(scope.die)).collect()
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        let given = self.architecture().argument_registers().iter().zip(&self.known_arguments);
        let place = |place: &Option<_>| Some(display::type_offset(&self.world.types, (*place)?));
        let given = given
            .filter_map(|(register, at)| Some(display::assignment(self.register(*register), &place(at)?)));
        given.collect()
    }

    pub(super) fn variables(&self, address: u64) -> Vec<String> {
        let facts = self.code.facts.facts.iter();
        let active = facts.filter(|fact| fact.begin <= address && address < fact.end);
        let subject = |fact: &VariableFact| display::fact_subject(self.architecture(), fact.subject);
        active
            .map(|fact| {
                display::assignment(&subject(fact), &display::type_offset(&self.world.types, fact.place))
            })
            .collect()
    }

    pub(super) fn registers(&self, index: usize) -> Vec<String> {
        let Some(Some(state)) = self.states.get(index) else { return Vec::new() };
        let known = state.locations().filter(|(_, value)| !matches!(value, Value::Word(_)));
        let known = known.map(|(location, value)| {
            let location = match location {
                ValueLocation::Register(register) => self.register(register).to_owned(),
                ValueLocation::Slot(offset) => format!("{offset:+}(cfa)"),
            };
            display::assignment(&location, &display::abstract_value(&self.world.types, value))
        });
        known.collect()
    }
}
