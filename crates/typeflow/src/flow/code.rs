//! A function with all that does not change while its states are found.

use super::facts::{FactSchedule, FunctionFacts};
use super::graph::{ControlFlowGraph, index_of};
use super::unit_context::UnitContext;
use crate::types::Ty;
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::code::{Function, FunctionScopes, ScopeReader};
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Callee, Flow, Instruction, Registers};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

pub(crate) struct FunctionCode {
    /// Instructions by address.
    pub instructions: Vec<Instruction>,
    /// Index of the instruction that is entered first.
    pub entry: u32,
    pub graph: ControlFlowGraph,
    pub facts: FunctionFacts,
    pub schedule: FactSchedule,
    /// Scopes, variables and calls as DWARF has them.
    pub scopes: FunctionScopes,
    /// The struct that the function's result points to.
    pub returns: Ty,
    pub calls: CallFacts,
    /// Registers that any call may change for which `calls` has no other set.
    default_clobbered: Registers,
}

impl FunctionCode {
    /// Reads a function of the world's unit; `None` if its DIE can't be read or it has no code.
    pub(crate) fn read(
        world: &mut UnitContext<'_>,
        scopes: &ScopeReader<'_, '_>,
        reader: &mut InstructionReader,
        function: &Function,
    ) -> Option<Self> {
        let scopes = scopes.read(function.die).ok()?;
        let instructions = world.program.instructions(reader, &function.ranges);
        if instructions.is_empty() {
            return None;
        }
        let calls = CallFacts::new(world, &scopes, &instructions);
        let patches = &world.program.patches;
        let jumps = |address| patches.jumps_at(address).collect();
        let graph = ControlFlowGraph::new(&instructions, function.entry(), jumps, |instruction| {
            calls.noreturn.contains(&instruction.address)
        });
        let facts = FunctionFacts::new(world.program.architecture, &scopes, &mut world.types);
        let schedule = build_schedule(&facts, &instructions, &graph);
        let entry = index_of(&instructions, function.entry()).unwrap_or(0);
        let returns = world.returned_struct(function.die);
        let default_clobbered = world.program.architecture.caller_saved();
        Some(Self { instructions, entry, graph, facts, schedule, scopes, returns, calls, default_clobbered })
    }

    /// Whether an instruction of it is at an address.
    pub(crate) fn contains(&self, address: u64) -> bool {
        index_of(&self.instructions, address).is_some()
    }

    pub(crate) fn clobbered_by_call(&self, call: &Instruction) -> Registers {
        self.calls.clobbered.get(&call.address).copied().unwrap_or(self.default_clobbered)
    }
}

fn build_schedule(facts: &FunctionFacts, code: &[Instruction], graph: &ControlFlowGraph) -> FactSchedule {
    let mut applies_all = vec![false; code.len()];
    let firsts = graph.blocks.iter().map(|block| block.first as usize);
    let calls = (1usize..).zip(code).filter(|(_, instruction)| matches!(instruction.flow, Flow::Call(_)));
    for index in firsts.chain(calls.map(|(behind, _)| behind)) {
        applies_all.get_mut(index).into_iter().for_each(|applies| *applies = true);
    }
    let addresses = code.iter().map(|instruction| instruction.address);
    FactSchedule::new(&facts.facts, addresses.zip(applies_all))
}

/// Facts about calls, by their addresses.
#[derive(Default)]
pub(crate) struct CallFacts {
    /// Types that returned pointers point to.
    pub returned_types: FxHashMap<u64, Option<Ty>>,
    /// Those that never return.
    noreturn: FxHashSet<u64>,
    /// Types that arguments point to: structs, or [`Ty::VOID`].
    pub argument_types: FxHashMap<u64, Rc<[Ty]>>,
    /// Registers they may change, where these are fewer than a callee may in general.
    clobbered: FxHashMap<u64, Registers>,
}

impl CallFacts {
    fn new(world: &mut UnitContext<'_>, scopes: &FunctionScopes, instructions: &[Instruction]) -> Self {
        let mut calls = Self::default();
        for instruction in instructions {
            if let Flow::Call(callee) = instruction.flow {
                calls.add(world, scopes, instruction, callee);
            }
        }
        calls
    }

    fn add(
        &mut self,
        world: &mut UnitContext<'_>,
        scopes: &FunctionScopes,
        instruction: &Instruction,
        callee: Callee,
    ) {
        let site = scopes.call_returning_to(instruction.end());
        let die = site.and_then(|site| site.callee).or_else(|| match callee {
            Callee::Direct(target) => world.function_die(LinkedAddress(target)),
            _ => None,
        });
        let declared = die.map(|die| world.declaration(die));
        let architecture = world.program.architecture;
        let mut clobbered = architecture.call_clobbered();
        if site.is_none() && scopes.has_all_calls {
            // Assembly: what it changes the compiler does not read afterwards.
            self.clobbered.insert(instruction.address, clobbered);
        } else if matches!(callee, Callee::Direct(target) if world.is_local(LinkedAddress(target))) {
            // Of a function in the same unit the compiler knows what it changes (gcc's -fipa-ra), and reads
            // the rest.
            if declared.as_ref().is_none_or(|declared| declared.is_wide) {
                clobbered.insert(architecture.second_result_register());
            }
            self.clobbered.insert(instruction.address, clobbered);
        }
        if let Some(declared) = declared {
            self.returned_types.insert(instruction.address, declared.returned_type);
            if declared.is_noreturn {
                self.noreturn.insert(instruction.address);
            }
            // Copies of functions that take fewer parameters have names with a suffix (`.isra.0`,
            // `.constprop.0`).
            let symbols = &world.program.symbols;
            let is_copy = matches!(callee, Callee::Direct(target)
                if symbols.function_at(LinkedAddress(target)).is_none_or(|symbol| symbol.name.contains('.')));
            if declared.parameter_types.iter().any(|ty| *ty != Ty::VOID) && !is_copy {
                self.argument_types.insert(instruction.address, declared.parameter_types);
            }
        }
    }
}
