//! What an instruction does to a state.

use super::facts::{Fact, FactSubject};
use super::state::{Location, State};
use super::value::{Origin, Spot, Value, join};
use super::world::World;
use crate::types::{Place, Ty};
use fieldline_machinecode::machine::{
    Address, Callee, Effect, Flow, Instruction, Memory, Register, Registers, ValueSource,
};
use rustc_hash::FxHashMap;

/// What a function's instructions need besides the state.
pub struct Context<'c> {
    /// Variables in the frame.
    pub regions: &'c [Fact],
    /// What is known better of values by where they were made.
    pub refined: &'c FxHashMap<Origin, Place>,
    /// What calls leave behind, by address of the call: type of the pointer.
    pub returned: &'c FxHashMap<u64, Option<Ty>>,
    /// Registers that a call may change.
    pub clobbered: &'c dyn Fn(&Instruction) -> Registers,
}

/// The first origin of a value a register has at the entry; smaller ones are of values instructions make.
pub const FIRST_ARGUMENT: Origin = 0x1000_0000;
/// The first origin of a value that comes together.
const FIRST_MEETING: Origin = 0x2000_0000;
const REGISTER_BITS: u32 = Register::COUNT.ilog2();

/// The origin of a value an instruction makes.
pub fn origin_of(instruction: usize) -> Origin {
    u32::try_from(instruction + 1).ok().filter(|origin| *origin < FIRST_ARGUMENT).unwrap_or(0)
}

/// The origin of the value a register has at the entry.
pub fn origin_of_argument(register: Register) -> Origin {
    FIRST_ARGUMENT + register.index() as u32
}

/// The origin of a value that comes together at the start of a block.
pub fn origin_of_meeting(block: u32, location: Location) -> Origin {
    match location {
        Location::Register(register) if block < 0x0100_0000 => {
            FIRST_MEETING | block << REGISTER_BITS | register.index() as u32
        }
        _ => 0,
    }
}

/// The block and register of a meeting's origin.
pub fn meeting_of(origin: Origin) -> Option<(u32, Register)> {
    let register = Register::new(origin as usize % Register::COUNT)?;
    (origin & FIRST_MEETING != 0).then_some(((origin & (FIRST_MEETING - 1)) >> REGISTER_BITS, register))
}

impl World<'_> {
    fn load_place(&mut self, place: Option<Place>, origin: Origin) -> Value {
        let place = place.map(|place| self.around(place).unwrap_or(place));
        let leaf = place.and_then(|place| self.types.leaf(place, 8));
        match leaf.and_then(|leaf| self.types.pointee(leaf)) {
            Some(Ty::VOID) | None => Value::Word(origin),
            Some(ty) => Value::to(Place { ty, offset: 0 }, origin),
        }
    }

    fn is_per_cpu_offset(&self, spot: Spot) -> bool {
        let per_cpu = &self.program.per_cpu;
        match spot {
            Spot::Fixed { address, per_cpu: true } => per_cpu.own_offset == Some(address),
            Spot::FixedElement { address, per_cpu: false } => per_cpu.offsets == Some(address),
            // With a known CPU: no kernel has more than 8192 (NR_CPUS of MAXSMP).
            Spot::Fixed { address, per_cpu: false } => per_cpu.offsets.is_some_and(|first| {
                address >= first && address - first < 8 * 8192 && !per_cpu.range.contains(&address)
            }),
            _ => false,
        }
    }

    /// Runs an instruction.
    pub fn step(
        &mut self,
        state: &mut State,
        index: usize,
        instruction: &Instruction,
        context: &Context<'_>,
    ) {
        let mut step = Step { world: self, state, instruction, context, origin: origin_of(index) };
        step.compute();
        step.touch();
        if let Some((base, distance)) = instruction.moves_on {
            let moved = step.add(base, distance as u64);
            step.set(base, moved);
        }
        if let Flow::Call(callee) = instruction.flow {
            step.call(callee);
        }
    }
}

/// An instruction that runs.
struct Step<'s, 'a> {
    world: &'s mut World<'a>,
    state: &'s mut State,
    instruction: &'s Instruction,
    context: &'s Context<'s>,
    /// Of what it makes.
    origin: Origin,
}

impl Step<'_, '_> {
    fn set(&mut self, register: Register, value: Value) {
        self.state.set(Location::Register(register), value);
    }

    /// A register's value and a number.
    fn add(&mut self, register: Register, number: u64) -> Value {
        self.world.add(self.state.register(register), Value::Number(number))
    }

    /// Registers get values nobody knows.
    fn clobber(&mut self, written: Registers, origin: Origin) {
        written.iter().for_each(|register| self.set(register, Value::Word(origin)));
    }

    /// What 8 bytes of memory hold.
    fn load(&mut self, spot: Spot, origin: Origin) -> Value {
        if let Some(place) = self.context.refined.get(&origin).filter(|_| origin != 0) {
            return Value::to(*place, origin);
        }
        if self.world.is_per_cpu_offset(spot) {
            return Value::PerCpuOffset;
        }
        if let Spot::Stack(offset) = spot {
            let slot = self.state.get(Location::Slot(offset));
            // What a variable is declared to be goes before a null it was initialised with: otherwise less would be
            // known before anything is stored there than after.
            let tells_less = matches!(slot, Value::Word(_)) || slot.is_null();
            if !tells_less {
                return slot;
            }
            let place = region_at(self.state, self.context.regions, self.instruction.address, offset);
            let place = place.filter(|place| self.world.types.is_inside(*place));
            return match self.world.load_place(place, origin) {
                Value::Word(_) if slot != Value::UNKNOWN => slot,
                loaded => loaded,
            };
        }
        if let Some(variable) = self.world.behind_table(spot) {
            return Value::to(variable, origin);
        }
        let place = self.world.place(spot);
        self.world.load_place(place, origin)
    }

    /// What an instruction makes of registers alone, or loads into one.
    fn compute(&mut self) {
        let origin = self.origin;
        let (to, value) = match self.instruction.effect {
            Effect::Move { to, from, is_narrow } => {
                let value = self.source(from, origin);
                // The lower four bytes of an error code are no error code.
                (to, if is_narrow { inserted(value, 0xffff_ffff, 0, origin) } else { value })
            }
            Effect::Lea { to, address } => (to, self.world.address_of(self.state, &address)),
            Effect::Add { to, of, from, subtract } => {
                let value = self.source(from, 0);
                let sum = self.sum(self.state.register(of), value, subtract);
                (to, if sum == Value::UNKNOWN { Value::Word(origin) } else { sum })
            }
            Effect::And { to, of, mask } => (to, masked(self.state.register(of), mask, origin)),
            Effect::Insert { to, mask, bits } => (to, inserted(self.state.register(to), mask, bits, origin)),
            Effect::Choose { to, either, or } => {
                let (mut a, mut b) = (self.source(either, 0), self.source(or, 0));
                if a != b {
                    (a, b) = (self.world.as_pointer(a), self.world.as_pointer(b));
                }
                (to, join(&mut self.world.types, a, b, origin))
            }
            _ => return,
        };
        self.set(to, value);
    }

    /// What an instruction does to memory, to several registers, or in a way nobody follows.
    fn touch(&mut self) {
        let Self { instruction, origin, .. } = *self;
        match instruction.effect {
            Effect::Other => {
                self.spoil_written_memory();
                self.clobber(instruction.written, origin);
            }
            Effect::Swap { a, b } => {
                let (of_a, of_b) = (self.state.register(a), self.state.register(b));
                self.set(a, of_b);
                self.set(b, of_a);
            }
            Effect::Exchange { register, is_plain } => {
                let loaded = self.source(ValueSource::Memory, origin);
                let stored = if is_plain { self.state.register(register) } else { Value::UNKNOWN };
                self.store(instruction.operand(), stored);
                self.clobber(instruction.written, origin);
                self.set(register, loaded);
            }
            Effect::Store { from } => {
                let is_memory = matches!(from, ValueSource::Memory);
                let value = if is_memory { Value::UNKNOWN } else { self.source(from, 0) };
                self.store(instruction.operand(), value);
                self.clobber(instruction.written, origin);
            }
            Effect::LoadPair { first, second } => self.load_pair([first, second]),
            Effect::StorePair { first, second } => {
                for (source, half) in [first, second].into_iter().zip(halves(instruction)) {
                    let value = self.source(source, 0);
                    self.store(half.as_ref(), value);
                }
                self.clobber(instruction.written, origin);
            }
            Effect::Push { from } => self.push(from),
            Effect::Pop { to } => self.pop(to),
            Effect::Leave => {
                let frame = self.state.register(Register::RBP);
                self.set(Register::RSP, frame);
                self.pop(Some(Register::RBP));
            }
            _ => {}
        }
    }

    fn load_pair(&mut self, registers: [Option<Register>; 2]) {
        // Only one of both values can be told of where it was made.
        let [first, second] = halves(self.instruction);
        let values = [(first, self.origin), (second, 0)].map(|(half, origin)| {
            let Some(half) = half else { return Value::UNKNOWN };
            let spot = self.world.spot(self.state, &half.address);
            self.load(spot, origin)
        });
        for (register, value) in registers.into_iter().zip(values) {
            register.into_iter().for_each(|register| self.set(register, value));
        }
    }

    /// Only x86 has it.
    fn push(&mut self, from: ValueSource) {
        let value = self.source(from, 0);
        let top = self.add(Register::RSP, 8_u64.wrapping_neg());
        self.set(Register::RSP, top);
        if let Value::Stack(offset) = top {
            self.state.set(Location::Slot(offset), value);
        }
    }

    /// Only x86 has it.
    fn pop(&mut self, to: Option<Register>) {
        let top = self.state.register(Register::RSP);
        let value = match top {
            Value::Stack(offset) => self.load(Spot::Stack(offset), self.origin),
            _ => Value::Word(self.origin),
        };
        to.into_iter().for_each(|to| self.set(to, value));
        if to != Some(Register::RSP) {
            let next = self.world.add(top, Value::Number(8));
            self.set(Register::RSP, next);
        }
    }

    fn sum(&mut self, a: Value, b: Value, subtract: bool) -> Value {
        match b {
            _ if !subtract => self.world.add(a, b),
            Value::Number(number) => self.world.add(a, Value::Number(number.wrapping_neg())),
            _ => Value::UNKNOWN,
        }
    }

    fn source(&mut self, from: ValueSource, origin: Origin) -> Value {
        match from {
            ValueSource::Register(register) => self.state.register(register),
            ValueSource::Number(number) => Value::Number(number as u64),
            ValueSource::System(system) => self.world.system(system, origin),
            ValueSource::Memory => match self.instruction.operand() {
                Some(memory) => {
                    let spot = self.world.spot(self.state, &memory.address);
                    self.load(spot, origin)
                }
                None => Value::Word(origin),
            },
        }
    }

    fn store(&mut self, memory: Option<&Memory>, value: Value) {
        let Some(memory) = memory else { return };
        if let Spot::Stack(offset) = self.world.spot(self.state, &memory.address) {
            if memory.size == 8 {
                self.state.set(Location::Slot(offset), value);
            } else {
                self.state.spoil(offset, u64::from(memory.size.max(1)));
            }
        }
    }

    /// Memory an instruction writes in a way nobody follows.
    fn spoil_written_memory(&mut self) {
        let written = |memory: &&Memory| memory.access.is_write() && !memory.is_implicit;
        for memory in self.instruction.memory().filter(written) {
            self.store(Some(memory), Value::UNKNOWN);
        }
    }

    fn call(&mut self, callee: Callee) {
        let Self { context, origin, .. } = *self;
        let returned = context.returned.get(&self.instruction.address).copied();
        let target = returned.unwrap_or_else(|| self.indirect_target(callee));
        let architecture = self.world.program.architecture;
        // A callee may change what its arguments point to.
        for register in architecture.arguments() {
            if let Value::Stack(offset) = self.state.register(*register) {
                self.state.spoil(offset, 64);
            }
        }
        self.clobber((context.clobbered)(self.instruction), 0);
        let target = target.filter(|ty| *ty != Ty::VOID).map(|ty| Place { ty, offset: 0 });
        let returned = context.refined.get(&origin).copied().or(target);
        let value = returned.map_or(Value::Word(origin), |place| Value::to(place, origin));
        self.set(architecture.result(), value);
    }

    /// What a call through a pointer returns, by the type of the pointer.
    fn indirect_target(&mut self, callee: Callee) -> Option<Ty> {
        let pointer = match callee {
            Callee::Direct(_) => return None,
            Callee::Register(register) => self.state.register(register),
            Callee::Memory => self.source(ValueSource::Memory, 0),
        };
        self.world.returns(pointer.pointer()?.ty)
    }
}

/// Both halves of an operand of 16 bytes.
fn halves(instruction: &Instruction) -> [Option<Memory>; 2] {
    let half = |distance| {
        let memory = instruction.operand()?;
        let displacement = memory.address.displacement.wrapping_add(distance);
        Some(Memory { address: Address { displacement, ..memory.address }, size: 8, ..*memory })
    };
    [half(0), half(8)]
}

/// A value some bits of which are replaced.
fn inserted(value: Value, mask: u64, bits: u64, origin: Origin) -> Value {
    match value {
        Value::Number(number) => Value::Number(number & mask | bits),
        _ => Value::Word(origin),
    }
}

/// A value with bits cleared. Pointers carry flags in their lowest bits, which lead nowhere else.
fn masked(value: Value, mask: i64, origin: Origin) -> Value {
    match value {
        Value::Number(number) => Value::Number(number & mask as u64),
        // An aligned stack is a stack of its own, with places that differ from those before.
        Value::Stack(offset) if mask < 0 => Value::Stack(offset & mask),
        Value::Word(_) | Value::Pointer(_) if (-16..0).contains(&mask) => value,
        _ => Value::Word(origin),
    }
}

/// The variable in the frame that covers an offset while the program is at an instruction.
pub fn region_at(state: &State, regions: &[Fact], at: u64, offset: i64) -> Option<Place> {
    let begun = regions.partition_point(|region| region.begin <= at);
    let holding = regions.get(..begun)?.iter().rev().filter(|region| region.end > at);
    let places = holding.filter_map(|region| {
        let begin = frame_offset(state, region.subject)?;
        Some(Place { offset: offset.checked_sub(begin)?, ..region.place })
    });
    places.into_iter().filter(|place| place.offset >= 0).min_by_key(|place| place.offset)
}

/// Where memory is that a fact or region is about, as a distance from the canonical frame address.
pub fn frame_offset(state: &State, subject: FactSubject) -> Option<i64> {
    match subject {
        FactSubject::Frame(offset) => Some(offset),
        FactSubject::Memory(register, distance) => match state.register(register) {
            Value::Stack(offset) => offset.checked_add(distance),
            _ => None,
        },
        FactSubject::Register(_) => None,
    }
}
