//! Where an address leads: what values mean when they are added up.

use super::state::State;
use super::value::{Pointer, Spot, Value, is_null};
use super::world::World;
use crate::types::Place;
use fieldline_machinecode::machine::Address;

impl World<'_> {
    /// Where an address leads in a state.
    pub fn spot(&mut self, state: &State, address: &Address) -> Spot {
        let base = address.base.map_or(Value::Number(0), |register| state.register(register));
        let index = address
            .index
            .map_or(Value::Number(0), |register| scaled(state.register(register), address.scale));
        let own = &self.program.per_cpu;
        let (per_cpu, bias) = (address.segment == own.segment, own.bias);
        // Numbers first: only all of them together are the address of a variable.
        let (number, rest) = match (base, index) {
            (Value::Number(base), Value::Number(index)) => (base.wrapping_add(index), [None, None]),
            (Value::Number(number), other) | (other, Value::Number(number)) => (number, [Some(other), None]),
            (a, b) => (0, [Some(a), Some(b)]),
        };
        let number = Value::Number(number.wrapping_add(address.displacement as u64));
        match rest {
            // The value of a symbol is the number and the bias.
            [None, _] => spot(self.add(number, Value::Number(if per_cpu { bias } else { 0 })), per_cpu),
            [Some(Value::Word(_) | Value::Null), None] if address.index.is_some() => element(number, per_cpu),
            [Some(value), None] => spot(self.add(value, number), per_cpu),
            [Some(Value::Word(_) | Value::Null), Some(value)]
            | [Some(value), Some(Value::Word(_) | Value::Null)] => element(self.add(value, number), per_cpu),
            [Some(a), Some(b)] => {
                let sum = self.add(a, b);
                spot(self.add(sum, number), per_cpu)
            }
        }
    }

    /// The sum of two values.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => Value::Number(a.wrapping_add(b)),
            (other, Value::Number(0)) | (Value::Number(0), other) => other,
            (Value::Pointer(pointer), Value::Number(number))
            | (Value::Number(number), Value::Pointer(pointer)) => {
                let moved = pointer.moved(number as i64);
                moved.map_or(Value::UNKNOWN, Value::Pointer)
            }
            (Value::Stack(offset), Value::Number(number)) | (Value::Number(number), Value::Stack(offset)) => {
                Value::Stack(offset.wrapping_add(number as i64))
            }
            (Value::Stack(_) | Value::Frame, Value::Word(_))
            | (Value::Word(_), Value::Stack(_) | Value::Frame) => Value::Frame,
            (Value::Frame, Value::Number(_)) | (Value::Number(_), Value::Frame) => Value::Frame,
            (Value::Pointer(pointer), Value::Word(_)) | (Value::Word(_), Value::Pointer(pointer)) => {
                self.indexed(Spot::Element(pointer))
            }
            (Value::PerCpuOffset, Value::Number(number)) | (Value::Number(number), Value::PerCpuOffset) => {
                let number = number.wrapping_add(self.program.per_cpu.bias);
                self.per_cpu_variable(number).map_or(Value::UNKNOWN, |place| Value::to(place, 0))
            }
            // A pointer to dynamic per-CPU data is a distance of the type it points to.
            (Value::PerCpuOffset, Value::Pointer(pointer))
            | (Value::Pointer(pointer), Value::PerCpuOffset) => Value::Pointer(pointer),
            (Value::Number(number), Value::Word(_)) | (Value::Word(_), Value::Number(number))
                if !is_null(number) =>
            {
                self.indexed(element(Value::Number(number), false))
            }
            // What is no address is none a few bytes further on either.
            (Value::Null, Value::Number(number)) | (Value::Number(number), Value::Null)
                if is_null(number) =>
            {
                Value::Null
            }
            _ => Value::UNKNOWN,
        }
    }

    fn per_cpu_variable(&mut self, address: u64) -> Option<Place> {
        self.program.per_cpu.range.contains(&address).then(|| self.variable(address))?
    }

    /// The numbers of per-CPU variables are distances, and small enough to be those of members in large structs.
    fn flat_variable(&mut self, address: u64) -> Option<Place> {
        (!self.program.per_cpu.range.contains(&address)).then(|| self.variable(address))?
    }

    /// The address of an element whose index is not known, as a pointer: into the element.
    pub fn indexed(&mut self, spot: Spot) -> Value {
        let place = match spot {
            Spot::FixedElement { address, per_cpu: true } => self.per_cpu_variable(address),
            Spot::FixedElement { address, per_cpu: false } => self.flat_variable(address),
            Spot::Element(pointer) => pointer.first(),
            _ => None,
        };
        let Some(place) = place else { return Value::UNKNOWN };
        let element = self.in_element(place);
        // From the start of a struct the way to the array in it may come later.
        if self.types.is_aggregate(place.ty) && (place.offset == 0 || element.is_none()) {
            let pointer = Value::to(place, 0).pointer();
            return pointer.map_or(Value::UNKNOWN, |pointer| Value::Pointer(pointer.indexed()));
        }
        element.map_or(Value::UNKNOWN, |element| Value::to(element, 0))
    }

    /// The place in an element of the array around a place.
    fn in_element(&mut self, place: Place) -> Option<Place> {
        if let Some(element) = self.types.array_at(place) {
            return Some(Place { ty: element.element, offset: element.offset });
        }
        self.types.in_number(place)
    }

    /// The place a pointer points to; with an index that is not known, the place in the element.
    pub fn pointed(&mut self, pointer: Pointer) -> Option<Place> {
        match pointer.is_indexed {
            true => pointer.first().and_then(|first| self.in_element(first)),
            false => pointer.place(),
        }
    }

    /// The value of an address as it is written. What is no place (null) has a value all the same.
    pub fn address_of(&mut self, state: &State, address: &Address) -> Value {
        if let (Some(base), None) = (address.base, address.index) {
            return self.add(state.register(base), Value::Number(address.displacement as u64));
        }
        match self.spot(state, address) {
            Spot::Unknown => Value::UNKNOWN,
            Spot::Fixed { address, .. } => Value::Number(address),
            Spot::Stack(offset) => Value::Stack(offset),
            Spot::Frame => Value::Frame,
            Spot::Pointer(pointer) => Value::Pointer(pointer),
            spot @ (Spot::FixedElement { .. } | Spot::Element(_)) => self.indexed(spot),
        }
    }

    /// What lies at a spot that is not on the stack. Of an element whose index is not known, the place in the element.
    pub fn place(&mut self, spot: Spot) -> Option<Place> {
        match spot {
            Spot::Fixed { address, per_cpu: true } => self.per_cpu_variable(address),
            Spot::Fixed { address, per_cpu: false } => self.flat_variable(address),
            Spot::Pointer(pointer) => pointer.place(),
            Spot::FixedElement { .. } | Spot::Element(_) => {
                let pointer = self.indexed(spot).pointer()?;
                self.pointed(pointer)
            }
            Spot::Unknown | Spot::Stack(_) | Spot::Frame => None,
        }
    }
}

/// An index times its scale.
fn scaled(value: Value, scale: u8) -> Value {
    match (value, scale) {
        (Value::Number(index), 1..) => Value::Number(index.wrapping_mul(u64::from(scale))),
        (_, 1) => value,
        _ => Value::UNKNOWN,
    }
}

fn spot(value: Value, per_cpu: bool) -> Spot {
    match value {
        Value::Number(address) => Spot::Fixed { address, per_cpu },
        Value::Stack(offset) => Spot::Stack(offset),
        Value::Frame => Spot::Frame,
        Value::Pointer(pointer) if pointer.is_indexed => Spot::Element(pointer),
        Value::Pointer(pointer) => Spot::Pointer(pointer),
        Value::Null | Value::PerCpuOffset | Value::Word(_) => Spot::Unknown,
    }
}

fn element(value: Value, per_cpu: bool) -> Spot {
    match value {
        Value::Number(address) => Spot::FixedElement { address, per_cpu },
        Value::Pointer(pointer) => Spot::Element(pointer),
        Value::Stack(_) | Value::Frame => Spot::Frame,
        _ => Spot::Unknown,
    }
}
