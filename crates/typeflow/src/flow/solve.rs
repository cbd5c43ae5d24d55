//! States at all instructions of a function.

use super::code::Code;
use super::facts::{FactSubject, refine};
use super::graph::Block;
use super::learn::{Lesson, Lessons};
use super::state::{Location, State};
use super::transfer::{Context, frame_offset, origin_of_argument, origin_of_meeting};
use super::value::{Origin, Value};
use super::world::World;
use crate::types::{Place, Ty};
use fieldline_machinecode::architecture::MAX_ARGUMENTS;
use fieldline_machinecode::machine::{Address, Flow, Instruction, Register};
use rustc_hash::FxHashMap;

/// How often a block is looked at until what still changes is given up.
const MAX_VISITS: u32 = 24;
/// How often all blocks are gone over; each time at least one of them changed.
const MAX_ROUNDS: u32 = 4096;
/// How often what was learned late is told where values are made.
const MAX_LESSONS: u32 = 3;

/// What is known at the entry: for each argument register what it points to.
pub(crate) type Arguments = [Option<Place>; MAX_ARGUMENTS];

pub(crate) struct Solution<'c> {
    code: &'c Code,
    /// At the start of each block; `None` if it never runs.
    blocks: Vec<Option<State>>,
    /// What is known better of values by where they were made.
    pub refined: FxHashMap<Origin, Place>,
    /// Whether facts knew more of some value than was known where it was made.
    was_taught: bool,
}

impl<'c> Solution<'c> {
    pub(crate) fn new(world: &mut World<'_>, code: &'c Code, arguments: &Arguments) -> Self {
        world.turn_to(&code.facts);
        let mut solution =
            Self { code, blocks: Vec::new(), refined: FxHashMap::default(), was_taught: false };
        for (register, place) in world.program.architecture.arguments().iter().zip(arguments) {
            if let Some(place) = place {
                solution.refined.insert(origin_of_argument(*register), *place);
            }
        }
        solution.solve(world);
        for _ in 0..MAX_LESSONS {
            if !std::mem::take(&mut solution.was_taught) {
                break;
            }
            let lessons = solution.lessons(world);
            if !lessons.apply(world, code, &mut solution.refined) {
                break;
            }
            solution.solve(world);
        }
        solution
    }

    fn solve(&mut self, world: &mut World<'_>) {
        let graph = &self.code.graph;
        self.blocks = vec![None; graph.blocks.len()];
        for (number, root) in graph.roots.iter().enumerate() {
            if self.blocks.get(*root as usize).is_none_or(Option::is_some) {
                continue;
            }
            let jumped = if number == 0 { Some(self.entry(world)) } else { self.jumped_to(world) };
            // Where nobody knows how the program came there it is not known either what it brings along, and that
            // must not spoil what is known elsewhere.
            let frozen = self.blocks.iter().map(|block| jumped.is_none() && block.is_some()).collect();
            let count = graph.blocks.len();
            let mut progress = Progress { visits: vec![0; count], pending: vec![false; count], frozen };
            self.blocks[*root as usize] = Some(jumped.unwrap_or_else(State::unknown));
            progress.pending[*root as usize] = true;
            self.settle(world, &mut progress);
        }
    }

    fn entry(&self, world: &World<'_>) -> State {
        let architecture = world.program.architecture;
        let mut state = State::entry(architecture);
        for register in architecture.arguments().iter().copied() {
            let origin = origin_of_argument(register);
            let place = self.refined.get(&origin);
            let value = place.map_or(Value::Word(origin), |place| Value::to(*place, origin));
            state.set(Location::Register(register), value);
        }
        state
    }

    /// The state where nobody knows how the program came there: by a jump through a table, if the function has such.
    fn jumped_to(&self, world: &mut World<'_>) -> Option<State> {
        let mut state: Option<State> = None;
        for (block, start) in self.code.graph.blocks.iter().zip(&self.blocks) {
            let last = block.past.checked_sub(1).and_then(|last| self.code.instructions.get(last as usize));
            let jumps = last.is_some_and(|last| matches!(last.flow, Flow::IndirectJump(_)));
            let Some(start) = start.as_ref().filter(|_| jumps) else { continue };
            let mut end = start.clone();
            self.run(world, block.first, block.past, &mut end, &mut |_, _, _, _| {});
            if let Some(state) = &mut state {
                state.join(&end, &mut world.types, |_| 0, |_, value| value);
            }
            state.get_or_insert(end);
        }
        state
    }

    /// Follows the program from pending blocks until nothing changes.
    fn settle(&mut self, world: &mut World<'_>, progress: &mut Progress) {
        for _ in 0..MAX_ROUNDS {
            let mut worked = false;
            for block in &self.code.graph.order {
                if std::mem::take(&mut progress.pending[*block as usize]) {
                    worked = true;
                    self.visit(world, *block, progress);
                }
            }
            if !worked {
                return;
            }
        }
    }

    fn visit(&mut self, world: &mut World<'_>, block: u32, progress: &mut Progress) {
        let code = self.code;
        let (Some(graph), Some(Some(start))) =
            (code.graph.blocks.get(block as usize), self.blocks.get(block as usize))
        else {
            return;
        };
        let mut state = start.clone();
        let mut was_taught = false;
        self.run(world, graph.first, graph.past, &mut state, &mut |_, index, _, lessons| {
            // At the entry variables tell what arguments are, which is no news to anybody before.
            was_taught |= !lessons.is_empty() && index != code.entry as usize;
        });
        self.was_taught |= was_taught;
        for successor in graph.successors.iter().filter(|block| !progress.frozen[**block as usize]) {
            let visited = &mut progress.visits[*successor as usize];
            let zero = zero_on_the_way(code, graph, *successor);
            let before = zero.map(|register| (register, state.register(register)));
            if let Some(register) = zero {
                state.set(Location::Register(register), Value::Number(0));
            }
            let changed = match &mut self.blocks[*successor as usize] {
                Some(known) => meet(world, known, &state, *successor, *visited >= MAX_VISITS),
                unseen => {
                    *unseen = Some(state.clone());
                    true
                }
            };
            if let Some((register, value)) = before {
                state.set(Location::Register(register), value);
            }
            if changed {
                *visited += 1;
                progress.pending[*successor as usize] = true;
            }
        }
    }

    /// Runs instructions, with facts applied before each; `observe` sees the state before each.
    fn run(
        &self,
        world: &mut World<'_>,
        first: u32,
        past: u32,
        state: &mut State,
        observe: &mut dyn FnMut(&mut World<'_>, usize, &State, &[Lesson]),
    ) {
        let code = self.code;
        let clobbered = |call: &Instruction| code.clobbered(call);
        let context = Context {
            regions: &code.facts.regions,
            refined: &self.refined,
            returned: &code.calls.returned,
            clobbered: &clobbered,
        };
        let mut lessons = Vec::new();
        for index in first as usize..past as usize {
            let Some(instruction) = code.instructions.get(index) else { return };
            lessons.clear();
            for fact in code.schedule.at(index) {
                if let Some(fact) = code.facts.facts.get(*fact as usize) {
                    lessons.extend(apply(world, state, fact.subject, fact.place));
                }
            }
            lessons.extend(instruction.operand().and_then(|memory| reach(world, state, &memory.address)));
            handed_over(world, code, state, instruction, &mut lessons);
            observe(world, index, state, &lessons);
            world.step(state, index, instruction, &context);
        }
    }

    /// Shows the state before each instruction that may run, in order of address.
    pub(crate) fn walk(&self, world: &mut World<'_>, observe: &mut dyn FnMut(&mut World<'_>, usize, &State)) {
        world.turn_to(&self.code.facts);
        for (block, start) in self.code.graph.blocks.iter().zip(&self.blocks) {
            if let Some(start) = start {
                let mut state = start.clone();
                self.run(world, block.first, block.past, &mut state, &mut |world, index, state, _| {
                    observe(world, index, state);
                });
            }
        }
    }

    /// What facts say of values that were made earlier.
    fn lessons(&self, world: &mut World<'_>) -> Lessons {
        let mut lessons = Lessons::default();
        let code = self.code;
        for (number, (block, start)) in (0u32..).zip(self.code.graph.blocks.iter().zip(&self.blocks)) {
            let Some(start) = start else { continue };
            lessons.met(number, start);
            let mut state = start.clone();
            self.run(world, block.first, block.past, &mut state, &mut |_, index, state, learned| {
                lessons.made_before(code, index, state);
                lessons.learned(number, learned);
            });
            lessons.made_before(code, block.past as usize, &state);
            for successor in &block.successors {
                if let Some(Some(met)) = self.blocks.get(*successor as usize) {
                    lessons.flows(*successor, &state, met, zero_on_the_way(code, block, *successor));
                }
            }
        }
        lessons
    }
}

/// The register that is zero when a block is left for another: tested by the branch that leads there, or just before.
fn zero_on_the_way(code: &Code, block: &Block, successor: u32) -> Option<Register> {
    let last = block.past.checked_sub(1)?;
    let branch = code.instructions.get(last as usize)?;
    let Flow::Branch(target) = branch.flow else { return None };
    let first = code.graph.blocks.get(successor as usize)?.first;
    let leads_to = |address| code.instructions.get(first as usize).is_some_and(|one| one.address == address);
    let is_taken = leads_to(target);
    // Where both ways lead to one place neither says anything.
    let is_only_way = is_taken != leads_to(branch.end());
    let is_zero = branch.taken_if_zero? == is_taken && is_only_way;
    let before = last.checked_sub(1).filter(|before| *before >= block.first);
    let before = before.and_then(|before| code.instructions.get(before as usize));
    branch.tests.or_else(|| before?.tests).filter(|_| is_zero)
}

/// How far the search for states has come, by block.
struct Progress {
    visits: Vec<u32>,
    pending: Vec<bool>,
    /// Blocks whose states must stay as they are.
    frozen: Vec<bool>,
}

/// Applies a fact; what it teaches about where the value was made.
fn apply(world: &mut World<'_>, state: &mut State, subject: FactSubject, place: Place) -> Option<Lesson> {
    let location = match subject {
        // DWARF says of a register either that it holds the pointer, or that the variable lies where it points to.
        FactSubject::Register(register) => Location::Register(register),
        subject => Location::Slot(frame_offset(state, subject)?),
    };
    let old = state.get(location);
    let (value, learned) = refine(&mut world.types, old, place);
    if value != old {
        state.set(location, value);
    }
    learned.map(|(origin, place)| Lesson { origin, old, place })
}

/// What an access outside the type a pointer points to teaches about where the pointer was made.
fn reach(world: &mut World<'_>, state: &State, address: &Address) -> Option<Lesson> {
    // The pointer is in the base register nearly always, and then the address needs no second look.
    let pointer = state.register(address.base?).pointer()?;
    let place = pointer.place().filter(|_| pointer.origin != 0 && address.index.is_none())?;
    let reached = Place { offset: place.offset.checked_add(address.displacement)?, ..place };
    let around = world.around(reached)?;
    let offset = around.offset.checked_sub(address.displacement)?;
    Some(Lesson { origin: pointer.origin, old: Value::Pointer(pointer), place: Place { offset, ..around } })
}

/// What the types of a callee's parameters, or of what the function returns, teach about the pointers handed over.
fn handed_over(
    world: &mut World<'_>,
    code: &Code,
    state: &State,
    instruction: &Instruction,
    lessons: &mut Vec<Lesson>,
) {
    let architecture = world.program.architecture;
    let mut teach = |register, ty| {
        let old = state.register(register);
        if ty != Ty::VOID && matches!(old, Value::Word(_) | Value::Pointer(_)) {
            let (_, learned) = refine(&mut world.types, old, Place { ty, offset: 0 });
            lessons.extend(learned.map(|(origin, place)| Lesson { origin, old, place }));
        }
    };
    match instruction.flow {
        Flow::Return => teach(architecture.result(), code.returns),
        Flow::Call(_) => {
            let types =
                code.calls.passed.get(&instruction.address).into_iter().flat_map(|types| types.iter());
            let arguments = architecture.arguments().iter().zip(types);
            arguments.for_each(|(register, ty)| teach(*register, *ty));
        }
        _ => {}
    }
}

/// Joins a state into that at the start of a block; whether it changed. `give_up`: what differs becomes unknown.
fn meet(world: &mut World<'_>, known: &mut State, state: &State, block: u32, give_up: bool) -> bool {
    if give_up {
        return known.forget_differences(state);
    }
    let (program, unit) = (world.program, world.unit);
    let per_cpu = program.per_cpu.range.clone();
    known.join(
        state,
        &mut world.types,
        |location| origin_of_meeting(block, location),
        |types, value| match value {
            Value::Number(address) if !per_cpu.contains(&address) => {
                let place = program.variable_at(unit, address, types);
                place.map_or(value, |place| Value::to(place, 0))
            }
            other => other,
        },
    )
}
