//! Straight-line ranges: instructions between two taken branches, and their accesses.
//!
//! A range counts only if it fits the code: both ends are instructions of one function, and none in between
//! always jumps. Else the range is broken: an interrupt's branch was left out of the stack, or the code has
//! changed since.

use super::attributed::Attributed;
use crate::gather::{LinkedRange, RangeTable};
use fieldline_debuginfo::LinkedAddress;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Callee, Flow, Instruction};
use fieldline_typeflow::operands::{ProgramOperands, Reason};
use fieldline_typeflow::program::Program;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

/// Jumps and calls by this name are patched when the kernel runs, also to nothing
/// (`arch_static_call_transform` in `arch/x86/kernel/static_call.c`).
const STATIC_CALL: &str = "__SCT__";

#[derive(Debug, Default)]
pub(crate) struct StraightLineAccesses {
    /// Accesses in order of functions and addresses; behind them those of broken ranges, which have a reason
    /// only.
    pub(crate) accesses: Vec<Attributed>,
    /// Number of the former.
    pub(crate) readable: u32,
    pub(crate) ranges: RangeTable,
    /// By number of the range: the accesses in it.
    in_range: Vec<Range<u32>>,
}

impl StraightLineAccesses {
    pub(crate) fn new(program: &Program<'_>, answers: &ProgramOperands, ranges: RangeTable) -> Self {
        let all = ranges.ranges().iter();
        let known = all.clone().filter_map(|range| answers.function_at(range.begin));
        let functions: BTreeSet<u32> = known.collect();
        let mut accesses = Vec::new();
        let mut reader = InstructionReader::new(program.architecture);
        let linear_functions = functions.into_iter().filter_map(|index| {
            let ranges = &answers.functions.get(index as usize)?.ranges;
            let code = program.instructions(&mut reader, ranges);
            Some((index, LinearFunction::new(program, answers, &code, &mut accesses)))
        });
        let linear_functions: FxHashMap<u32, LinearFunction> = linear_functions.collect();
        let found = all.map(|range| {
            find_access_range(&linear_functions, answers, range).map_err(|reason| (range.begin, reason))
        });
        let found: Vec<Result<Range<u32>, (LinkedAddress, Reason)>> = found.collect();
        // Independent of the order of the ranges.
        let mut failures: Vec<_> = found.iter().filter_map(|found| found.clone().err()).collect();
        failures.sort_unstable();
        failures.dedup();
        let readable = accesses.len() as u32;
        let failure_number = |failure| readable + failures.binary_search(&failure).unwrap_or(0) as u32;
        let in_range = found.into_iter().map(|found| {
            found.unwrap_or_else(|failure| failure_number(failure)..failure_number(failure) + 1)
        });
        let in_range = in_range.collect();
        accesses.extend(failures.into_iter().map(|(ip, reason)| {
            let function = answers.function_at(ip);
            Attributed { ip: Some(ip), function, ..Attributed::unknown(reason) }
        }));
        Self { accesses, readable, ranges, in_range }
    }

    pub(crate) fn accesses_in(&self, range: &LinkedRange) -> &[Attributed] {
        let Range { start, end } = self.ranges.number(range).map_or(0..0, |number| self.access_range(number));
        self.accesses.get(start as usize..end as usize).unwrap_or(&[])
    }

    #[inline]
    pub(crate) fn access_range(&self, number: u32) -> Range<u32> {
        self.in_range.get(number as usize).cloned().unwrap_or_default()
    }
}

fn find_access_range(
    linear_functions: &FxHashMap<u32, LinearFunction>,
    answers: &ProgramOperands,
    range: &LinkedRange,
) -> Result<Range<u32>, Reason> {
    let function = answers.function_at(range.begin).ok_or(Reason::NoDebugInfo)?;
    let linear = linear_functions
        .get(&function)
        .filter(|linear| !linear.instructions.is_empty())
        .ok_or(Reason::NoDebugInfo)?;
    linear.access_range(range.begin, range.end).ok_or(Reason::BrokenRange)
}

/// A function's instructions with their accesses.
#[derive(Debug)]
struct LinearFunction {
    /// Its instructions by address.
    instructions: Vec<LinearInstruction>,
    /// Number of the access behind its last.
    end: u32,
}

#[derive(Debug)]
struct LinearInstruction {
    address: LinkedAddress,
    /// Number of its first access.
    first_access: u32,
    /// Number of instructions before it that always jump.
    exits_before: u32,
    /// Whether it may jump, so that a branch from here executed it. A branch from any other instruction is an
    /// interrupt or a fault before the instruction.
    is_branch: bool,
}

impl LinearFunction {
    fn new(
        program: &Program<'_>,
        answers: &ProgramOperands,
        code: &[Instruction],
        accesses: &mut Vec<Attributed>,
    ) -> Self {
        let mut exits_before = 0;
        let mut instructions = Vec::with_capacity(code.len());
        for (index, instruction) in code.iter().enumerate() {
            let first_access = accesses.len() as u32;
            let is_branch = !matches!(instruction.flow, Flow::Next | Flow::Trap | Flow::Stop);
            let address = LinkedAddress(instruction.address);
            instructions.push(LinearInstruction { address, first_access, exits_before, is_branch });
            let is_followed = code.get(index + 1).is_some_and(|next| next.address == instruction.end());
            exits_before += u32::from(!is_followed || always_leaves(program, instruction));
            accesses.extend(instruction_accesses(program, answers, instruction));
        }
        Self { instructions, end: accesses.len() as u32 }
    }

    fn index(&self, address: LinkedAddress) -> Option<usize> {
        self.instructions.binary_search_by_key(&address, |instruction| instruction.address).ok()
    }

    /// The accesses from one instruction to another, if a straight line connects them.
    fn access_range(&self, begin: LinkedAddress, end: LinkedAddress) -> Option<Range<u32>> {
        let last = self.index(end)?;
        let (begin, end) = (self.instructions.get(self.index(begin)?)?, self.instructions.get(last)?);
        if begin.address > end.address || begin.exits_before != end.exits_before {
            return None;
        }
        let behind = self.instructions.get(last + 1).map_or(self.end, |instruction| instruction.first_access);
        Some(begin.first_access..if end.is_branch { behind } else { end.first_access })
    }
}

/// Whether no range continues behind an instruction. A patched instruction may be a nop at run time.
fn always_leaves(program: &Program<'_>, instruction: &Instruction) -> bool {
    let address = instruction.address;
    let target = match instruction.flow {
        Flow::Next | Flow::Branch(_) | Flow::Trap => return false,
        Flow::Stop => return true,
        Flow::Jump(target) | Flow::Call(Callee::Direct(target)) => Some(target),
        Flow::IndirectJump(_) | Flow::Call(_) | Flow::Return => None,
    };
    let is_patched = |target| {
        program.symbols.starting_at(LinkedAddress(target)).any(|symbol| symbol.name.starts_with(STATIC_CALL))
    };
    !program.patches.may_be_replaced(address)
        && program.patches.jumps_at(address).next().is_none()
        && !target.is_some_and(is_patched)
}

/// Accesses of an instruction: one that reads, one that writes, both or none. Code that stands in place of an
/// instruction that the kernel replaces is not known.
fn instruction_accesses(
    program: &Program<'_>,
    answers: &ProgramOperands,
    instruction: &Instruction,
) -> impl Iterator<Item = Attributed> {
    let ip = LinkedAddress(instruction.address);
    let is_certain = program.patches.alternatives_at(ip.0).next().is_none();
    let accesses = |is_store: bool| {
        let mut memory = instruction.memory_operands();
        is_certain
            && memory.any(|memory| if is_store { memory.access.is_write() } else { memory.access.is_read() })
    };
    let kinds = [false, true].map(|is_store| accesses(is_store).then_some(is_store));
    let operands = answers.operands_at(ip);
    kinds.into_iter().flatten().map(move |is_store| {
        let operand = operands.operand(Some(is_store));
        let target = operands.target(Some(is_store));
        let size = operand.map_or(0, |operand| u64::from(operand.size));
        Attributed { ip: Some(ip), function: operands.function, target, by_code: target, size, is_store }
    })
}
