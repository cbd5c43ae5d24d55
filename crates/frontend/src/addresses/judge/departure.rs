//! The judge of one departure.

use super::super::facts::{CodePlace, Departure, Origin};
use super::super::merged::{Merged, TypeNumber};

/// The object that an address is of, all units' numbers of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    Object(TypeNumber),
    Member { holder: TypeNumber, offset: u64, size: u64, is_array: bool },
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

impl<'m> Judge<'m> {
    pub(crate) fn new(merged: &'m Merged, unit: usize, departure: &'m Departure) -> Self {
        let address = match departure.origin {
            Origin::Object(shape) => Address::Object(merged.number(unit, shape)),
            Origin::Member { holder, offset, size, is_array } => {
                Address::Member { holder: merged.number(unit, holder), offset, size, is_array }
            }
            Origin::Other(ref name) => Address::Object(merged.named(name)),
        };
        Self { merged, address, at: &departure.at }
    }

    /// Of an object that nobody is seen to hand to a place, but that is taken from it.
    pub(crate) fn taken(merged: &'m Merged, ty: TypeNumber, at: &'m CodePlace) -> Self {
        Self { merged, address: Address::Object(ty), at }
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }
}
