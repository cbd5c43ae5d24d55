//! States at all instructions of a function.

use super::code::FunctionCode;
use super::facts::{FactSubject, apply_fact};
use super::graph::BasicBlock;
use super::refinement::{Refinement, Refinements};
use super::state::{State, ValueLocation};
use super::transfer::{TransferContext, argument_origin, frame_offset, phi_origin};
use super::unit_context::UnitContext;
use super::value::{Origin, Value};
use crate::types::{Ty, TypeOffset};
use fieldline_debuginfo::LinkedAddress;
use fieldline_machinecode::architecture::MAX_ARGUMENTS;
use fieldline_machinecode::machine::{Address, Flow, Instruction, Register};
use rustc_hash::FxHashMap;

/// Passes over a block until values that still change become unknown.
const MAX_BLOCK_PASSES: u32 = 24;
/// Passes over all blocks; in each at least one of them changed.
const MAX_PASSES: u32 = 4096;
/// How often refinements are applied at the origins of values.
const MAX_REFINEMENT_PASSES: u32 = 3;

/// For each argument register the type and offset it points to at the entry.
pub(crate) type ArgumentLocations = [Option<TypeOffset>; MAX_ARGUMENTS];

pub(crate) struct FlowSolution<'c> {
    code: &'c FunctionCode,
    /// At the start of each block; `None` if it never runs.
    blocks: Vec<Option<State>>,
    /// Refined types of values, by origin.
    pub refined: FxHashMap<Origin, TypeOffset>,
    /// Whether some value was refined after it was made.
    has_refinements: bool,
}

impl<'c> FlowSolution<'c> {
    pub(crate) fn new(world: &mut UnitContext<'_>, code: &'c FunctionCode, args: &ArgumentLocations) -> Self {
        world.enter_function(&code.facts);
        let mut solution =
            Self { code, blocks: Vec::new(), refined: FxHashMap::default(), has_refinements: false };
        for (register, place) in world.program.architecture.argument_registers().iter().zip(args) {
            if let Some(place) = place {
                solution.refined.insert(argument_origin(*register), *place);
            }
        }
        solution.solve(world);
        for _ in 0..MAX_REFINEMENT_PASSES {
            if !std::mem::take(&mut solution.has_refinements) {
                break;
            }
            let refinements = solution.collect_refinements(world);
            if !refinements.apply(world, code, &mut solution.refined) {
                break;
            }
            solution.solve(world);
        }
        solution
    }

    fn solve(&mut self, world: &mut UnitContext<'_>) {
        let graph = &self.code.graph;
        self.blocks = vec![None; graph.blocks.len()];
        for (number, root) in graph.roots.iter().enumerate() {
            if self.blocks.get(*root as usize).is_none_or(Option::is_some) {
                continue;
            }
            let initial = if number == 0 { Some(self.entry(world)) } else { self.indirect_jump_state(world) };
            // Where control flow into a block is unknown its values are unknown too, and that
            // must not reach states that are known.
            let frozen = self.blocks.iter().map(|block| initial.is_none() && block.is_some()).collect();
            let count = graph.blocks.len();
            let mut progress = SolverProgress { passes: vec![0; count], pending: vec![false; count], frozen };
            self.blocks[*root as usize] = Some(initial.unwrap_or_else(State::unknown));
            progress.pending[*root as usize] = true;
            self.iterate(world, &mut progress);
        }
    }

    fn entry(&self, world: &UnitContext<'_>) -> State {
        let architecture = world.program.architecture;
        let mut state = State::entry(architecture);
        for register in architecture.argument_registers().iter().copied() {
            let origin = argument_origin(register);
            let place = self.refined.get(&origin);
            let value = place.map_or(Value::Word(origin), |place| Value::pointer_to(*place, origin));
            state.set(ValueLocation::Register(register), value);
        }
        state
    }

    /// The state at blocks without known predecessors: that of jumps through tables, if the function has
    /// such.
    fn indirect_jump_state(&self, world: &mut UnitContext<'_>) -> Option<State> {
        let mut state: Option<State> = None;
        for (block, start) in self.code.graph.blocks.iter().zip(&self.blocks) {
            let last = block.past.checked_sub(1).and_then(|last| self.code.instructions.get(last as usize));
            let jumps = last.is_some_and(|last| matches!(last.flow, Flow::IndirectJump(_)));
            let Some(start) = start.as_ref().filter(|_| jumps) else { continue };
            let mut end = start.clone();
            self.run_block(world, block.first, block.past, &mut end, &mut |_, _, _, _| {});
            if let Some(state) = &mut state {
                state.join(&end, &mut world.types, |_| 0, |_, value| value);
            }
            state.get_or_insert(end);
        }
        state
    }

    /// Follows the program from pending blocks until nothing changes.
    fn iterate(&mut self, world: &mut UnitContext<'_>, progress: &mut SolverProgress) {
        for _ in 0..MAX_PASSES {
            let mut has_changed = false;
            for block in &self.code.graph.order {
                if std::mem::take(&mut progress.pending[*block as usize]) {
                    has_changed = true;
                    self.process_block(world, *block, progress);
                }
            }
            if !has_changed {
                return;
            }
        }
    }

    fn process_block(&mut self, world: &mut UnitContext<'_>, block: u32, progress: &mut SolverProgress) {
        let code = self.code;
        let (Some(graph), Some(Some(start))) =
            (code.graph.blocks.get(block as usize), self.blocks.get(block as usize))
        else {
            return;
        };
        let mut state = start.clone();
        let mut has_refinements = false;
        self.run_block(world, graph.first, graph.past, &mut state, &mut |_, index, _, refinements| {
            // At the entry variables show the types of arguments; nothing before needs them.
            has_refinements |= !refinements.is_empty() && index != code.entry as usize;
        });
        self.has_refinements |= has_refinements;
        for successor in graph.successors.iter().filter(|block| !progress.frozen[**block as usize]) {
            let passes = &mut progress.passes[*successor as usize];
            let zero_register = zero_register_on_edge(code, graph, *successor);
            let before = zero_register.map(|register| (register, state.register(register)));
            if let Some(register) = zero_register {
                state.set(ValueLocation::Register(register), Value::Number(0));
            }
            let changed = match &mut self.blocks[*successor as usize] {
                Some(known) => join_into(world, known, &state, *successor, *passes >= MAX_BLOCK_PASSES),
                unseen => {
                    *unseen = Some(state.clone());
                    true
                }
            };
            if let Some((register, value)) = before {
                state.set(ValueLocation::Register(register), value);
            }
            if changed {
                *passes += 1;
                progress.pending[*successor as usize] = true;
            }
        }
    }

    /// Runs instructions, with facts applied before each; `observe` sees the state before each.
    fn run_block(
        &self,
        world: &mut UnitContext<'_>,
        first: u32,
        past: u32,
        state: &mut State,
        observe: &mut dyn FnMut(&mut UnitContext<'_>, usize, &State, &[Refinement]),
    ) {
        let code = self.code;
        let clobbered = |call: &Instruction| code.clobbered_by_call(call);
        let context = TransferContext {
            regions: &code.facts.regions,
            refined: &self.refined,
            returned: &code.calls.returned_types,
            clobbered: &clobbered,
        };
        let mut refinements = Vec::new();
        for index in first as usize..past as usize {
            let Some(instruction) = code.instructions.get(index) else { return };
            refinements.clear();
            for fact in code.schedule.facts_before(index) {
                if let Some(fact) = code.facts.facts.get(*fact as usize) {
                    refinements.extend(apply_fact_to_state(world, state, fact.subject, fact.place));
                }
            }
            refinements.extend(
                instruction.explicit_operand().and_then(|at| refine_by_access(world, state, &at.address)),
            );
            refine_by_signatures(world, code, state, instruction, &mut refinements);
            observe(world, index, state, &refinements);
            world.execute(state, index, instruction, &context);
        }
    }

    /// Calls back with the state before each instruction that may run, in order of address.
    pub(crate) fn for_each_state(
        &self,
        world: &mut UnitContext<'_>,
        observe: &mut dyn FnMut(&mut UnitContext<'_>, usize, &State),
    ) {
        world.enter_function(&self.code.facts);
        for (block, start) in self.code.graph.blocks.iter().zip(&self.blocks) {
            if let Some(start) = start {
                let mut state = start.clone();
                self.run_block(world, block.first, block.past, &mut state, &mut |world, index, state, _| {
                    observe(world, index, state);
                });
            }
        }
    }

    /// Refinements by facts, of values that were made earlier.
    fn collect_refinements(&self, world: &mut UnitContext<'_>) -> Refinements {
        let mut refinements = Refinements::default();
        let code = self.code;
        for (number, (block, start)) in (0u32..).zip(self.code.graph.blocks.iter().zip(&self.blocks)) {
            let Some(start) = start else { continue };
            refinements.add_joined(number, start);
            let mut state = start.clone();
            self.run_block(world, block.first, block.past, &mut state, &mut |_, index, state, found| {
                refinements.add_created(code, index, state);
                refinements.add_refinements(number, found);
            });
            refinements.add_created(code, block.past as usize, &state);
            for next in &block.successors {
                if let Some(Some(joined)) = self.blocks.get(*next as usize) {
                    refinements.add_flow(*next, &state, joined, zero_register_on_edge(code, block, *next));
                }
            }
        }
        refinements
    }
}

/// The register that is zero when a block is left for another: tested by the branch that leads there, or just
/// before.
fn zero_register_on_edge(code: &FunctionCode, block: &BasicBlock, successor: u32) -> Option<Register> {
    let last = block.past.checked_sub(1)?;
    let branch = code.instructions.get(last as usize)?;
    let Flow::Branch(target) = branch.flow else { return None };
    let first = code.graph.blocks.get(successor as usize)?.first;
    let leads_to = |address| {
        code.instructions.get(first as usize).is_some_and(|instruction| instruction.address == address)
    };
    let is_taken = leads_to(target);
    // Where both edges lead to one block neither says anything.
    let is_only_edge = is_taken != leads_to(branch.end());
    let is_zero = branch.taken_if_zero? == is_taken && is_only_edge;
    let before = last.checked_sub(1).filter(|before| *before >= block.first);
    let before = before.and_then(|before| code.instructions.get(before as usize));
    branch.tested_register.or_else(|| before?.tested_register).filter(|_| is_zero)
}

/// How far the search for states has come, by block.
struct SolverProgress {
    passes: Vec<u32>,
    pending: Vec<bool>,
    /// Blocks whose states must stay as they are.
    frozen: Vec<bool>,
}

/// Applies a fact; the refinement of the value's origin.
fn apply_fact_to_state(
    world: &mut UnitContext<'_>,
    state: &mut State,
    subject: FactSubject,
    place: TypeOffset,
) -> Option<Refinement> {
    let location = match subject {
        // DWARF says of a register either that it holds the pointer, or that the variable lies where it
        // points to.
        FactSubject::Register(register) => ValueLocation::Register(register),
        subject => ValueLocation::Slot(frame_offset(state, subject)?),
    };
    let old = state.get(location);
    let (value, refinement) = apply_fact(&mut world.types, old, place);
    if value != old {
        state.set(location, value);
    }
    refinement.map(|(origin, place)| Refinement { origin, old, place })
}

/// The refinement of a pointer's origin by an access outside the type it points to.
fn refine_by_access(world: &mut UnitContext<'_>, state: &State, address: &Address) -> Option<Refinement> {
    // The pointer is in the base register nearly always.
    let pointer = state.register(address.base?).pointer()?;
    let place = pointer.exact_location().filter(|_| pointer.origin != 0 && address.index.is_none())?;
    let accessed = TypeOffset { offset: place.offset.checked_add(address.displacement)?, ..place };
    let container = world.relocate_to_container(accessed)?;
    let offset = container.offset.checked_sub(address.displacement)?;
    Some(Refinement {
        origin: pointer.origin,
        old: Value::Pointer(pointer),
        place: TypeOffset { offset, ..container },
    })
}

/// Refinements of pointers by the types of a callee's parameters, or of the function's own result.
fn refine_by_signatures(
    world: &mut UnitContext<'_>,
    code: &FunctionCode,
    state: &State,
    instruction: &Instruction,
    refinements: &mut Vec<Refinement>,
) {
    let architecture = world.program.architecture;
    let mut refine_register = |register, ty| {
        let old = state.register(register);
        if ty != Ty::VOID && matches!(old, Value::Word(_) | Value::Pointer(_)) {
            let (_, refinement) = apply_fact(&mut world.types, old, TypeOffset { ty, offset: 0 });
            refinements.extend(refinement.map(|(origin, place)| Refinement { origin, old, place }));
        }
    };
    match instruction.flow {
        Flow::Return => refine_register(architecture.result_register(), code.returns),
        Flow::Call(_) => {
            let types = code.calls.argument_types.get(&instruction.address);
            let types = types.into_iter().flat_map(|types| types.iter());
            let arguments = architecture.argument_registers().iter().zip(types);
            arguments.for_each(|(register, ty)| refine_register(*register, *ty));
        }
        _ => {}
    }
}

/// Joins a state into that at the start of a block; whether it changed. `widen`: what differs becomes
/// unknown.
fn join_into(world: &mut UnitContext<'_>, known: &mut State, state: &State, block: u32, widen: bool) -> bool {
    if widen {
        return known.forget_differences(state);
    }
    let (program, unit) = (world.program, world.unit);
    let per_cpu = program.per_cpu.range.clone();
    known.join(
        state,
        &mut world.types,
        |location| phi_origin(block, location),
        |types, value| match value {
            Value::Number(address) if !per_cpu.contains(&LinkedAddress(address)) => {
                let place = program.variable_at(unit, LinkedAddress(address), types);
                place.map_or(value, |place| Value::pointer_to(place, 0))
            }
            other => other,
        },
    )
}
