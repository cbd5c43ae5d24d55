//! The transfer function: the effect of an instruction on a state.

use super::facts::{FactSubject, VariableFact};
use super::state::{State, ValueLocation};
use super::unit_context::UnitContext;
use super::value::{AbstractAddress, Origin, Value, join};
use crate::types::{Ty, TypeOffset};
use fieldline_debuginfo::LinkedAddress;
use fieldline_machinecode::machine::{
    Address, Callee, Effect, Flow, Instruction, MemoryOperand, Register, Registers, ValueSource,
};
use rustc_hash::FxHashMap;

/// Inputs of the transfer function besides the state.
pub struct TransferContext<'c> {
    /// Variables in the frame.
    pub regions: &'c [VariableFact],
    /// Refined types of values, by origin.
    pub refined: &'c FxHashMap<Origin, TypeOffset>,
    /// Types that returned pointers point to, by address of the call.
    pub returned: &'c FxHashMap<u64, Option<Ty>>,
    /// Registers that a call may change.
    pub clobbered: &'c dyn Fn(&Instruction) -> Registers,
}

/// The first origin of a value a register has at the entry; smaller ones are of values instructions make.
pub const FIRST_ARGUMENT: Origin = 0x1000_0000;
/// The first origin of a phi.
const FIRST_PHI: Origin = 0x2000_0000;
const REGISTER_BITS: u32 = Register::COUNT.ilog2();

/// The origin of a value an instruction makes.
pub fn instruction_origin(instruction: usize) -> Origin {
    u32::try_from(instruction + 1).ok().filter(|origin| *origin < FIRST_ARGUMENT).unwrap_or(0)
}

/// The origin of the value a register has at the entry.
pub fn argument_origin(register: Register) -> Origin {
    FIRST_ARGUMENT + register.index() as u32
}

/// The origin of a phi: a value joined at the start of a block.
pub fn phi_origin(block: u32, location: ValueLocation) -> Origin {
    match location {
        ValueLocation::Register(register) if block < 0x0100_0000 => {
            FIRST_PHI | block << REGISTER_BITS | register.index() as u32
        }
        _ => 0,
    }
}

/// The block and register of a phi's origin.
pub fn phi_location(origin: Origin) -> Option<(u32, Register)> {
    let register = Register::new(origin as usize % Register::COUNT)?;
    (origin & FIRST_PHI != 0).then_some(((origin & (FIRST_PHI - 1)) >> REGISTER_BITS, register))
}

impl UnitContext<'_> {
    fn load_location(&mut self, place: Option<TypeOffset>, origin: Origin) -> Value {
        let place = place.map(|place| self.relocate_to_container(place).unwrap_or(place));
        let leaf = place.and_then(|place| self.types.scalar_at(place, 8));
        match leaf.and_then(|leaf| self.types.pointee(leaf)) {
            Some(Ty::VOID) | None => Value::Word(origin),
            Some(ty) => Value::pointer_to(TypeOffset { ty, offset: 0 }, origin),
        }
    }

    fn is_per_cpu_offset(&self, spot: AbstractAddress) -> bool {
        let per_cpu = &self.program.per_cpu;
        match spot {
            AbstractAddress::Fixed { address, per_cpu: true } => per_cpu.this_cpu_offset == Some(address),
            AbstractAddress::FixedElement { address, per_cpu: false } => per_cpu.cpu_offsets == Some(address),
            // With a known CPU: no kernel has more than 8192 (NR_CPUS of MAXSMP).
            AbstractAddress::Fixed { address, per_cpu: false } => per_cpu.cpu_offsets.is_some_and(|first| {
                address >= first
                    && address - first < 8 * 8192
                    && !per_cpu.range.contains(&LinkedAddress(address))
            }),
            _ => false,
        }
    }

    /// Runs an instruction.
    pub fn execute(
        &mut self,
        state: &mut State,
        index: usize,
        instruction: &Instruction,
        context: &TransferContext<'_>,
    ) {
        let origin = instruction_origin(index);
        let mut execution = InstructionExecution { world: self, state, instruction, context, origin };
        execution.compute();
        execution.apply_memory_effect();
        if let Some((base, distance)) = instruction.writeback {
            let moved = execution.add(base, distance as u64);
            execution.set(base, moved);
        }
        if let Flow::Call(callee) = instruction.flow {
            execution.call(callee);
        }
    }
}

/// The execution of one instruction.
struct InstructionExecution<'s, 'a> {
    world: &'s mut UnitContext<'a>,
    state: &'s mut State,
    instruction: &'s Instruction,
    context: &'s TransferContext<'s>,
    /// Origin of its results.
    origin: Origin,
}

impl InstructionExecution<'_, '_> {
    fn set(&mut self, register: Register, value: Value) {
        self.state.set(ValueLocation::Register(register), value);
    }

    /// A register's value and a number.
    fn add(&mut self, register: Register, number: u64) -> Value {
        self.world.add_values(self.state.register(register), Value::Number(number))
    }

    /// Registers get unknown values.
    fn clobber(&mut self, written: Registers, origin: Origin) {
        written.iter().for_each(|register| self.set(register, Value::Word(origin)));
    }

    /// The value of 8 bytes of memory.
    fn load(&mut self, spot: AbstractAddress, origin: Origin) -> Value {
        if let Some(place) = self.context.refined.get(&origin).filter(|_| origin != 0) {
            return Value::pointer_to(*place, origin);
        }
        if self.world.is_per_cpu_offset(spot) {
            return Value::PerCpuOffset;
        }
        if let AbstractAddress::Stack(offset) = spot {
            let slot = self.state.get(ValueLocation::Slot(offset));
            // What a variable is declared to be goes before a null it was initialised with: otherwise less
            // would be known before anything is stored there than after.
            let is_less_specific = matches!(slot, Value::Word(_)) || slot.is_null();
            if !is_less_specific {
                return slot;
            }
            let place = region_at(self.state, self.context.regions, self.instruction.address, offset);
            let place = place.filter(|place| self.world.types.is_inside(*place));
            return match self.world.load_location(place, origin) {
                Value::Word(_) if slot != Value::UNKNOWN => slot,
                loaded => loaded,
            };
        }
        if let Some(variable) = self.world.got_variable(spot) {
            return Value::pointer_to(variable, origin);
        }
        let place = self.world.location_at(spot);
        self.world.load_location(place, origin)
    }

    /// Effects on one register: arithmetic, moves and loads.
    fn compute(&mut self) {
        let origin = self.origin;
        let (to, value) = match self.instruction.effect {
            Effect::Move { to, from, is_narrow } => {
                let value = self.source_value(from, origin);
                // The lower four bytes of an error code are no error code.
                (to, if is_narrow { replace_bits(value, 0xffff_ffff, 0, origin) } else { value })
            }
            Effect::Lea { to, address } => (to, self.world.compute_address(self.state, &address)),
            Effect::Add { to, left: register, from, subtract } => {
                let value = self.source_value(from, 0);
                let sum = self.add_or_subtract(self.state.register(register), value, subtract);
                (to, if sum == Value::UNKNOWN { Value::Word(origin) } else { sum })
            }
            Effect::Multiply { to, from, factor } => {
                let product = match self.source_value(from, 0) {
                    Value::Number(number) => Value::Number(number.wrapping_mul(factor.into())),
                    value => Value::multiple_of(value.factor().saturating_mul(factor.into())),
                };
                (to, if product == Value::UNKNOWN { Value::Word(origin) } else { product })
            }
            Effect::And { to, source: register, mask } => {
                (to, mask_value(self.state.register(register), mask, origin))
            }
            Effect::Insert { to, mask, bits } => {
                (to, replace_bits(self.state.register(to), mask, bits, origin))
            }
            Effect::Choose { to, either, or } => {
                let (mut a, mut b) = (self.source_value(either, 0), self.source_value(or, 0));
                if a != b {
                    (a, b) = (self.world.as_pointer(a), self.world.as_pointer(b));
                }
                (to, join(&mut self.world.types, a, b, origin))
            }
            _ => return,
        };
        self.set(to, value);
    }

    /// Effects on memory, on several registers, and those that are not modelled.
    fn apply_memory_effect(&mut self) {
        let Self { instruction, origin, .. } = *self;
        match instruction.effect {
            Effect::Other => {
                self.invalidate_written_memory();
                self.clobber(instruction.written, origin);
            }
            Effect::Swap { a, b } => {
                let (value_a, value_b) = (self.state.register(a), self.state.register(b));
                self.set(a, value_b);
                self.set(b, value_a);
            }
            Effect::Exchange { register, is_plain } => {
                let loaded = self.source_value(ValueSource::Memory, origin);
                let stored = if is_plain { self.state.register(register) } else { Value::UNKNOWN };
                self.store(instruction.explicit_operand(), stored);
                self.clobber(instruction.written, origin);
                self.set(register, loaded);
            }
            Effect::Store { from } => {
                let is_memory = matches!(from, ValueSource::Memory);
                let value = if is_memory { Value::UNKNOWN } else { self.source_value(from, 0) };
                self.store(instruction.explicit_operand(), value);
                self.clobber(instruction.written, origin);
            }
            Effect::LoadPair { first, second } => self.load_pair([first, second]),
            Effect::StorePair { first, second } => {
                for (source, half) in [first, second].into_iter().zip(halves(instruction)) {
                    let value = self.source_value(source, 0);
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
        // Only one of both values can have an origin.
        let [first, second] = halves(self.instruction);
        let values = [(first, self.origin), (second, 0)].map(|(half, origin)| {
            let Some(half) = half else { return Value::UNKNOWN };
            let spot = self.world.resolve_address(self.state, &half.address);
            self.load(spot, origin)
        });
        for (register, value) in registers.into_iter().zip(values) {
            register.into_iter().for_each(|register| self.set(register, value));
        }
    }

    /// Only x86 has it.
    fn push(&mut self, from: ValueSource) {
        let value = self.source_value(from, 0);
        let top = self.add(Register::RSP, 8_u64.wrapping_neg());
        self.set(Register::RSP, top);
        if let Value::Stack(offset) = top {
            self.state.set(ValueLocation::Slot(offset), value);
        }
    }

    /// Only x86 has it.
    fn pop(&mut self, to: Option<Register>) {
        let top = self.state.register(Register::RSP);
        let value = match top {
            Value::Stack(offset) => self.load(AbstractAddress::Stack(offset), self.origin),
            _ => Value::Word(self.origin),
        };
        to.into_iter().for_each(|to| self.set(to, value));
        if to != Some(Register::RSP) {
            let next = self.world.add_values(top, Value::Number(8));
            self.set(Register::RSP, next);
        }
    }

    fn add_or_subtract(&mut self, a: Value, b: Value, subtract: bool) -> Value {
        match b {
            _ if !subtract => self.world.add_values(a, b),
            Value::Number(number) => self.world.add_values(a, Value::Number(number.wrapping_neg())),
            Value::Multiple(_) => self.world.add_values(a, b),
            _ => Value::UNKNOWN,
        }
    }

    fn source_value(&mut self, from: ValueSource, origin: Origin) -> Value {
        match from {
            ValueSource::Register(register) => self.state.register(register),
            ValueSource::Number(number) => Value::Number(number as u64),
            ValueSource::System(system) => self.world.system_register_value(system, origin),
            ValueSource::Memory => match self.instruction.explicit_operand() {
                Some(memory) => {
                    let spot = self.world.resolve_address(self.state, &memory.address);
                    self.load(spot, origin)
                }
                None => Value::Word(origin),
            },
        }
    }

    fn store(&mut self, memory: Option<&MemoryOperand>, value: Value) {
        let Some(memory) = memory else { return };
        if let AbstractAddress::Stack(offset) = self.world.resolve_address(self.state, &memory.address) {
            if memory.size == Some(8) {
                self.state.set(ValueLocation::Slot(offset), value);
            } else {
                self.state.invalidate(offset, u64::from(memory.size.unwrap_or(1)));
            }
        }
    }

    /// Memory that an unmodelled instruction writes.
    fn invalidate_written_memory(&mut self) {
        let written = |memory: &&MemoryOperand| memory.access.is_write() && !memory.is_implicit;
        for memory in self.instruction.memory_operands().filter(written) {
            self.store(Some(memory), Value::UNKNOWN);
        }
    }

    fn call(&mut self, callee: Callee) {
        let Self { context, origin, .. } = *self;
        let returned = context.returned.get(&self.instruction.address).copied();
        let target = returned.unwrap_or_else(|| self.indirect_target(callee));
        let architecture = self.world.program.architecture;
        // A callee may change what its arguments point to.
        for register in architecture.argument_registers() {
            if let Value::Stack(offset) = self.state.register(*register) {
                self.state.invalidate(offset, 64);
            }
        }
        self.clobber((context.clobbered)(self.instruction), 0);
        let target = target.filter(|ty| *ty != Ty::VOID).map(|ty| TypeOffset { ty, offset: 0 });
        let returned = context.refined.get(&origin).copied().or(target);
        let value = returned.map_or(Value::Word(origin), |place| Value::pointer_to(place, origin));
        self.set(architecture.result_register(), value);
    }

    /// The result type of a call through a pointer, by the type of the pointer.
    fn indirect_target(&mut self, callee: Callee) -> Option<Ty> {
        let pointer = match callee {
            Callee::Direct(_) => return None,
            Callee::Register(register) => self.state.register(register),
            Callee::Memory => self.source_value(ValueSource::Memory, 0),
        };
        self.world.returned_type(pointer.pointer()?.ty)
    }
}

/// Both halves of an operand of 16 bytes.
fn halves(instruction: &Instruction) -> [Option<MemoryOperand>; 2] {
    let half = |distance| {
        let memory = instruction.explicit_operand()?;
        let displacement = memory.address.displacement.wrapping_add(distance);
        Some(MemoryOperand { address: Address { displacement, ..memory.address }, size: Some(8), ..*memory })
    };
    [half(0), half(8)]
}

/// A value some bits of which are replaced.
fn replace_bits(value: Value, mask: u64, bits: u64, origin: Origin) -> Value {
    match value {
        Value::Number(number) => Value::Number(number & mask | bits),
        _ => Value::Word(origin),
    }
}

/// A value with bits cleared. Pointers carry flags in their lowest bits, which lead nowhere else.
fn mask_value(value: Value, mask: i64, origin: Origin) -> Value {
    match value {
        Value::Number(number) => Value::Number(number & mask as u64),
        // An aligned stack is a stack of its own, with places that differ from those before.
        Value::Stack(offset) if mask < 0 => Value::Stack(offset & mask),
        Value::Word(_) | Value::Pointer(_) if (-16..0).contains(&mask) => value,
        _ => Value::Word(origin),
    }
}

/// The variable in the frame that covers an offset while the program is at an instruction.
pub fn region_at(state: &State, regions: &[VariableFact], at: u64, offset: i64) -> Option<TypeOffset> {
    let begun = regions.partition_point(|region| region.begin <= at);
    let holding = regions.get(..begun)?.iter().rev().filter(|region| region.end > at);
    let places = holding.filter_map(|region| {
        let begin = frame_offset(state, region.subject)?;
        Some(TypeOffset { offset: offset.checked_sub(begin)?, ..region.place })
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
