//! How the target of an instruction was found: scopes, variables, register values with their history,
//! operands.

mod display;
mod explanation;
mod function;
mod history;

use super::fixpoint::InterproceduralFixpoint;
use super::reason::Reason;
use super::sampled_instructions::SampledInstructions;
use super::target::TypeEntry;
use super::typing::type_instructions;
use crate::calls::merge_arguments;
use crate::flow::{ArgumentLocations, FlowSolution, FunctionCode, State, UnitContext};
use crate::program::Program;
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::code::ScopeReader;
use fieldline_machinecode::insn::InstructionReader;
use function::ExplainedFunction;

pub use explanation::{ExplainedInstruction, ExplainedOperand, Explanation, HistoryStep};

/// Explains the instruction at an address; `None` if no function with debug info holds it.
pub fn explain<'a>(program: &'a Program<'a>, address: LinkedAddress) -> Option<Explanation> {
    with_function(program, address, |function| {
        let index = function.code.instructions.iter().position(|found| found.address == address.0)?;
        Some(explain_instruction(function, index))
    })?
}

/// All instructions that touch memory of the function around an address; `None` if there is none with debug
/// info.
pub fn list<'a>(program: &'a Program<'a>, address: LinkedAddress) -> Option<Vec<ExplainedInstruction>> {
    with_function(program, address, |function| {
        let lines = (0..function.code.instructions.len()).map(|index| function.explain_line(index));
        lines.filter(|line| !line.operands.is_empty()).collect()
    })
}

fn with_function<'a, T>(
    program: &'a Program<'a>,
    address: LinkedAddress,
    explain: impl FnOnce(&mut ExplainedFunction<'_, 'a>) -> T,
) -> Option<T> {
    let (unit, function) = program.function_at(address)?;
    let mut world = UnitContext::new(program, unit);
    let scopes = ScopeReader::new(program.dwarf, unit).ok()?;
    let mut reader = InstructionReader::new(program.architecture);
    let code = FunctionCode::read(&mut world, &scopes, &mut reader, function)?;
    // As if all of the function had been sampled: the result must not depend on the instruction asked for.
    let all = code.instructions.iter().map(|instruction| LinkedAddress(instruction.address));
    let sampled = SampledInstructions::new(all, []);
    let mut fixpoint = InterproceduralFixpoint::new(program, &sampled);
    fixpoint.iterate();
    let uses = fixpoint.uses_at(address);
    let known_arguments =
        uses.map_or_else(ArgumentLocations::default, |uses| merge_arguments(&mut world, &code, uses));
    let solution = FlowSolution::new(&mut world, &code, &known_arguments);
    let mut states: Vec<Option<State>> = vec![None; code.instructions.len()];
    solution.for_each_state(&mut world, &mut |_, index, state| {
        states.get_mut(index).into_iter().for_each(|place| *place = Some(state.clone()));
    });
    let lines = type_instructions(&mut world, &code, &solution, &mut reader);
    let lines = lines.into_iter().map(|typed| {
        let operands = typed.operands.iter().map(|operand| ExplainedOperand {
            written: String::new(),
            access: operand.access,
            size: operand.size,
            target: operand.target.map(|ty| TypeEntry::from_type(&world.types, ty)),
            verdict: display::operand_target(&world.types, operand.target),
            meaning: operand.target.reason().map(Reason::meaning),
        });
        (typed.address, operands.collect())
    });
    let operands = lines.collect();
    Some(explain(&mut ExplainedFunction { world, code: &code, function, states, operands, known_arguments }))
}

/// The explanation of an instruction.
fn explain_instruction(explained: &mut ExplainedFunction<'_, '_>, index: usize) -> Explanation {
    let line = explained.explain_line(index);
    let address = line.address;
    let base = explained
        .code
        .instructions
        .get(index)
        .and_then(|instruction| instruction.memory_operands().next()?.address.base);
    let name = explained.name(explained.function.die);
    Explanation {
        location: format!("{name}+{:#x}", address.0 - explained.function.entry()),
        unit: explained.world.program.dwarf.unit_name(explained.world.unit).unwrap_or_default(),
        bytes: explained.bytes(index),
        scopes: explained.scopes(address.0),
        arguments: explained.arguments(),
        variables: explained.variables(address.0),
        registers: explained.registers(index),
        base_history: base.map_or_else(Vec::new, |base| explained.value_history(index, base)),
        line,
    }
}
