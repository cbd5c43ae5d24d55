//! Types and offsets in them as values.

use fieldline_debuginfo::dwarf::DieRef;
use fieldline_layout::types::AggregateKind;
use std::rc::Rc;

/// A canonical type of a [`TypeSpace`](super::TypeSpace). Types of different spaces must not be mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ty(pub(super) u32);

impl Ty {
    /// `void`, and what could not be read.
    pub const VOID: Self = Self(0);
}

/// Kind of a type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeShape {
    /// Nothing that is known.
    Void,
    /// A number.
    Scalar {
        /// Name.
        name: Rc<str>,
        /// Bytes.
        size: u64,
    },
    /// A pointer.
    Pointer {
        /// Type it points to.
        target: Ty,
        /// Bytes.
        size: u64,
    },
    /// Elements one behind the other; of several dimensions, of the inner ones.
    Array {
        /// Type of an element.
        element: Ty,
        /// How many, if it is known.
        count: Option<u64>,
    },
    /// A struct, union or class; see [`TypeSpace::members`](super::TypeSpace::members).
    Aggregate {
        /// struct, union or class.
        kind: AggregateKind,
        /// Its tag, or the typedef of an anonymous one.
        name: Option<Rc<str>>,
        /// Bytes, if it is defined anywhere.
        size: Option<u64>,
        /// The identity of one without a tag.
        untagged: Option<Untagged>,
    },
    /// Code.
    Function {
        /// Type it returns.
        returns: Ty,
    },
}

/// The identity of a struct without a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Untagged {
    /// The hash of its members and of where it is declared, which are the same in all units.
    Declared(u64),
    /// Its DIE, where debug info doesn't say where it is declared.
    Die(DieRef),
}

/// A member of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeMember {
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Bytes; of a bit-field the bytes that hold a bit of it.
    pub size: u64,
    /// Its type.
    pub ty: Ty,
}

/// A type and an offset in it, in bytes. Negative offsets are outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeOffset {
    /// The type.
    pub ty: Ty,
    /// Bytes from its start.
    pub offset: i64,
}
