//! What is known of a register or stack slot: a finite lattice.
//!
//! From the bottom: one value; a pointer to a place in a type; a pointer to somewhere in a type; nothing. Joining two goes
//! up until one holds for both: for places of each other's wholes the smaller whole, as for `&task->se` and `se`.

use crate::types::{Place, Ty, TypeSpace};

/// Where a value was made, so that what is learned of it later can be told there. 0: nowhere to tell.
pub type Origin = u32;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Nothing is known but where it was made.
    Word(Origin),
    /// A number.
    Number(u64),
    /// Some number that is no address: null, a small one, an error code.
    Null,
    /// An address on the stack: distance from the canonical frame address.
    Stack(i64),
    /// An address somewhere on the stack.
    Frame,
    /// What turns a per-CPU symbol into an address.
    PerCpuOffset,
    /// A pointer.
    Pointer(Pointer),
}

/// A pointer into something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pointer {
    /// The outermost type that was shown.
    pub ty: Ty,
    /// Bytes from its start; `None` if that is not known.
    pub offset: Option<i32>,
    /// Whether an index that is not known is added to the offset: of which array shows when the address is used.
    pub is_indexed: bool,
    /// Where it was made.
    pub origin: Origin,
}

/// Where an address leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Nobody knows.
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
    pub fn to(place: Place, origin: Origin) -> Self {
        match i32::try_from(place.offset) {
            Ok(offset) => {
                Self::Pointer(Pointer { ty: place.ty, offset: Some(offset), is_indexed: false, origin })
            }
            Err(_) => Self::Word(origin),
        }
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
    pub fn somewhere_in(ty: Ty, origin: Origin) -> Self {
        Self { ty, offset: None, is_indexed: false, origin }
    }

    /// The place, if the offset is known.
    pub fn place(self) -> Option<Place> {
        self.first().filter(|_| !self.is_indexed)
    }

    /// The place, or where it would be if the index that is not known were that of the first element.
    pub fn first(self) -> Option<Place> {
        self.offset.map(|offset| Place { ty: self.ty, offset: i64::from(offset) })
    }

    /// The same with an index that is not known added.
    #[must_use]
    pub fn indexed(self) -> Self {
        Self { is_indexed: self.offset.is_some(), origin: 0, ..self }
    }

    /// The pointer moved by some bytes.
    #[must_use]
    pub fn moved(self, distance: i64) -> Option<Self> {
        let offset = match self.offset {
            Some(offset) => Some(i32::try_from(i64::from(offset).checked_add(distance)?).ok()?),
            None => None,
        };
        Some(Self { offset, ..self })
    }
}

/// Numbers that are no addresses: null, small ones, and error codes (`ERR_PTR`, include/linux/err.h).
pub fn is_null(number: u64) -> bool {
    number < 4096 || number > u64::MAX - 4095
}

/// What is known when either value may be meant. `meeting`: the origin of the result where the values' differ.
pub fn join(types: &mut TypeSpace<'_, '_>, a: Value, b: Value, meeting: Origin) -> Value {
    match (a, b) {
        _ if a == b => a,
        (Value::Word(_), Value::Word(_)) => Value::Word(meeting),
        (Value::Pointer(a), Value::Pointer(b)) => join_pointers(types, a, b, meeting),
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

fn join_pointers(types: &mut TypeSpace<'_, '_>, a: Pointer, b: Pointer, meeting: Origin) -> Value {
    let origin = if a.origin == b.origin { a.origin } else { meeting };
    if a.ty == b.ty {
        return Value::Pointer(Pointer { origin, ..join_offsets(types, a, b) });
    }
    let somewhere = match (a.place(), b.place()) {
        (Some(a), Some(b)) => match types.common(a, b) {
            Some((ty, Some(offset))) => return Value::to(Place { ty, offset }, origin),
            common => common.map(|(ty, _)| ty),
        },
        (Some(place), None) => Some(b.ty).filter(|ty| types.is_in(place, *ty)),
        (None, Some(place)) => Some(a.ty).filter(|ty| types.is_in(place, *ty)),
        (None, None) => None,
    };
    somewhere.map_or(Value::Word(origin), |ty| Value::Pointer(Pointer::somewhere_in(ty, origin)))
}

/// Joins pointers to one type. Of places that differ, but are the same in elements of one array, the element is open.
fn join_offsets(types: &mut TypeSpace<'_, '_>, a: Pointer, b: Pointer) -> Pointer {
    if a.offset == b.offset {
        return Pointer { is_indexed: a.is_indexed || b.is_indexed, ..a };
    }
    if !types.is_aggregate(a.ty) {
        // Of numbers one behind the other one is like the other.
        return Pointer { offset: Some(0), is_indexed: false, ..a };
    }
    match in_first_element(types, a) {
        first @ Some(_) if in_first_element(types, b) == first => {
            Pointer { offset: first, is_indexed: true, ..a }
        }
        _ => Pointer::somewhere_in(a.ty, a.origin),
    }
}

/// Where a pointer into an element of an array would point in the first element.
fn in_first_element(types: &mut TypeSpace<'_, '_>, pointer: Pointer) -> Option<i32> {
    let array = types.array_at(pointer.first()?)?;
    i32::try_from(array.array.checked_add(array.offset)?).ok()
}
