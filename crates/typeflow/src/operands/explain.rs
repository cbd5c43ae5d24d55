//! How an instruction came to its answer: scopes, variables, what its registers hold and where they got it, operands.

mod spell;
mod view;
mod way;
mod words;

use super::reason::Reason;
use super::rounds::Rounds;
use super::sampled::Sampled;
use super::target::TypeEntry;
use super::typing::typed;
use crate::calls::arguments;
use crate::flow::{Arguments, Code, Solution, State, World};
use crate::program::Program;
use fieldline_debuginfo::dwarf::code::ScopeReader;
use fieldline_machinecode::insn::InstructionReader;
use view::View;

pub use words::{ExplainedOperand, Explanation, Line, WayStep};

/// Explains the instruction at an address as linked; `None` if no function with debug info holds it.
pub fn explain<'a>(program: &'a Program<'a>, address: u64) -> Option<Explanation> {
    in_function(program, address, |view| {
        let index = view.code.instructions.iter().position(|one| one.address == address)?;
        Some(explanation(view, index))
    })?
}

/// All instructions that touch memory of the function around an address; `None` if there is none with debug info.
pub fn list<'a>(program: &'a Program<'a>, address: u64) -> Option<Vec<Line>> {
    in_function(program, address, |view| {
        let lines = (0..view.code.instructions.len()).map(|index| view.line(index));
        lines.filter(|line| !line.operands.is_empty()).collect()
    })
}

fn in_function<'a, T>(
    program: &'a Program<'a>,
    address: u64,
    work: impl FnOnce(&mut View<'_, 'a>) -> T,
) -> Option<T> {
    let (unit, function) = program.function_at(address)?;
    let mut world = World::new(program, unit);
    let scopes = ScopeReader::new(program.dwarf, unit).ok()?;
    let mut reader = InstructionReader::new(program.architecture);
    let code = Code::read(&mut world, &scopes, &mut reader, function)?;
    // As if all of the function had been sampled: what of it is asked about must not change what is known.
    let sampled = Sampled::new(code.instructions.iter().map(|one| one.address), []);
    let mut rounds = Rounds::new(program, &sampled);
    rounds.settle();
    let uses = rounds.uses_at(address);
    let given = uses.map_or_else(Arguments::default, |uses| arguments(&mut world, &code, uses));
    let solution = Solution::new(&mut world, &code, &given);
    let mut states: Vec<Option<State>> = vec![None; code.instructions.len()];
    solution.walk(&mut world, &mut |_, index, state| {
        states.get_mut(index).into_iter().for_each(|place| *place = Some(state.clone()));
    });
    let lines = typed(&mut world, &code, &solution, &mut reader);
    let lines = lines.into_iter().map(|typed| {
        let operands = typed.operands.iter().map(|operand| ExplainedOperand {
            written: String::new(),
            access: operand.access,
            size: operand.size,
            target: operand.target.map(|ty| TypeEntry::of(&world.types, ty)),
            verdict: spell::target(&world.types, operand.target),
            meaning: operand.target.reason().map(Reason::meaning),
        });
        (typed.address, operands.collect())
    });
    let operands = lines.collect();
    Some(work(&mut View { world, code: &code, function, states, operands, given }))
}

/// An instruction with all that is known of it.
fn explanation(view: &mut View<'_, '_>, index: usize) -> Explanation {
    let line = view.line(index);
    let address = line.address;
    let base = view.code.instructions.get(index).and_then(|one| one.memory().next()?.address.base);
    Explanation {
        place: format!("{}+{:#x}", view.name(view.function.die), address - view.function.entry()),
        unit: view.world.program.dwarf.unit_name(view.world.unit).unwrap_or_default(),
        bytes: view.bytes(index),
        scopes: view.scopes(address),
        arguments: view.arguments(),
        variables: view.variables(address),
        registers: view.registers(index),
        way: base.map_or_else(Vec::new, |base| view.way(index, base)),
        line,
    }
}
