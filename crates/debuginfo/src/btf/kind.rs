//! Ids of types, their kinds, and how long their records are (btf.rst section 2.2; `enum { BTF_KIND_* }`).

use std::fmt;

/// Id of a type in BTF: 0 is `void`, 1 the first of the file; split BTF counts on from its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BtfTypeId(pub u32);

impl fmt::Display for BtfTypeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// What a record describes.
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

impl BtfKind {
    pub(super) fn of(number: u8) -> Self {
        match number {
            0 => Self::Unknown,
            1 => Self::Int,
            2 => Self::Pointer,
            3 => Self::Array,
            4 => Self::Struct,
            5 => Self::Union,
            6 => Self::Enum,
            7 => Self::Forward,
            8 => Self::Typedef,
            9 => Self::Volatile,
            10 => Self::Const,
            11 => Self::Restrict,
            12 => Self::Function,
            13 => Self::Prototype,
            14 => Self::Variable,
            15 => Self::DataSection,
            16 => Self::Float,
            17 => Self::DeclarationTag,
            18 => Self::TypeTag,
            19 => Self::Enum64,
            other => Self::Other(other),
        }
    }

    /// Bytes after the common 12: once, and for each of the `vlen` elements. `None` if unknown.
    pub(super) fn extra(self) -> Option<(u32, u32)> {
        Some(match self {
            Self::Int | Self::Variable | Self::DeclarationTag => (4, 0),
            Self::Array => (12, 0),
            Self::Struct | Self::Union | Self::DataSection | Self::Enum64 => (0, 12),
            Self::Enum | Self::Prototype => (0, 8),
            Self::Unknown
            | Self::Pointer
            | Self::Forward
            | Self::Typedef
            | Self::Volatile
            | Self::Const
            | Self::Restrict
            | Self::Function
            | Self::Float
            | Self::TypeTag => (0, 0),
            Self::Other(_) => return None,
        })
    }

    /// Whether it is a struct or union with members.
    pub fn is_aggregate(self) -> bool {
        matches!(self, Self::Struct | Self::Union)
    }

    /// Whether other types may refer to it as a type.
    pub(super) fn is_type(self) -> bool {
        !matches!(self, Self::Function | Self::Variable | Self::DataSection | Self::DeclarationTag)
    }

    /// Whether it only adds a word to the type it refers to.
    pub(super) fn is_modifier(self) -> bool {
        matches!(self, Self::Const | Self::Volatile | Self::Restrict | Self::TypeTag)
    }
}

impl fmt::Display for BtfKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Self::Unknown => "UNKN",
            Self::Int => "INT",
            Self::Pointer => "PTR",
            Self::Array => "ARRAY",
            Self::Struct => "STRUCT",
            Self::Union => "UNION",
            Self::Enum => "ENUM",
            Self::Forward => "FWD",
            Self::Typedef => "TYPEDEF",
            Self::Volatile => "VOLATILE",
            Self::Const => "CONST",
            Self::Restrict => "RESTRICT",
            Self::Function => "FUNC",
            Self::Prototype => "FUNC_PROTO",
            Self::Variable => "VAR",
            Self::DataSection => "DATASEC",
            Self::Float => "FLOAT",
            Self::DeclarationTag => "DECL_TAG",
            Self::TypeTag => "TYPE_TAG",
            Self::Enum64 => "ENUM64",
            Self::Other(number) => return write!(f, "kind {number}"),
        };
        f.write_str(word)
    }
}
