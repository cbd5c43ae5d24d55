//! Abstract values of all registers and of the stack at one instruction.

use super::value::{Origin, Value, join};
use crate::types::TypeSpace;
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::machine::Register;

/// How many stack slots are followed; the rest is not known.
const MAX_SLOTS: usize = 256;

/// Values of registers and stack slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    registers: [Value; Register::COUNT],
    /// Slots of 8 bytes by distance from the canonical frame address; sorted.
    slots: Vec<(i64, Value)>,
}

/// A register or stack slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueLocation {
    /// A register.
    Register(Register),
    /// The 8 bytes at a distance from the canonical frame address.
    Slot(i64),
}

impl State {
    /// Nothing is known.
    pub fn unknown() -> Self {
        Self { registers: [Value::UNKNOWN; Register::COUNT], slots: Vec::new() }
    }

    /// At the entry of a function: the stack pointer is near the frame address.
    pub fn entry(architecture: Architecture) -> Self {
        let mut state = Self::unknown();
        let stack = Value::Stack(architecture.entry_stack_offset());
        state.set(ValueLocation::Register(architecture.stack_pointer()), stack);
        state
    }

    /// A register's value.
    pub fn register(&self, register: Register) -> Value {
        self.registers.get(register.index()).copied().unwrap_or(Value::UNKNOWN)
    }

    /// A location's value.
    pub fn get(&self, location: ValueLocation) -> Value {
        match location {
            ValueLocation::Register(register) => self.register(register),
            ValueLocation::Slot(offset) => {
                let found = self.slots.binary_search_by_key(&offset, |(slot, _)| *slot).ok();
                found.and_then(|index| self.slots.get(index)).map_or(Value::UNKNOWN, |(_, value)| *value)
            }
        }
    }

    /// Gives a location a value.
    pub fn set(&mut self, location: ValueLocation, value: Value) {
        match location {
            ValueLocation::Register(register) => {
                if let Some(place) = self.registers.get_mut(register.index()) {
                    *place = value;
                }
            }
            ValueLocation::Slot(offset) => {
                self.invalidate(offset, 8);
                let index = self.slots.partition_point(|(slot, _)| *slot < offset);
                if value != Value::UNKNOWN && self.slots.len() < MAX_SLOTS {
                    self.slots.insert(index, (offset, value));
                }
            }
        }
    }

    /// Forgets slots that overlap some bytes.
    pub fn invalidate(&mut self, offset: i64, size: u64) {
        let end = offset.saturating_add_unsigned(size);
        self.slots.retain(|(slot, _)| slot.saturating_add(8) <= offset || *slot >= end);
    }

    /// Locations that may hold something known.
    pub fn locations(&self) -> impl Iterator<Item = (ValueLocation, Value)> + '_ {
        let registers = (0..Register::COUNT).filter_map(Register::new);
        let registers =
            registers.map(|register| (ValueLocation::Register(register), self.register(register)));
        registers.chain(self.slots.iter().map(|(slot, value)| (ValueLocation::Slot(*slot), *value)))
    }

    /// Joins another state into this one; whether it changed. `phi_origin` gives the origin of a location's
    /// value where those of the two states differ; `to_pointer` makes a pointer of a number that is a variable's
    /// address, if only that helps.
    pub fn join(
        &mut self,
        other: &Self,
        types: &mut TypeSpace<'_, '_>,
        phi_origin: impl Fn(ValueLocation) -> Origin,
        mut to_pointer: impl FnMut(&mut TypeSpace<'_, '_>, Value) -> Value,
    ) -> bool {
        let mut changed = false;
        let is_address = |value: Value| matches!(value, Value::Number(_)) && !value.is_null();
        let mut join = |mine: &mut Value, theirs: Value, at: ValueLocation| {
            if *mine == theirs {
                return;
            }
            let (a, b) = match is_address(*mine) || is_address(theirs) {
                true => (to_pointer(types, *mine), to_pointer(types, theirs)),
                false => (*mine, theirs),
            };
            let joined = join(types, a, b, phi_origin(at));
            changed |= joined != *mine;
            *mine = joined;
        };
        let registers = (0..Register::COUNT).filter_map(Register::new);
        for (register, mine) in registers.zip(&mut self.registers) {
            join(mine, other.register(register), ValueLocation::Register(register));
        }
        self.slots.retain_mut(|(slot, mine)| {
            let at = ValueLocation::Slot(*slot);
            join(mine, other.get(at), at);
            *mine != Value::UNKNOWN
        });
        changed
    }

    /// Makes unknown what differs from another state; whether it changed.
    pub fn forget_differences(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            if mine != theirs && *mine != Value::UNKNOWN {
                *mine = Value::UNKNOWN;
                changed = true;
            }
        }
        let before = self.slots.len();
        self.slots.retain(|(slot, mine)| other.get(ValueLocation::Slot(*slot)) == *mine);
        changed | (self.slots.len() != before)
    }
}
