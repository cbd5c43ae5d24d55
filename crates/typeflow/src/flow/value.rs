//! Abstract values of registers and stack slots: a finite lattice.
//!
//! From the bottom: one value; a pointer to a place in a type; a pointer to somewhere in a type; nothing.
//! Joining two goes up until one holds for both: for places of each other's wholes the smaller whole, as for
//! `&task->se` and `se`.

use crate::types::{Ty, TypeOffset, TypeSpace};

/// The instruction or phi that made a value, so that it can be refined later. 0: unknown.
pub type Origin = u32;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Nothing is known but where it was made.
    Word(Origin),
    /// A number.
    Number(u64),
    /// Some multiple of a number above 1: an index times the size of what it counts.
    Multiple(u32),
    /// Some number that is no address: null, a small one, an error code.
    Null,
    /// An address on the stack: distance from the canonical frame address.
    Stack(i64),
    /// An address somewhere on the stack.
    Frame,
    /// The offset that turns a per-CPU symbol into an address.
    PerCpuOffset,
    /// A pointer.
    Pointer(Pointer),
}

/// A pointer into something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// The outermost type that is known.
    pub ty: Ty,
    /// Bytes from its start; `None` if that is not known.
    pub offset: Option<i32>,
    /// Whether an index that is not known is added to the offset: of which array shows when the address is
    /// used.
    pub is_indexed: bool,
    /// Whether it leads to some element of an array of the type: the offset is that in the element.
    pub is_element: bool,
    /// Where it was made.
    pub origin: Origin,
}

/// The abstract address of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbstractAddress {
    /// Unknown.
    Unknown,
    /// To a fixed address, of a per-CPU variable if `per_cpu`.
    Fixed {
        /// The address as linked.
        address: u64,
        /// Whether each CPU has its own.
        per_cpu: bool,
    },
    /// To the stack, at a distance from the canonical frame address.
    Stack(i64),
    /// Somewhere on the stack.
    Frame,
    /// Into something, with nothing added that is not known.
    Pointer(Pointer),
    /// To some element behind a fixed address: the index is not known.
    FixedElement {
        /// Address of the first.
        address: u64,
        /// Whether each CPU has its own.
        per_cpu: bool,
    },
    /// To some element behind a pointer: the index is not known.
    Element(Pointer),
}

impl Value {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self::Word(0);

    /// A pointer to a place; unknown if the place is absurdly far off.
    pub fn pointer_to(place: TypeOffset, origin: Origin) -> Self {
        match i32::try_from(place.offset) {
            Ok(offset) => {
                let (is_indexed, is_element) = (false, false);
                Self::Pointer(Pointer { ty: place.ty, offset: Some(offset), is_indexed, is_element, origin })
            }
            Err(_) => Self::Word(origin),
        }
    }

    /// Some multiple of a number; unknown if that says nothing.
    pub fn multiple_of(factor: u64) -> Self {
        u32::try_from(factor).ok().filter(|factor| *factor > 1).map_or(Self::UNKNOWN, Self::Multiple)
    }

    /// A number that it is known to be a multiple of.
    pub fn factor(self) -> u64 {
        match self {
            Self::Number(number) => (number as i64).unsigned_abs(),
            Self::Multiple(factor) => factor.into(),
            _ => 1,
        }
    }

    /// Whether nothing is known of where it may point to.
    pub fn is_opaque(self) -> bool {
        matches!(self, Self::Word(_) | Self::Null | Self::Multiple(_))
    }

    /// Where it was made.
    pub fn origin(self) -> Origin {
        match self {
            Self::Word(origin) => origin,
            Self::Pointer(pointer) => pointer.origin,
            _ => 0,
        }
    }

    /// The pointer, if it is one.
    pub fn pointer(self) -> Option<Pointer> {
        if let Self::Pointer(pointer) = self { Some(pointer) } else { None }
    }

    /// Whether it is a number that is no address.
    pub fn is_null(self) -> bool {
        match self {
            Self::Number(number) => is_null(number),
            other => other == Self::Null,
        }
    }
}

impl Pointer {
    /// A pointer to somewhere in a type.
    pub fn anywhere_in(ty: Ty, origin: Origin) -> Self {
        Self { ty, offset: None, is_indexed: false, is_element: false, origin }
    }

    /// The place, if the offset is known, in whichever object of the type.
    pub fn location(self) -> Option<TypeOffset> {
        self.first_location().filter(|_| !self.is_indexed)
    }

    /// The place, if it is one of one object.
    pub fn exact_location(self) -> Option<TypeOffset> {
        self.location().filter(|_| !self.is_element)
    }

    /// The place, or where it would be if the index that is not known were that of the first element.
    pub fn first_location(self) -> Option<TypeOffset> {
        self.offset.map(|offset| TypeOffset { ty: self.ty, offset: i64::from(offset) })
    }

    /// The same with an index that is not known added.
    #[must_use]
    pub fn with_unknown_index(self) -> Self {
        Self { is_indexed: self.offset.is_some(), origin: 0, ..self }
    }

    /// The pointer moved by some bytes.
    #[must_use]
    pub fn offset_by(self, types: &mut TypeSpace<'_, '_>, distance: i64) -> Option<Self> {
        let Some(offset) = self.offset else { return Some(self) };
        let offset = i64::from(offset).checked_add(distance)?;
        let moved = if self.is_element { offset.rem_euclid(types.array_stride(self.ty)?) } else { offset };
        Some(Self { offset: Some(i32::try_from(moved).ok()?), ..self })
    }

    /// The pointer moved by some multiple of a number, if that leads from element to element of an array of
    /// its type, and not of one in it.
    pub fn moved_by_multiple(self, types: &mut TypeSpace<'_, '_>, factor: u64) -> Option<Self> {
        let stride = types.array_stride(self.ty).filter(|_| !self.is_indexed)?;
        let moved = self.in_any_element(types).filter(|_| factor.is_multiple_of(stride.unsigned_abs()))?;
        types.array_at(moved.first_location()?).is_none().then_some(moved)
    }

    /// The same in any element of an array of its type.
    fn in_any_element(self, types: &mut TypeSpace<'_, '_>) -> Option<Self> {
        Self { is_element: true, ..self }.offset_by(types, 0)
    }
}

/// Numbers that are no addresses: null, small ones, and error codes (`ERR_PTR`, include/linux/err.h).
pub fn is_null(number: u64) -> bool {
    number < 4096 || number > u64::MAX - 4095
}

/// The largest number that divides both; of 0 and another, that.
pub(super) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The join of two values. `phi`: the origin of the result where the values' differ.
pub fn join(types: &mut TypeSpace<'_, '_>, a: Value, b: Value, phi: Origin) -> Value {
    match (a, b) {
        _ if a == b => a,
        (Value::Word(_), Value::Word(_)) => Value::Word(phi),
        (Value::Pointer(a), Value::Pointer(b)) => join_pointers(types, a, b, phi),
        (Value::Multiple(a), Value::Multiple(b)) => {
            Value::multiple_of(greatest_common_divisor(a.into(), b.into()))
        }
        (Value::Stack(_) | Value::Frame, Value::Stack(_) | Value::Frame) => Value::Frame,
        // A null pointer is never followed, so it adds nothing to a pointer.
        (null, other) | (other, null) if null.is_null() => match other {
            Value::Pointer(_) | Value::Stack(_) | Value::Frame => other,
            _ if other.is_null() => Value::Null,
            _ => Value::UNKNOWN,
        },
        _ => Value::UNKNOWN,
    }
}

fn join_pointers(types: &mut TypeSpace<'_, '_>, a: Pointer, b: Pointer, phi: Origin) -> Value {
    let origin = if a.origin == b.origin { a.origin } else { phi };
    if a.ty == b.ty {
        return Value::Pointer(Pointer { origin, ..join_offsets(types, a, b) });
    }
    let common_type = match (a.exact_location(), b.exact_location()) {
        (Some(a), Some(b)) => match types.common_container(a, b) {
            Some((ty, Some(offset))) => return Value::pointer_to(TypeOffset { ty, offset }, origin),
            common => common.map(|(ty, _)| ty),
        },
        (Some(place), None) => Some(b.ty).filter(|ty| types.is_within_type(place, *ty)),
        (None, Some(place)) => Some(a.ty).filter(|ty| types.is_within_type(place, *ty)),
        (None, None) => None,
    };
    common_type.map_or(Value::Word(origin), |ty| Value::Pointer(Pointer::anywhere_in(ty, origin)))
}

/// Joins pointers to one type. Of places that differ, but are the same in elements of one array, the element
/// is open: of an array in the type, or of the type itself, where a pointer walks it.
fn join_offsets(types: &mut TypeSpace<'_, '_>, a: Pointer, b: Pointer) -> Pointer {
    if !types.is_aggregate(a.ty) && a.offset != b.offset {
        // All numbers of an array have one type.
        return Pointer { offset: Some(0), is_indexed: false, is_element: false, ..a };
    }
    if a.is_element == b.is_element
        && let Some(joined) = join_in_object(types, a, b)
    {
        return joined;
    }
    let elements = a.in_any_element(types).zip(b.in_any_element(types));
    let joined = elements.and_then(|(a, b)| join_in_object(types, a, b));
    joined.unwrap_or_else(|| Pointer::anywhere_in(a.ty, a.origin))
}

/// The join of places in one object, or in elements of one array.
fn join_in_object(types: &mut TypeSpace<'_, '_>, a: Pointer, b: Pointer) -> Option<Pointer> {
    if a.offset == b.offset {
        return Some(Pointer { is_indexed: a.is_indexed || b.is_indexed, ..a });
    }
    let first = offset_in_first_element(types, a)?;
    let is_same = offset_in_first_element(types, b) == Some(first);
    is_same.then_some(Pointer { offset: Some(first), is_indexed: true, ..a })
}

/// Where a pointer into an element of an array would point in the first element.
fn offset_in_first_element(types: &mut TypeSpace<'_, '_>, pointer: Pointer) -> Option<i32> {
    let array = types.array_at(pointer.first_location()?)?;
    i32::try_from(array.array_offset.checked_add(array.offset)?).ok()
}
