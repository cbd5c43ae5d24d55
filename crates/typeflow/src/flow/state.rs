//! What is known of all registers and of the stack at one instruction.

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
pub enum Location {
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
        let stack = Value::Stack(architecture.entry_stack());
        state.set(Location::Register(architecture.stack()), stack);
        state
    }

    /// A register's value.
    pub fn register(&self, register: Register) -> Value {
        self.registers.get(register.index()).copied().unwrap_or(Value::UNKNOWN)
    }

    /// A location's value.
    pub fn get(&self, location: Location) -> Value {
        match location {
            Location::Register(register) => self.register(register),
            Location::Slot(offset) => {
                let found = self.slots.binary_search_by_key(&offset, |(slot, _)| *slot).ok();
                found.and_then(|index| self.slots.get(index)).map_or(Value::UNKNOWN, |(_, value)| *value)
            }
        }
    }

    /// Gives a location a value.
    pub fn set(&mut self, location: Location, value: Value) {
        match location {
            Location::Register(register) => {
                if let Some(place) = self.registers.get_mut(register.index()) {
                    *place = value;
                }
            }
            Location::Slot(offset) => {
                self.spoil(offset, 8);
                let place = self.slots.partition_point(|(slot, _)| *slot < offset);
                if value != Value::UNKNOWN && self.slots.len() < MAX_SLOTS {
                    self.slots.insert(place, (offset, value));
                }
            }
        }
    }

    /// Forgets slots that overlap some bytes.
    pub fn spoil(&mut self, offset: i64, size: u64) {
        let end = offset.saturating_add_unsigned(size);
        self.slots.retain(|(slot, _)| slot.saturating_add(8) <= offset || *slot >= end);
    }

    /// Locations that may hold something known.
    pub fn locations(&self) -> impl Iterator<Item = (Location, Value)> + '_ {
        let registers = (0..Register::COUNT).filter_map(Register::new);
        let registers = registers.map(|register| (Location::Register(register), self.register(register)));
        registers.chain(self.slots.iter().map(|(slot, value)| (Location::Slot(*slot), *value)))
    }

    /// Joins another state into this one; whether it changed. `meeting` gives the origin of a location's value where those
    /// of the two states differ; `read` makes a pointer of a number that is a variable's address, if only that helps.
    pub fn join(
        &mut self,
        other: &Self,
        types: &mut TypeSpace<'_, '_>,
        meeting: impl Fn(Location) -> Origin,
        mut read: impl FnMut(&mut TypeSpace<'_, '_>, Value) -> Value,
    ) -> bool {
        let mut changed = false;
        let is_address = |value: Value| matches!(value, Value::Number(_)) && !value.is_null();
        let mut join = |mine: &mut Value, theirs: Value, at: Location| {
            if *mine == theirs {
                return;
            }
            let (a, b) = match is_address(*mine) || is_address(theirs) {
                true => (read(types, *mine), read(types, theirs)),
                false => (*mine, theirs),
            };
            let joined = join(types, a, b, meeting(at));
            changed |= joined != *mine;
            *mine = joined;
        };
        let registers = (0..Register::COUNT).filter_map(Register::new);
        for (register, mine) in registers.zip(&mut self.registers) {
            join(mine, other.register(register), Location::Register(register));
        }
        self.slots.retain_mut(|(slot, mine)| {
            let at = Location::Slot(*slot);
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
        self.slots.retain(|(slot, mine)| other.get(Location::Slot(*slot)) == *mine);
        changed | (self.slots.len() != before)
    }
}
