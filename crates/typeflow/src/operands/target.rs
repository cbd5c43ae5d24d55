//! Types and offsets of operands in memory, as far as the code shows them.

use super::reason::Reason;
use crate::types::{Ty, TypeShape, TypeSpace, Untagged};
use fieldline_debuginfo::LinkedAddress;
use fieldline_debuginfo::dwarf::DieRef;
use fieldline_layout::types::AggregateKind;
use fieldline_machinecode::machine::AccessKind;

/// Index of a type in [`crate::operands::ProgramOperands::types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeIndex(pub u32);

/// A type that operands are of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeName {
    /// Tag of a struct, or a number's or pointer's type as C spells it.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// struct, union or class; `None` for a number or pointer.
    pub kind: Option<AggregateKind>,
}

/// A type and where it is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeEntry {
    /// Name and size.
    pub name: TypeName,
    /// The identity of a struct without a tag.
    pub untagged: Option<Untagged>,
    /// A DIE that defines it.
    pub die: Option<DieRef>,
}

impl TypeEntry {
    /// A type of a space.
    pub fn from_type(types: &TypeSpace<'_, '_>, ty: Ty) -> Self {
        let (kind, untagged) = match types.shape(ty) {
            TypeShape::Aggregate { kind, untagged, .. } => (Some(*kind), *untagged),
            _ => (None, None),
        };
        let name = types.name(ty).map_or_else(|| types.format_type(ty), str::to_owned);
        let name = TypeName { name, size: types.size(ty).unwrap_or(0), kind };
        Self { name, untagged, die: types.die(ty) }
    }

    /// Whether two entries are of one type, even if of different units.
    pub fn is_same_type(&self, other: &Self) -> bool {
        self.name == other.name && self.untagged == other.untagged
    }
}

/// Type and offset of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target<T> {
    /// A byte of a type.
    Exact {
        /// The outermost type the code shows.
        ty: T,
        /// Bytes from its start.
        offset: u64,
    },
    /// Some byte of a type.
    Within {
        /// The outermost type the code shows.
        ty: T,
    },
    /// Some element of an array in a type: offset + index × stride.
    Element {
        /// The outermost type the code shows.
        ty: T,
        /// Bytes from its start to the place in the first element.
        offset: u64,
        /// Bytes from one element to the next.
        stride: u64,
        /// How many elements, if it is known.
        count: Option<u64>,
    },
    /// Something unknown.
    Unknown(Reason),
}

impl<T> Target<T> {
    /// Why the target is not exact.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::Exact { .. } => None,
            Self::Within { .. } => Some(Reason::UnknownOffset),
            Self::Element { .. } => Some(Reason::UnknownIndex),
            Self::Unknown(reason) => Some(*reason),
        }
    }

    /// The same with the type renamed.
    pub fn map<U>(self, map_type: impl FnOnce(T) -> U) -> Target<U> {
        match self {
            Self::Exact { ty, offset } => Target::Exact { ty: map_type(ty), offset },
            Self::Within { ty } => Target::Within { ty: map_type(ty) },
            Self::Element { ty, offset, stride, count } => {
                Target::Element { ty: map_type(ty), offset, stride, count }
            }
            Self::Unknown(reason) => Target::Unknown(reason),
        }
    }
}

/// An address that does not depend on pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FixedAddress {
    /// The address.
    pub address: LinkedAddress,
    /// Whether each CPU has its own, at the address plus the CPU's offset.
    pub per_cpu: bool,
}

/// An operand with what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand<T> {
    /// Reads, writes or both.
    pub access: AccessKind,
    /// Bytes.
    pub size: u16,
    /// Whether it goes with the instruction rather than being written in it.
    pub is_implicit: bool,
    /// Its type and offset, or why they are unknown.
    pub target: Target<T>,
    /// Where it is, if that does not depend on pointers.
    pub fixed_address: Option<FixedAddress>,
}

impl<T: Copy> Operand<T> {
    /// The same with the type renamed.
    pub(super) fn map<U>(&self, map_type: impl FnOnce(T) -> U) -> Operand<U> {
        let Self { access, size, is_implicit, target, fixed_address: fixed } = *self;
        Operand { access, size, is_implicit, target: target.map(map_type), fixed_address: fixed }
    }
}
