//! The judge of one departure.

use super::super::facts::{CodePlace, Origin};
use super::super::merged::{Merged, TypeNumber};

/// The object that an address is of, all units' numbers of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Address {
    Object(TypeNumber),
    Member { holder: TypeNumber, offset: u64, size: u64, is_array: bool },
}

impl Address {
    /// Of an address in a unit.
    pub(crate) fn new(merged: &Merged, unit: usize, origin: &Origin) -> Self {
        match *origin {
            Origin::Object(shape) => Self::Object(merged.number(unit, shape)),
            Origin::Member { holder, offset, size, is_array } => {
                Self::Member { holder: merged.number(unit, holder), offset, size, is_array }
            }
            Origin::Other(ref name) => Self::Object(merged.named(name)),
        }
    }

    /// The type of the object that it is of, or in.
    pub(crate) fn ty(self) -> TypeNumber {
        match self {
            Self::Object(ty) | Self::Member { holder: ty, .. } => ty,
        }
    }
}

/// How an address came to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Through {
    /// Whether the end is there for other objects too, which come the same way.
    pub(crate) is_explained: bool,
    /// Whether another function, or memory, is on the way.
    pub(crate) is_function: bool,
}

impl Through {
    /// In one function.
    pub(crate) const NONE: Self = Self { is_explained: false, is_function: false };
}

/// How far code may walk from a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walk {
    /// To the members of its type around it.
    Both,
    /// To the members of its type behind it.
    Like,
    /// To the last member.
    ToEnd,
}

/// The judge of one departure.
#[derive(Clone, Copy)]
pub(crate) struct Judge<'m> {
    pub(crate) merged: &'m Merged,
    pub(crate) address: Address,
    pub(crate) at: &'m CodePlace,
}

impl Judge<'_> {
    pub(crate) fn address(&self) -> Address {
        self.address
    }
}
