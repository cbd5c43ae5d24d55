//! A function with all that does not change while its states are found.

use super::facts::{Facts, Schedule};
use super::graph::{Graph, index_of};
use super::world::World;
use crate::types::Ty;
use fieldline_debuginfo::dwarf::code::{Function, ScopeReader, Scopes};
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Callee, Flow, Instruction, Registers};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

pub(crate) struct Code {
    /// Instructions by address.
    pub instructions: Vec<Instruction>,
    /// Index of the instruction that is entered first.
    pub entry: u32,
    pub graph: Graph,
    pub facts: Facts,
    pub schedule: Schedule,
    /// Scopes, variables and calls as DWARF has them.
    pub scopes: Scopes,
    /// The struct that what the function returns points to.
    pub returns: Ty,
    pub calls: Calls,
    /// Registers that any call may change of which `calls` tells nothing else.
    clobbered_in_general: Registers,
}

impl Code {
    /// Reads a function of the world's unit; `None` if its DIE can't be read or it has no code.
    pub(crate) fn read(
        world: &mut World<'_>,
        scopes: &ScopeReader<'_, '_>,
        reader: &mut InstructionReader,
        function: &Function,
    ) -> Option<Self> {
        let scopes = scopes.read(function.die).ok()?;
        let instructions = world.program.instructions(reader, &function.ranges);
        if instructions.is_empty() {
            return None;
        }
        let calls = Calls::new(world, &scopes, &instructions);
        let patches = &world.program.patches;
        let jumps = |address| patches.jumps_at(address).collect();
        let graph = Graph::new(&instructions, function.entry(), jumps, |instruction| {
            calls.never.contains(&instruction.address)
        });
        let facts = Facts::new(world.program.architecture, &scopes, &mut world.types);
        let schedule = schedule(&facts, &instructions, &graph);
        Some(Self {
            entry: index_of(&instructions, function.entry()).unwrap_or(0),
            instructions,
            graph,
            facts,
            schedule,
            scopes,
            returns: world.returned_struct(function.die),
            calls,
            clobbered_in_general: world.program.architecture.caller_saved(),
        })
    }

    /// Whether an instruction of it is at an address.
    pub(crate) fn has(&self, address: u64) -> bool {
        index_of(&self.instructions, address).is_some()
    }

    pub(crate) fn clobbered(&self, call: &Instruction) -> Registers {
        self.calls.clobbered.get(&call.address).copied().unwrap_or(self.clobbered_in_general)
    }
}

fn schedule(facts: &Facts, instructions: &[Instruction], graph: &Graph) -> Schedule {
    let mut fresh = vec![false; instructions.len()];
    let firsts = graph.blocks.iter().map(|block| block.first as usize);
    let calls = (1usize..).zip(instructions).filter(|(_, one)| matches!(one.flow, Flow::Call(_)));
    for index in firsts.chain(calls.map(|(behind, _)| behind)) {
        fresh.get_mut(index).into_iter().for_each(|fresh| *fresh = true);
    }
    let addresses = instructions.iter().map(|instruction| instruction.address);
    Schedule::new(&facts.facts, addresses.zip(fresh))
}

/// What is known of calls, by their addresses.
#[derive(Default)]
pub(crate) struct Calls {
    /// What they return: type a pointer points to.
    pub returned: FxHashMap<u64, Option<Ty>>,
    /// Those that never return.
    never: FxHashSet<u64>,
    /// What their arguments point to: structs, or [`Ty::VOID`].
    pub passed: FxHashMap<u64, Rc<[Ty]>>,
    /// Registers they may change, where these are fewer than a callee may in general.
    clobbered: FxHashMap<u64, Registers>,
}

impl Calls {
    fn new(world: &mut World<'_>, scopes: &Scopes, instructions: &[Instruction]) -> Self {
        let mut calls = Self::default();
        for instruction in instructions {
            if let Flow::Call(callee) = instruction.flow {
                calls.add(world, scopes, instruction, callee);
            }
        }
        calls
    }

    fn add(&mut self, world: &mut World<'_>, scopes: &Scopes, instruction: &Instruction, callee: Callee) {
        let site = scopes.call_to(instruction.end());
        let die = site.and_then(|site| site.callee).or_else(|| match callee {
            Callee::Direct(target) => world.function_die(target),
            _ => None,
        });
        let declared = die.map(|die| world.declared(die));
        let architecture = world.program.architecture;
        let mut fewer = architecture.changed_by_calling();
        if site.is_none() && scopes.has_all_calls {
            // Assembly: what it changes the compiler does not read afterwards.
            self.clobbered.insert(instruction.address, fewer);
        } else if matches!(callee, Callee::Direct(target) if world.is_local(target)) {
            // Of a function in the same unit the compiler knows what it changes (gcc's -fipa-ra), and reads the rest.
            if declared.as_ref().is_none_or(|declared| declared.is_wide) {
                fewer.insert(architecture.second_result());
            }
            self.clobbered.insert(instruction.address, fewer);
        }
        if let Some(declared) = declared {
            self.returned.insert(instruction.address, declared.target);
            if declared.never {
                self.never.insert(instruction.address);
            }
            // Copies of functions that take fewer parameters have names with a suffix (`.isra.0`, `.constprop.0`).
            let symbols = &world.program.symbols;
            let is_copy = matches!(callee, Callee::Direct(target)
                if symbols.function_at(target).is_none_or(|symbol| symbol.name.contains('.')));
            if declared.parameters.iter().any(|ty| *ty != Ty::VOID) && !is_copy {
                self.passed.insert(instruction.address, declared.parameters);
            }
        }
    }
}
