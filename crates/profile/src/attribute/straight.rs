//! Runs of instructions between branches, and what each of them touched.
//!
//! A run counts only if the code agrees: both ends are instructions of one function, and none in between always leads
//! elsewhere. Such a run is broken: the branches stand around something else, as where an interrupt's branch was left
//! out of the stack, or the code was another when it ran.

use super::attributed::Attributed;
use crate::gather::{Facts, Table};
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Callee, Flow, Instruction};
use fieldline_typeflow::operands::{Answers, Reason};
use fieldline_typeflow::program::Program;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;

/// Jumps and calls by this name are patched when the kernel runs, also to nothing
/// (`arch_static_call_transform` in `arch/x86/kernel/static_call.c`).
const STATIC_CALL: &str = "__SCT__";

#[derive(Debug, Default)]
pub(crate) struct Straight {
    /// Accesses in order of functions and addresses; and behind them, for runs that can't be read, why.
    pub(crate) accesses: Vec<Attributed>,
    /// How many stand in front of the latter.
    pub(crate) lost: u32,
    /// By where runs begin (`ip`) and end (`address`) and event: which of the accesses they are.
    pub(crate) runs: Table<Range<u32>>,
}

impl Straight {
    pub(crate) fn new(program: &Program<'_>, answers: &Answers, runs: &Table<()>) -> Self {
        let known = runs.iter().filter_map(|(facts, ())| answers.function_at(facts.ip));
        let functions: BTreeSet<u32> = known.collect();
        let mut accesses = Vec::new();
        let mut reader = InstructionReader::new(program.architecture);
        let lanes = functions.into_iter().filter_map(|index| {
            let ranges = &answers.functions.get(index as usize)?.ranges;
            let code = program.instructions(&mut reader, ranges);
            Some((index, Lane::new(program, answers, &code, &mut accesses)))
        });
        let lanes: FxHashMap<u32, Lane> = lanes.collect();
        let found: Vec<Result<Range<u32>, (u64, Reason)>> = runs
            .iter()
            .map(|(facts, ())| range(&lanes, answers, &facts).map_err(|reason| (facts.ip, reason)))
            .collect();
        // The same whatever the order of the runs.
        let mut lost: Vec<(u64, Reason)> = found.iter().filter_map(|found| found.clone().err()).collect();
        lost.sort_unstable();
        lost.dedup();
        let first_lost = accesses.len() as u32;
        let number = |one| first_lost + lost.binary_search(&one).unwrap_or(0) as u32;
        let ranges = found.into_iter().map(|found| found.unwrap_or_else(|one| number(one)..number(one) + 1));
        let runs = runs.with_values(ranges);
        accesses.extend(lost.into_iter().map(|(ip, reason)| {
            let function = answers.function_at(ip);
            Attributed { ip: Some(ip), function, ..Attributed::unknown(reason) }
        }));
        Self { accesses, lost: first_lost, runs }
    }

    pub(crate) fn of_run(&self, facts: &Facts) -> &[Attributed] {
        let Range { start, end } = self.runs.number(facts).map_or(0..0, |number| self.range(number));
        self.accesses.get(start as usize..end as usize).unwrap_or(&[])
    }

    #[inline]
    pub(crate) fn range(&self, number: u32) -> Range<u32> {
        self.runs.value(number).cloned().unwrap_or_default()
    }
}

fn range(lanes: &FxHashMap<u32, Lane>, answers: &Answers, facts: &Facts) -> Result<Range<u32>, Reason> {
    let function = answers.function_at(facts.ip).ok_or(Reason::NoDebugInfo)?;
    let lane = lanes.get(&function).filter(|lane| !lane.steps.is_empty()).ok_or(Reason::NoDebugInfo)?;
    lane.range(facts.ip, facts.address).ok_or(Reason::BrokenRun)
}

/// A function as runs see it.
#[derive(Debug)]
struct Lane {
    /// Its instructions by address.
    steps: Vec<Step>,
    /// Number of the access behind its last.
    end: u32,
}

#[derive(Debug)]
struct Step {
    address: u64,
    /// Number of its first access.
    first: u32,
    /// How many instructions before it always lead elsewhere.
    leaving: u32,
    /// It may lead elsewhere, so a branch that begins here ran. One that begins at any other instruction is an interrupt
    /// or a fault, before the instruction ran.
    is_branch: bool,
}

impl Lane {
    fn new(
        program: &Program<'_>,
        answers: &Answers,
        code: &[Instruction],
        accesses: &mut Vec<Attributed>,
    ) -> Self {
        let mut leaving = 0;
        let mut steps = Vec::with_capacity(code.len());
        for (index, instruction) in code.iter().enumerate() {
            let first = accesses.len() as u32;
            let is_branch = !matches!(instruction.flow, Flow::Next | Flow::Trap | Flow::Stop);
            steps.push(Step { address: instruction.address, first, leaving, is_branch });
            let is_followed = code.get(index + 1).is_some_and(|next| next.address == instruction.end());
            leaving += u32::from(!is_followed || always_leaves(program, instruction));
            accesses.extend(touched(program, answers, instruction));
        }
        Self { steps, end: accesses.len() as u32 }
    }

    fn index(&self, address: u64) -> Option<usize> {
        self.steps.binary_search_by_key(&address, |step| step.address).ok()
    }

    /// The accesses from one instruction to another, if the program goes straight from one to the other.
    fn range(&self, begin: u64, end: u64) -> Option<Range<u32>> {
        let last = self.index(end)?;
        let (begin, end) = (self.steps.get(self.index(begin)?)?, self.steps.get(last)?);
        if begin.address > end.address || begin.leaving != end.leaving {
            return None;
        }
        let behind = self.steps.get(last + 1).map_or(self.end, |step| step.first);
        Some(begin.first..if end.is_branch { behind } else { end.first })
    }
}

/// Whether no run goes on behind an instruction. What the kernel patches may be nothing when it runs.
fn always_leaves(program: &Program<'_>, instruction: &Instruction) -> bool {
    let address = instruction.address;
    let target = match instruction.flow {
        Flow::Next | Flow::Branch(_) | Flow::Trap => return false,
        Flow::Stop => return true,
        Flow::Jump(target) | Flow::Call(Callee::Direct(target)) => Some(target),
        Flow::IndirectJump(_) | Flow::Call(_) | Flow::Return => None,
    };
    let is_patched = |target| program.symbols.at(target).any(|symbol| symbol.name.starts_with(STATIC_CALL));
    !program.patches.may_be_gone(address)
        && program.patches.jumps_at(address).next().is_none()
        && !target.is_some_and(is_patched)
}

/// What an instruction touches: an access that reads, one that writes, both or none. What stands in place of an
/// instruction that the kernel replaces is not known.
fn touched(
    program: &Program<'_>,
    answers: &Answers,
    instruction: &Instruction,
) -> impl Iterator<Item = Attributed> {
    let ip = instruction.address;
    let is_certain = program.patches.alternatives_at(ip).next().is_none();
    let does = |is_store: bool| {
        let mut memory = instruction.memory();
        is_certain
            && memory.any(|memory| if is_store { memory.access.is_write() } else { memory.access.is_read() })
    };
    let kinds = [false, true].map(|is_store| does(is_store).then_some(is_store));
    let answer = answers.at(ip);
    kinds.into_iter().flatten().map(move |is_store| {
        let operand = answer.operand(Some(is_store));
        let target = answer.target(Some(is_store));
        let size = operand.map_or(0, |operand| u64::from(operand.size));
        Attributed { ip: Some(ip), function: answer.function, target, by_code: target, size, is_store }
    })
}
