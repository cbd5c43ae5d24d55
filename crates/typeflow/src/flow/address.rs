//! Abstract addresses: sums of abstract values.

use super::state::State;
use super::unit_context::UnitContext;
use super::value::{AbstractAddress, Pointer, Value, greatest_common_divisor, is_null};
use crate::types::TypeOffset;
use fieldline_debuginfo::LinkedAddress;
use fieldline_machinecode::machine::{Address, Register};

impl UnitContext<'_> {
    /// The abstract address of an operand in a state.
    pub fn resolve_address(&mut self, state: &State, address: &Address) -> AbstractAddress {
        let (base, index) = base_and_index(state, address);
        let per_cpu_area = &self.program.per_cpu;
        let (per_cpu, bias) = (address.segment == per_cpu_area.segment, per_cpu_area.segment_bias);
        // Numbers first: only all of them together are the address of a variable.
        let (number, rest) = match (base, index) {
            (Value::Number(base), Value::Number(index)) => (base.wrapping_add(index), [None, None]),
            (Value::Number(number), other) | (other, Value::Number(number)) => (number, [Some(other), None]),
            (a, b) => (0, [Some(a), Some(b)]),
        };
        let number = Value::Number(number.wrapping_add(address.displacement as u64));
        match rest {
            // The value of a symbol is the number and the bias.
            [None, _] => to_abstract_address(
                self.add_values(number, Value::Number(if per_cpu { bias } else { 0 })),
                per_cpu,
            ),
            [Some(value), None] if value.is_opaque() && address.index.is_some() => {
                to_element_address(number, per_cpu)
            }
            [Some(value), None] => to_abstract_address(self.add_values(value, number), per_cpu),
            [Some(index), Some(value)] | [Some(value), Some(index)] if index.is_opaque() => {
                let first = self.add_values(value, number);
                match self.move_by_multiple(first, index) {
                    Some(moved) => AbstractAddress::Pointer(moved),
                    None => to_element_address(first, per_cpu),
                }
            }
            [Some(a), Some(b)] => {
                let sum = self.add_values(a, b);
                to_abstract_address(self.add_values(sum, number), per_cpu)
            }
        }
    }

    /// The sum of two values.
    pub fn add_values(&mut self, a: Value, b: Value) -> Value {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => Value::Number(a.wrapping_add(b)),
            (other, Value::Number(0)) | (Value::Number(0), other) => other,
            (Value::Pointer(pointer), Value::Number(number))
            | (Value::Number(number), Value::Pointer(pointer)) => {
                let offset_pointer = pointer.offset_by(&mut self.types, number as i64);
                offset_pointer.map_or(Value::UNKNOWN, Value::Pointer)
            }
            (Value::Stack(offset), Value::Number(number)) | (Value::Number(number), Value::Stack(offset)) => {
                Value::Stack(offset.wrapping_add(number as i64))
            }
            (Value::Stack(_) | Value::Frame, Value::Word(_) | Value::Multiple(_))
            | (Value::Word(_) | Value::Multiple(_), Value::Stack(_) | Value::Frame) => Value::Frame,
            (Value::Frame, Value::Number(_)) | (Value::Number(_), Value::Frame) => Value::Frame,
            (Value::Pointer(pointer), index @ (Value::Word(_) | Value::Multiple(_)))
            | (index @ (Value::Word(_) | Value::Multiple(_)), Value::Pointer(pointer)) => {
                match self.move_by_multiple(Value::Pointer(pointer), index) {
                    Some(moved) => Value::Pointer(moved),
                    None => self.index_pointer(AbstractAddress::Element(pointer)),
                }
            }
            (Value::Multiple(_), Value::Multiple(_)) => sum_of_multiples(a, b),
            (Value::Multiple(_), Value::Number(number)) | (Value::Number(number), Value::Multiple(_))
                if is_null(number) =>
            {
                sum_of_multiples(a, b)
            }
            (Value::PerCpuOffset, Value::Number(number)) | (Value::Number(number), Value::PerCpuOffset) => {
                let number = number.wrapping_add(self.program.per_cpu.segment_bias);
                self.per_cpu_variable(number).map_or(Value::UNKNOWN, |place| Value::pointer_to(place, 0))
            }
            // A pointer to dynamic per-CPU data is a distance of the type it points to.
            (Value::PerCpuOffset, Value::Pointer(pointer))
            | (Value::Pointer(pointer), Value::PerCpuOffset) => Value::Pointer(pointer),
            (Value::Number(number), Value::Word(_) | Value::Multiple(_))
            | (Value::Word(_) | Value::Multiple(_), Value::Number(number))
                if !is_null(number) =>
            {
                self.index_pointer(to_element_address(Value::Number(number), false))
            }
            // A number that is no address is none a few bytes further on either.
            (Value::Null, Value::Number(number)) | (Value::Number(number), Value::Null)
                if is_null(number) =>
            {
                Value::Null
            }
            _ => Value::UNKNOWN,
        }
    }

    /// A pointer moved by an index that is a known multiple, if that leads to elements of an array of its type.
    fn move_by_multiple(&mut self, pointer: Value, index: Value) -> Option<Pointer> {
        let Value::Multiple(factor) = index else { return None };
        pointer.pointer()?.moved_by_multiple(&mut self.types, factor.into())
    }

    fn per_cpu_variable(&mut self, address: u64) -> Option<TypeOffset> {
        let address = LinkedAddress(address);
        self.program.per_cpu.range.contains(&address).then(|| self.variable(address))?
    }

    /// The numbers of per-CPU variables are distances, and small enough to be those of members in large
    /// structs.
    fn flat_variable(&mut self, address: u64) -> Option<TypeOffset> {
        let address = LinkedAddress(address);
        (!self.program.per_cpu.range.contains(&address)).then(|| self.variable(address))?
    }

    /// The address of an element whose index is not known, as a pointer: into the element.
    pub fn index_pointer(&mut self, spot: AbstractAddress) -> Value {
        let place = match spot {
            AbstractAddress::FixedElement { address, per_cpu: true } => self.per_cpu_variable(address),
            AbstractAddress::FixedElement { address, per_cpu: false } => self.flat_variable(address),
            AbstractAddress::Element(pointer) => pointer.first_location(),
            _ => None,
        };
        let Some(place) = place else { return Value::UNKNOWN };
        let element = self.location_in_element(place);
        // From the start of a struct the offset of the array in it may be added later.
        if self.types.is_aggregate(place.ty) && (place.offset == 0 || element.is_none()) {
            let pointer = Value::pointer_to(place, 0).pointer();
            return pointer.map_or(Value::UNKNOWN, |pointer| Value::Pointer(pointer.with_unknown_index()));
        }
        element.map_or(Value::UNKNOWN, |element| Value::pointer_to(element, 0))
    }

    /// The place in an element of the array around a place.
    fn location_in_element(&mut self, place: TypeOffset) -> Option<TypeOffset> {
        if let Some(element) = self.types.array_at(place) {
            return Some(TypeOffset { ty: element.element, offset: element.offset });
        }
        self.types.wrap_in_scalar(place)
    }

    /// The place a pointer points to; with an index that is not known, the place in the element.
    pub fn pointed_location(&mut self, pointer: Pointer) -> Option<TypeOffset> {
        match pointer.is_indexed {
            true => pointer.first_location().and_then(|first| self.location_in_element(first)),
            false => pointer.location(),
        }
    }

    /// The value of an address as it is written. A null address has a value too.
    pub fn compute_address(&mut self, state: &State, address: &Address) -> Value {
        if let (Some(base), None) = (address.base, address.index) {
            return self.add_values(state.register(base), Value::Number(address.displacement as u64));
        }
        let (base, index) = base_and_index(state, address);
        let displacement = Value::Number(address.displacement as u64);
        if let (Value::Number(0), Value::Multiple(_), true) = (base, index, displacement.is_null()) {
            return sum_of_multiples(index, displacement);
        }
        match self.resolve_address(state, address) {
            AbstractAddress::Unknown => Value::UNKNOWN,
            AbstractAddress::Fixed { address, .. } => Value::Number(address),
            AbstractAddress::Stack(offset) => Value::Stack(offset),
            AbstractAddress::Frame => Value::Frame,
            AbstractAddress::Pointer(pointer) => Value::Pointer(pointer),
            spot @ (AbstractAddress::FixedElement { .. } | AbstractAddress::Element(_)) => {
                self.index_pointer(spot)
            }
        }
    }

    /// The type and offset at an address off the stack. Of an element whose index is not known, the offset in
    /// the element.
    pub fn location_at(&mut self, spot: AbstractAddress) -> Option<TypeOffset> {
        match spot {
            AbstractAddress::Fixed { address, per_cpu: true } => self.per_cpu_variable(address),
            AbstractAddress::Fixed { address, per_cpu: false } => self.flat_variable(address),
            AbstractAddress::Pointer(pointer) => pointer.location(),
            AbstractAddress::FixedElement { .. } | AbstractAddress::Element(_) => {
                let pointer = self.index_pointer(spot).pointer()?;
                self.pointed_location(pointer)
            }
            AbstractAddress::Unknown | AbstractAddress::Stack(_) | AbstractAddress::Frame => None,
        }
    }
}

/// The values of an address's base, and of its index times the scale. One register that is both is an index.
fn base_and_index(state: &State, address: &Address) -> (Value, Value) {
    let value = |register: Option<Register>| register.map_or(Value::Number(0), |name| state.register(name));
    let (base, index) = (value(address.base), value(address.index));
    match address.scale {
        Some(scale) if address.base == address.index && index.is_opaque() => {
            (Value::Number(0), Value::multiple_of(index.factor().saturating_mul(u64::from(scale) + 1)))
        }
        scale if address.index.is_some() => (base, scale_index(index, scale)),
        _ => (base, index),
    }
}

/// An index times its scale.
fn scale_index(value: Value, scale: Option<u8>) -> Value {
    match (value, scale) {
        (Value::Number(index), Some(scale)) => Value::Number(index.wrapping_mul(u64::from(scale))),
        (_, Some(1)) => value,
        (_, Some(scale)) => Value::multiple_of(value.factor().saturating_mul(scale.into())),
        (_, None) => Value::UNKNOWN,
    }
}

/// The sum of a multiple and a number or another multiple.
fn sum_of_multiples(a: Value, b: Value) -> Value {
    Value::multiple_of(greatest_common_divisor(a.factor(), b.factor()))
}

fn to_abstract_address(value: Value, per_cpu: bool) -> AbstractAddress {
    match value {
        Value::Number(address) => AbstractAddress::Fixed { address, per_cpu },
        Value::Stack(offset) => AbstractAddress::Stack(offset),
        Value::Frame => AbstractAddress::Frame,
        Value::Pointer(pointer) if pointer.is_indexed => AbstractAddress::Element(pointer),
        Value::Pointer(pointer) => AbstractAddress::Pointer(pointer),
        Value::Null | Value::PerCpuOffset | Value::Word(_) | Value::Multiple(_) => AbstractAddress::Unknown,
    }
}

fn to_element_address(value: Value, per_cpu: bool) -> AbstractAddress {
    match value {
        Value::Number(address) => AbstractAddress::FixedElement { address, per_cpu },
        Value::Pointer(pointer) => AbstractAddress::Element(pointer),
        Value::Stack(_) | Value::Frame => AbstractAddress::Frame,
        _ => AbstractAddress::Unknown,
    }
}
