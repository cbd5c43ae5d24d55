//! Ids of types, their kinds, and how long their records are (btf.rst section 2.2; `enum { BTF_KIND_* }`).

use std::fmt;

/// Id of a type in BTF: 0 is `void`, 1 the first of the file; split BTF counts on from its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BtfTypeId(pub u32);

/// The kind of thing a record describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BtfKind {
    /// `BTF_KIND_UNKN`: gcc's word for what BTF cannot express, such as complex numbers
    Unknown,
    /// `BTF_KIND_INT`
    Int,
    /// `BTF_KIND_PTR`
    Pointer,
    /// `BTF_KIND_ARRAY`
    Array,
    /// `BTF_KIND_STRUCT`
    Struct,
    /// `BTF_KIND_UNION`
    Union,
    /// `BTF_KIND_ENUM`, values of up to 32 bits
    Enum,
    /// `BTF_KIND_FWD`, a struct or union declared but not defined
    Forward,
    /// `BTF_KIND_TYPEDEF`
    Typedef,
    /// `BTF_KIND_VOLATILE`
    Volatile,
    /// `BTF_KIND_CONST`
    Const,
    /// `BTF_KIND_RESTRICT`
    Restrict,
    /// `BTF_KIND_FUNC`, a function, not a type
    Function,
    /// `BTF_KIND_FUNC_PROTO`, a function's type
    Prototype,
    /// `BTF_KIND_VAR`, a variable, not a type
    Variable,
    /// `BTF_KIND_DATASEC`, a section, not a type
    DataSection,
    /// `BTF_KIND_FLOAT`
    Float,
    /// `BTF_KIND_DECL_TAG`, a remark on a declaration, not a type
    DeclarationTag,
    /// `BTF_KIND_TYPE_TAG`, such as `__rcu`
    TypeTag,
    /// `BTF_KIND_ENUM64`
    Enum64,
    /// One that came after this program; its length is known from the file.
    Other(u8),
}

/// Each kind by its number, with its word in the kernel's headers and the bytes behind the common 12 of its records:
/// once, and for each of the `vlen` elements.
const KINDS: [(BtfKind, &str, (u32, u32)); 20] = [
    (BtfKind::Unknown, "UNKN", (0, 0)),
    (BtfKind::Int, "INT", (4, 0)),
    (BtfKind::Pointer, "PTR", (0, 0)),
    (BtfKind::Array, "ARRAY", (12, 0)),
    (BtfKind::Struct, "STRUCT", (0, 12)),
    (BtfKind::Union, "UNION", (0, 12)),
    (BtfKind::Enum, "ENUM", (0, 8)),
    (BtfKind::Forward, "FWD", (0, 0)),
    (BtfKind::Typedef, "TYPEDEF", (0, 0)),
    (BtfKind::Volatile, "VOLATILE", (0, 0)),
    (BtfKind::Const, "CONST", (0, 0)),
    (BtfKind::Restrict, "RESTRICT", (0, 0)),
    (BtfKind::Function, "FUNC", (0, 0)),
    (BtfKind::Prototype, "FUNC_PROTO", (0, 8)),
    (BtfKind::Variable, "VAR", (4, 0)),
    (BtfKind::DataSection, "DATASEC", (0, 12)),
    (BtfKind::Float, "FLOAT", (0, 0)),
    (BtfKind::DeclarationTag, "DECL_TAG", (4, 0)),
    (BtfKind::TypeTag, "TYPE_TAG", (0, 0)),
    (BtfKind::Enum64, "ENUM64", (0, 12)),
];

/// Bytes behind the common 12 of a kind's records, see [`KINDS`]. `None` if unknown.
pub(super) fn record_lengths(number: u8) -> Option<(u32, u32)> {
    KINDS.get(usize::from(number)).map(|(.., extra)| *extra)
}

impl BtfKind {
    pub(super) fn from_number(number: u8) -> Self {
        KINDS.get(usize::from(number)).map_or(Self::Other(number), |(kind, ..)| *kind)
    }

    /// Whether it is a struct or union with members.
    pub fn is_aggregate(self) -> bool {
        matches!(self, Self::Struct | Self::Union)
    }

    /// Whether other types may refer to it as a type.
    pub(super) fn is_type(self) -> bool {
        !matches!(self, Self::Function | Self::Variable | Self::DataSection | Self::DeclarationTag)
    }

    /// Whether it only qualifies the type it refers to.
    pub(super) fn is_modifier(self) -> bool {
        matches!(self, Self::Const | Self::Volatile | Self::Restrict | Self::TypeTag)
    }
}

impl fmt::Display for BtfKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, KINDS.iter().find(|(kind, ..)| kind == self)) {
            (Self::Other(number), _) => write!(f, "kind {number}"),
            (_, known) => f.write_str(known.map_or("", |(_, word, _)| word)),
        }
    }
}
