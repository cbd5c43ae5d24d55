//! What an instruction does to a state.

use super::facts::{FactSubject, Region};
use super::state::{Location, State};
use super::value::{Origin, Spot, Value};
use super::world::World;
use crate::types::{Place, Ty};
use fieldline_machinecode::machine::{
    Address, Callee, Effect, Flow, Instruction, Memory, Register, Registers, ValueSource,
};
use rustc_hash::FxHashMap;

/// What a function's instructions need besides the state.
pub struct Context<'c> {
    /// Variables in the frame.
    pub regions: &'c [Region],
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
/// Bits of a register's number.
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
    /// What 8 bytes of memory hold.
    pub fn load(
        &mut self,
        state: &State,
        spot: Spot,
        at: u64,
        context: &Context<'_>,
        origin: Origin,
    ) -> Value {
        if let Some(place) = context.refined.get(&origin).filter(|_| origin != 0) {
            return Value::to(*place, origin);
        }
        if self.is_per_cpu_offset(spot) {
            return Value::PerCpuOffset;
        }
        if let Spot::Stack(offset) = spot {
            let slot = state.get(Location::Slot(offset));
            // What a variable is declared to be goes before a null it was initialised with: otherwise less would be
            // known before anything is stored there than after.
            let tells_less = matches!(slot, Value::Word(_)) || slot.is_null();
            if !tells_less {
                return slot;
            }
            let place = region_at(state, context.regions, at, offset);
            let place = place.filter(|place| self.types.is_inside(*place));
            return match self.load_place(place, origin) {
                Value::Word(_) if slot != Value::UNKNOWN => slot,
                loaded => loaded,
            };
        }
        if let Some(variable) = self.behind_table(spot) {
            return Value::to(variable, origin);
        }
        let place = self.place(spot);
        self.load_place(place, origin)
    }

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
            Spot::Fixed { address, per_cpu: false } => match per_cpu.offsets {
                // With a known CPU: no kernel has more than 8192 (NR_CPUS of MAXSMP).
                Some(first) => {
                    address >= first && address - first < 8 * 8192 && !per_cpu.range.contains(&address)
                }
                None => false,
            },
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
        let origin = origin_of(index);
        self.compute(state, instruction, context, origin);
        self.touch(state, instruction, context, origin);
        if let Some((base, distance)) = instruction.moves_on {
            let moved = self.add(state.register(base), Value::Number(distance as u64));
            state.set(Location::Register(base), moved);
        }
        if let Flow::Call(callee) = instruction.flow {
            self.call(state, instruction, callee, context, origin);
        }
    }

    /// What an instruction makes of registers alone, or loads into one.
    fn compute(
        &mut self,
        state: &mut State,
        instruction: &Instruction,
        context: &Context<'_>,
        origin: Origin,
    ) {
        let (to, value) = match instruction.effect {
            Effect::Move { to, from, is_narrow } => {
                let value = self.source(state, from, instruction, context, origin);
                (to, if is_narrow { narrowed(value, origin) } else { value })
            }
            Effect::Lea { to, address } => (to, self.address_of(state, &address)),
            Effect::Add { to, of, from, subtract } => {
                let value = self.source(state, from, instruction, context, 0);
                let sum = self.sum(state.register(of), value, subtract);
                (to, if sum == Value::UNKNOWN { Value::Word(origin) } else { sum })
            }
            Effect::And { to, of, mask } => (to, masked(state.register(of), mask, origin)),
            Effect::Insert { to, mask, bits } => (to, inserted(state.register(to), mask, bits, origin)),
            Effect::Choose { to, either, or } => {
                let either = self.source(state, either, instruction, context, 0);
                let or = self.source(state, or, instruction, context, 0);
                (to, self.either(either, or, origin))
            }
            _ => return,
        };
        state.set(Location::Register(to), value);
    }

    /// What an instruction does to memory, to several registers, or in a way nobody follows.
    fn touch(&mut self, state: &mut State, instruction: &Instruction, context: &Context<'_>, origin: Origin) {
        match instruction.effect {
            Effect::Other => {
                self.spoil_written_memory(state, instruction);
                clobber(state, instruction.written, origin);
            }
            Effect::Swap { a, b } => {
                let (of_a, of_b) = (state.register(a), state.register(b));
                state.set(Location::Register(a), of_b);
                state.set(Location::Register(b), of_a);
            }
            Effect::Exchange { register, is_plain } => {
                let loaded = self.source(state, ValueSource::Memory, instruction, context, origin);
                let stored = if is_plain { state.register(register) } else { Value::UNKNOWN };
                self.store(state, instruction.operand(), stored);
                clobber(state, instruction.written, origin);
                state.set(Location::Register(register), loaded);
            }
            Effect::Store { from } => {
                let value = match from {
                    ValueSource::Memory => Value::UNKNOWN,
                    _ => self.source(state, from, instruction, context, 0),
                };
                self.store(state, instruction.operand(), value);
                clobber(state, instruction.written, origin);
            }
            Effect::LoadPair { first, second } => {
                self.load_pair(state, instruction, [first, second], context, origin);
            }
            Effect::StorePair { first, second } => {
                self.store_pair(state, instruction, [first, second], context);
                clobber(state, instruction.written, origin);
            }
            Effect::Push { from } => self.push(state, from, instruction, context),
            Effect::Pop { to } => self.pop(state, to, instruction.address, context, origin),
            Effect::Leave => {
                let frame = state.register(Register::RBP);
                state.set(Location::Register(Register::RSP), frame);
                self.pop(state, Some(Register::RBP), instruction.address, context, origin);
            }
            _ => {}
        }
    }

    fn load_pair(
        &mut self,
        state: &mut State,
        instruction: &Instruction,
        registers: [Option<Register>; 2],
        context: &Context<'_>,
        origin: Origin,
    ) {
        // Only one of both values can be told of where it was made.
        let origins = [origin, 0];
        let mut values = [Value::UNKNOWN; 2];
        for ((value, half), origin) in values.iter_mut().zip(halves(instruction)).zip(origins) {
            if let Some(half) = half {
                let spot = self.spot(state, &half.address);
                *value = self.load(state, spot, instruction.address, context, origin);
            }
        }
        for (register, value) in registers.into_iter().zip(values) {
            if let Some(register) = register {
                state.set(Location::Register(register), value);
            }
        }
    }

    fn store_pair(
        &mut self,
        state: &mut State,
        instruction: &Instruction,
        sources: [ValueSource; 2],
        context: &Context<'_>,
    ) {
        for (source, half) in sources.into_iter().zip(halves(instruction)) {
            let value = self.source(state, source, instruction, context, 0);
            self.store(state, half.as_ref(), value);
        }
    }

    /// Only x86 has it.
    fn push(
        &mut self,
        state: &mut State,
        from: ValueSource,
        instruction: &Instruction,
        context: &Context<'_>,
    ) {
        let value = self.source(state, from, instruction, context, 0);
        let top = self.add(state.register(Register::RSP), Value::Number(8_u64.wrapping_neg()));
        state.set(Location::Register(Register::RSP), top);
        if let Value::Stack(offset) = top {
            state.set(Location::Slot(offset), value);
        }
    }

    /// Only x86 has it.
    fn pop(
        &mut self,
        state: &mut State,
        to: Option<Register>,
        at: u64,
        context: &Context<'_>,
        origin: Origin,
    ) {
        let top = state.register(Register::RSP);
        let value = match top {
            Value::Stack(offset) => self.load(state, Spot::Stack(offset), at, context, origin),
            _ => Value::Word(origin),
        };
        if let Some(to) = to {
            state.set(Location::Register(to), value);
        }
        let next = self.add(top, Value::Number(8));
        if to != Some(Register::RSP) {
            state.set(Location::Register(Register::RSP), next);
        }
    }

    fn either(&mut self, a: Value, b: Value, origin: Origin) -> Value {
        let (a, b) = if a == b { (a, b) } else { (self.as_pointer(a), self.as_pointer(b)) };
        super::value::join(&mut self.types, a, b, origin)
    }

    fn sum(&mut self, a: Value, b: Value, subtract: bool) -> Value {
        if !subtract {
            return self.add(a, b);
        }
        match b {
            Value::Number(number) => self.add(a, Value::Number(number.wrapping_neg())),
            _ => Value::UNKNOWN,
        }
    }

    fn source(
        &mut self,
        state: &State,
        from: ValueSource,
        instruction: &Instruction,
        context: &Context<'_>,
        origin: Origin,
    ) -> Value {
        match from {
            ValueSource::Register(register) => state.register(register),
            ValueSource::Number(number) => Value::Number(number as u64),
            ValueSource::System(system) => self.system(system, origin),
            ValueSource::Memory => match instruction.operand() {
                Some(memory) => {
                    let spot = self.spot(state, &memory.address);
                    self.load(state, spot, instruction.address, context, origin)
                }
                None => Value::Word(origin),
            },
        }
    }

    fn store(&mut self, state: &mut State, memory: Option<&Memory>, value: Value) {
        let Some(memory) = memory else { return };
        if let Spot::Stack(offset) = self.spot(state, &memory.address) {
            if memory.size == 8 {
                state.set(Location::Slot(offset), value);
            } else {
                state.spoil(offset, u64::from(memory.size.max(1)));
            }
        }
    }

    /// Memory an instruction writes in a way nobody follows.
    fn spoil_written_memory(&mut self, state: &mut State, instruction: &Instruction) {
        for memory in instruction.memory().filter(|memory| memory.access.is_write() && !memory.is_implicit) {
            self.store(state, Some(memory), Value::UNKNOWN);
        }
    }

    fn call(
        &mut self,
        state: &mut State,
        instruction: &Instruction,
        callee: Callee,
        context: &Context<'_>,
        origin: Origin,
    ) {
        let target = match context.returned.get(&instruction.address) {
            Some(target) => *target,
            None => self.indirect_target(state, instruction, callee, context),
        };
        spoil_reachable(state, self.program.architecture.arguments());
        clobber(state, (context.clobbered)(instruction), 0);
        let refined = context.refined.get(&origin).copied();
        let returned =
            refined.or_else(|| target.filter(|ty| *ty != Ty::VOID).map(|ty| Place { ty, offset: 0 }));
        let value = returned.map_or(Value::Word(origin), |place| Value::to(place, origin));
        state.set(Location::Register(self.program.architecture.result()), value);
    }

    /// What a call through a pointer returns, by the type of the pointer.
    fn indirect_target(
        &mut self,
        state: &State,
        instruction: &Instruction,
        callee: Callee,
        context: &Context<'_>,
    ) -> Option<Ty> {
        let pointer = match callee {
            Callee::Direct(_) => return None,
            Callee::Register(register) => state.register(register),
            Callee::Memory => self.source(state, ValueSource::Memory, instruction, context, 0),
        };
        match pointer {
            Value::Pointer(pointer) => self.returns(pointer.ty),
            _ => None,
        }
    }
}

/// Registers get values nobody knows.
fn clobber(state: &mut State, written: Registers, origin: Origin) {
    for register in written.iter() {
        state.set(Location::Register(register), Value::Word(origin));
    }
}

/// A callee may change what its arguments point to.
fn spoil_reachable(state: &mut State, arguments: &[Register]) {
    for register in arguments {
        if let Value::Stack(offset) = state.register(*register) {
            state.spoil(offset, 64);
        }
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

/// The lower four bytes of a value. Those of an error code are no error code.
fn narrowed(value: Value, origin: Origin) -> Value {
    match value {
        Value::Number(number) => Value::Number(number & 0xffff_ffff),
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
pub fn region_at(state: &State, regions: &[Region], at: u64, offset: i64) -> Option<Place> {
    let begun = regions.partition_point(|region| region.begin <= at);
    let holding = regions.get(..begun)?.iter().rev().filter(|region| region.end > at);
    let places = holding.filter_map(|region| {
        let begin = frame_offset(state, region.subject)?;
        Some(Place { ty: region.ty, offset: offset.checked_sub(begin)? })
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
