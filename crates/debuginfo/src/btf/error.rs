//! What can be wrong with BTF. Offsets are counted in bytes from the start of the BTF data.

use super::kind::{BtfKind, BtfTypeId};

/// Why BTF could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BtfError {
    /// Too short for a header.
    #[error("BTF: {len} bytes are too short for a header of {needed}")]
    TooShort {
        /// Bytes given.
        len: usize,
        /// Bytes needed.
        needed: usize,
    },
    /// Not BTF.
    #[error("BTF: magic {found:#06x} at offset 0 instead of 0xeb9f")]
    Magic {
        /// The first two bytes, read as little-endian.
        found: u16,
    },
    /// A version nobody has defined.
    #[error("BTF: version {version} at offset 2, only version 1 is known")]
    Version {
        /// The version byte.
        version: u8,
    },
    /// A section lies outside the data or begins at an impossible place.
    #[error(
        "BTF: {section} section at {offset:#x} of {len} bytes does not fit the data of {available} bytes"
    )]
    Section {
        /// `type`, `string` or `layout`.
        section: &'static str,
        /// Where it begins.
        offset: u64,
        /// How long it is said to be.
        len: u64,
        /// How many bytes there are.
        available: u64,
    },
    /// The type section's start is not a multiple of 4, or the string section is not bounded by zero bytes.
    #[error("BTF: {section} section at {offset:#x}: {what}")]
    Malformed {
        /// `type` or `string`.
        section: &'static str,
        /// Where it begins.
        offset: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// A type's record ends beyond the type section.
    #[error("BTF: type {id} at offset {offset:#x}: its record ends beyond the type section")]
    TruncatedType {
        /// Id of the type.
        id: u32,
        /// Where its record begins.
        offset: u64,
    },
    /// A kind we don't know, in a file that doesn't tell how long its records are.
    #[error(
        "BTF: type {id} at offset {offset:#x}: unknown kind {kind}, and no layout section tells its length"
    )]
    UnknownKind {
        /// Id of the type.
        id: u32,
        /// Where its record begins.
        offset: u64,
        /// The kind.
        kind: u8,
    },
    /// A reference to a type that doesn't exist.
    #[error("BTF: type {from} at offset {offset:#x} refers to type {to}, but ids end at {last}")]
    NoSuchType {
        /// Id of the type that refers.
        from: u32,
        /// Where its record begins.
        offset: u64,
        /// The id referred to.
        to: u32,
        /// The highest id.
        last: u32,
    },
    /// A reference to something that is no type (a function, a section).
    #[error("BTF: type {from} at offset {offset:#x} refers to {to}, which is a {kind}, not a type")]
    NotAType {
        /// Id of the type that refers.
        from: u32,
        /// Where its record begins.
        offset: u64,
        /// The id referred to.
        to: u32,
        /// What it is.
        kind: BtfKind,
    },
    /// A name outside the string section.
    #[error("BTF: type {id} at offset {offset:#x}: name offset {name:#x} lies outside the strings")]
    NoSuchName {
        /// Id of the type.
        id: u32,
        /// Where its record begins.
        offset: u64,
        /// The name's offset.
        name: u32,
    },
    /// An id asked for that doesn't exist.
    #[error("BTF: there is no type {id}")]
    NoType {
        /// The id.
        id: BtfTypeId,
    },
    /// More types or strings than 32-bit ids can name, base included.
    #[error("BTF: base and split BTF together hold more than 2^31 types or string bytes")]
    TooMany,
}
