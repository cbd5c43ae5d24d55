//! Types as debug info declares them: a table of nodes that refer to each other by [`TypeId`].
//!
//! The same table serves DWARF and BTF. What only one of them knows (declaration lines, explicit alignments)
//! is optional.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

/// Index of a type in its [`TypeTable`]. Ids of different tables must not be mixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(pub u32);

impl TypeId {
    /// The type `void`, present in every table.
    pub const VOID: Self = Self(0);
}

/// Properties of the machine that types were compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TargetMachine {
    /// Size of a data pointer in bytes.
    pub pointer_size: u8,
    /// Whether multi-byte values are stored most significant byte first.
    pub big_endian: bool,
}

impl Default for TargetMachine {
    fn default() -> Self {
        Self { pointer_size: 8, big_endian: false }
    }
}

/// Where a type or member is declared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decl {
    /// Path as recorded by the compiler, joined with its directory (DWARF 5 section 6.2.4).
    pub file: Box<str>,
    /// Line, counted from 1.
    pub line: Option<u32>,
}

/// An arithmetic type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Name, such as `long unsigned int`.
    pub name: Box<str>,
    /// Size in bytes.
    pub size: u64,
    /// How its bits are read.
    pub encoding: Encoding,
}

/// How the bits of a [`Base`] type are read (DWARF 5 section 5.1.1, BTF_INT_ENCODING).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Two's complement.
    Signed,
    /// Unsigned integer.
    Unsigned,
    /// `_Bool`.
    Boolean,
    /// Floating point.
    Float,
    /// Character, signed.
    SignedChar,
    /// Character, unsigned.
    UnsignedChar,
    /// Anything else (complex, decimal float, UTF, address).
    Other,
}

/// Type qualifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualifier {
    /// `const`
    Const,
    /// `volatile`
    Volatile,
    /// `restrict`
    Restrict,
    /// `_Atomic`
    Atomic,
}

/// Kinds of indirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerKind {
    /// `T *`
    Pointer,
    /// C++ `T &`
    Reference,
    /// C++ `T &&`
    RvalueReference,
    /// C++ pointer to member.
    Member,
}

/// Kinds of aggregate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AggregateKind {
    /// `struct`
    #[default]
    Struct,
    /// `union`
    Union,
    /// C++ `class`
    Class,
}

impl fmt::Display for AggregateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Struct => "struct",
            Self::Union => "union",
            Self::Class => "class",
        })
    }
}

/// A member as declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberDecl {
    /// Name; `None` for an anonymous struct or union (and an unnamed bit-field, which debug info omits).
    pub name: Option<Box<str>>,
    /// Its type.
    pub ty: TypeId,
    /// Offset of its lowest-addressed bit from the start of the aggregate. For a bit-field: of its first bit
    /// in storage order (DW_AT_data_bit_offset, DWARF 5 section 5.7.6; on big-endian machines counted from
    /// the most significant end).
    pub bit_offset: u64,
    /// Width if it is a bit-field.
    pub bit_field: Option<u64>,
    /// Alignment in bytes given in the source (DW_AT_alignment); BTF does not carry it.
    pub align: Option<u64>,
    /// File of the declaration, if it is another one than the aggregate's: it was included inside.
    pub file: Option<Box<str>>,
    /// Line of the declaration.
    pub line: Option<u32>,
    /// Whether it is a C++ static data member, which takes no room.
    pub is_static: bool,
    /// Whether it is a C++ base class.
    pub is_base: bool,
}

/// Who orders the members of an aggregate in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemberOrder {
    /// Whoever declared them: they lie as they are written.
    #[default]
    Declared,
    /// In Rust the compiler, unless `#[repr(C)]` forbids it, which debug info doesn't say. They lie as
    /// written.
    PerhapsCompiler,
    /// The compiler of Rust: they don't lie as written.
    Compiler,
    /// The compiler of C++ puts base classes and the pointer to virtual functions first; what is declared follows.
    Inherited,
    /// The compiler of C++, which puts a virtual base class behind all else, of which debug info doesn't say where.
    Virtual,
}

impl MemberOrder {
    /// Whether they lie as declared, for certain.
    pub fn is_declared(&self) -> bool {
        *self == Self::Declared
    }
}

/// A struct, union or class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aggregate {
    /// struct, union or class.
    pub kind: AggregateKind,
    /// Tag; `None` if anonymous.
    pub name: Option<Box<str>>,
    /// Size in bytes; 0 for a declaration.
    pub size: u64,
    /// Alignment in bytes given in the source (DW_AT_alignment).
    pub align: Option<u64>,
    /// Members in declaration order.
    pub members: Vec<MemberDecl>,
    /// Declared but not defined here (`struct foo;`).
    pub is_declaration: bool,
    /// Where it is declared, if debug info says so.
    pub decl: Option<Decl>,
    /// Who orders the members.
    pub order: MemberOrder,
}

/// An enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration {
    /// Tag; `None` if anonymous.
    pub name: Option<Box<str>>,
    /// Size in bytes.
    pub size: u64,
    /// Names and values, in declaration order.
    pub values: Vec<(Box<str>, i128)>,
    /// Declared but not defined here.
    pub is_declaration: bool,
}

/// A function type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prototype {
    /// Return type; [`TypeId::VOID`] if none.
    pub returns: TypeId,
    /// Parameters: name if given, type.
    pub parameters: Vec<(Option<Box<str>>, TypeId)>,
    /// Ends with `...`.
    pub variadic: bool,
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// No value.
    Void,
    /// An arithmetic type.
    Base(Base),
    /// A pointer or reference.
    Pointer {
        /// Which kind.
        kind: PointerKind,
        /// The type it points to.
        target: TypeId,
        /// Size in bytes.
        size: u64,
    },
    /// A qualified type.
    Qualified {
        /// The qualifier.
        qualifier: Qualifier,
        /// The type it qualifies.
        target: TypeId,
    },
    /// A type tag such as `__rcu` or `__user` (BTF_KIND_TYPE_TAG, or DWARF annotations).
    Tag {
        /// The tag's text.
        name: Box<str>,
        /// The type it annotates.
        target: TypeId,
    },
    /// A typedef.
    Typedef {
        /// Its name.
        name: Box<str>,
        /// The type it names.
        target: TypeId,
    },
    /// An array; nested arrays are one node with several dimensions.
    Array {
        /// Element type.
        element: TypeId,
        /// Element counts from the outermost dimension inwards; `None` for `[]`.
        dimensions: Vec<Option<u64>>,
        /// Whether it is a SIMD vector (DW_AT_GNU_vector).
        is_vector: bool,
    },
    /// A struct, union or class.
    Aggregate(Aggregate),
    /// An enumeration.
    Enum(Enumeration),
    /// A function type.
    Function(Prototype),
    /// A named type without further structure (`decltype(nullptr)`, a forward declaration of unknown kind).
    Unspecified(Box<str>),
}

/// All types reachable from some root, referring to each other by id.
#[derive(Clone, Debug)]
pub struct TypeTable {
    types: Vec<Type>,
    /// The machine they were compiled for.
    pub target: TargetMachine,
}

impl TypeTable {
    /// An empty table that holds [`Type::Void`] only.
    pub fn new(target: TargetMachine) -> Self {
        Self { types: vec![Type::Void], target }
    }

    /// Appends a type.
    pub fn push(&mut self, ty: Type) -> TypeId {
        let id = TypeId(u32::try_from(self.types.len()).unwrap_or(u32::MAX));
        self.types.push(ty);
        id
    }

    /// Replaces a type, for readers that reserve an id before they know its content (recursive types).
    pub fn set(&mut self, id: TypeId, ty: Type) {
        if let Some(slot) = self.types.get_mut(id.0 as usize) {
            *slot = ty;
        }
    }

    /// The type behind an id; `Void` for an id of no type, so that a corrupt reference shows but never
    /// panics.
    pub fn get(&self, id: TypeId) -> &Type {
        self.types.get(id.0 as usize).unwrap_or(&Type::Void)
    }

    /// Number of types, `Void` included.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether it holds nothing beyond `Void`.
    pub fn is_empty(&self) -> bool {
        self.types.len() <= 1
    }

    /// All ids with their types, in order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = (TypeId, &Type)> {
        (0u32..).map(TypeId).zip(&self.types)
    }

    /// Strips typedefs, qualifiers and tags. Bounded, so that a corrupt cycle ends (at `Void`).
    pub fn strip(&self, id: TypeId) -> TypeId {
        let mut id = id;
        for _ in 0..64 {
            match self.get(id) {
                Type::Typedef { target, .. } | Type::Qualified { target, .. } | Type::Tag { target, .. } => {
                    id = *target;
                }
                _ => return id,
            }
        }
        TypeId::VOID
    }

    /// The aggregate behind typedefs, qualifiers and tags, if it is one.
    pub fn aggregate(&self, id: TypeId) -> Option<&Aggregate> {
        match self.get(self.strip(id)) {
            Type::Aggregate(aggregate) => Some(aggregate),
            _ => None,
        }
    }

    /// Size in bytes; 0 for void, functions, declarations and flexible arrays. Saturates on hostile
    /// dimensions.
    pub fn size_of(&self, id: TypeId) -> u64 {
        self.size_within(id, 64)
    }

    fn size_within(&self, id: TypeId, depth: u32) -> u64 {
        match self.get(self.strip(id)) {
            Type::Base(base) => base.size,
            Type::Pointer { size, .. } => *size,
            Type::Aggregate(aggregate) => aggregate.size,
            Type::Enum(enumeration) => enumeration.size,
            Type::Array { element, dimensions, .. } if depth > 0 => {
                let counts = dimensions.iter().map(|count| count.unwrap_or(0));
                counts.fold(self.size_within(*element, depth - 1), u64::saturating_mul)
            }
            _ => 0,
        }
    }

    /// Natural alignment in bytes. For many types of one table make one [`NaturalAlignments`].
    pub fn align_of(&self, id: TypeId) -> u64 {
        NaturalAlignments::new(self).get(id)
    }
}

/// Natural alignments under the usual C ABIs: a scalar's size (at most 16), an array's element's, an
/// aggregate's strictest member's, raised by what the source asked for. Each aggregate is computed once.
#[derive(Debug)]
pub struct NaturalAlignments<'t> {
    table: &'t TypeTable,
    alignments: HashMap<TypeId, u64>,
}

impl<'t> NaturalAlignments<'t> {
    /// For the types of a table.
    pub fn new(table: &'t TypeTable) -> Self {
        Self { table, alignments: HashMap::new() }
    }

    /// Alignment in bytes; 1 for what has none.
    pub fn get(&mut self, id: TypeId) -> u64 {
        self.align_within(id, 256)
    }

    fn align_within(&mut self, id: TypeId, depth: u32) -> u64 {
        let id = self.table.strip(id);
        if depth == 0 {
            return 1;
        }
        match self.table.get(id) {
            Type::Base(base) => scalar_align(base.size),
            Type::Pointer { size, .. } => scalar_align(*size),
            Type::Enum(enumeration) => scalar_align(enumeration.size),
            Type::Array { element, is_vector: false, .. } => self.align_within(*element, depth - 1),
            Type::Array { .. } => self.table.size_of(id).clamp(1, 1 << 32).next_power_of_two(),
            Type::Aggregate(aggregate) => self.aggregate(id, aggregate, depth - 1),
            _ => 1,
        }
    }

    fn aggregate(&mut self, id: TypeId, aggregate: &Aggregate, depth: u32) -> u64 {
        if let Some(known) = self.alignments.get(&id) {
            return *known;
        }
        // Corrupt input may let an aggregate hold itself.
        self.alignments.insert(id, 1);
        let mut align = aggregate.align.unwrap_or(1);
        for member in aggregate.members.iter().filter(|member| !member.is_static) {
            align = align.max(self.align_within(member.ty, depth)).max(member.align.unwrap_or(1));
        }
        self.alignments.insert(id, align);
        align
    }
}

/// The alignment of a scalar of `size` bytes: its size rounded to a power of two, at most 16 (System V psABI
/// x86-64 table 3.1; AAPCS64 section 5.1; i386 deviates for 8-byte scalars, see [`crate::abi`]).
fn scalar_align(size: u64) -> u64 {
    size.clamp(1, 16).next_power_of_two().min(16)
}

/// The namespaces before a name, if there are any, and the name: `geo` and `Ring<a::B, 4>` of
/// `geo::Ring<a::B, 4>`.
pub fn split_namespace(name: &str) -> (Option<&str>, &str) {
    let mut depth = 0usize;
    let mut cut = None;
    let bytes = name.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'<' | b'(' | b'{' => depth += 1,
            // Not of an arrow.
            b'>' if at > 0 && bytes.get(at - 1) != Some(&b'-') => depth = depth.saturating_sub(1),
            b')' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && bytes.get(at + 1) == Some(&b':') => cut = Some(at),
            _ => {}
        }
    }
    match cut.and_then(|at| Some((name.get(..at)?, name.get(at + 2..)?))) {
        Some((path, bare)) => (Some(path), bare),
        None => (None, name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{declared, structure};

    #[test]
    fn aggregates_that_hold_themselves_twice_have_an_alignment() {
        let mut table = TypeTable::new(TargetMachine::default());
        let id = table.push(Type::Void);
        let member = MemberDecl { align: Some(4), ..declared("", id, 0) };
        table.set(id, structure("", 8, vec![member.clone(), member]));
        assert_eq!(table.align_of(id), 4);
        assert!(crate::Layout::from_type(&table, id).is_some_and(|layout| layout.members.len() == 2));
    }

    #[test]
    fn a_cycle_of_typedefs_ends_at_void() {
        let mut table = TypeTable::new(TargetMachine::default());
        let id = table.push(Type::Void);
        table.set(id, Type::Typedef { name: "loop".into(), target: id });
        assert_eq!(table.strip(id), TypeId::VOID);
        assert_eq!(table.size_of(id), 0);
    }

    /// A struct that holds three of itself by value, as no compiler makes it.
    fn holding_itself(table: &mut TypeTable) -> TypeId {
        let id = table.push(Type::Void);
        let members = [0, 64, 128].map(|bit_offset| declared("", id, bit_offset));
        table.set(id, structure("self", 24, members.into()));
        id
    }

    #[test]
    fn a_struct_that_holds_itself_has_an_alignment_and_a_bounded_layout() {
        let mut table = TypeTable::new(TargetMachine::default());
        let id = holding_itself(&mut table);
        assert_eq!(table.align_of(id), 1);
        assert_eq!(crate::Layout::from_type(&table, id).map(|layout| layout.members.len()), Some(3));
    }

    #[test]
    fn hostile_dimensions_saturate() {
        let mut table = TypeTable::new(TargetMachine::default());
        let byte =
            table.push(Type::Base(Base { name: "char".into(), size: 1, encoding: Encoding::SignedChar }));
        let array =
            Type::Array { element: byte, dimensions: vec![Some(u64::MAX), Some(3)], is_vector: false };
        let array = table.push(array);
        assert_eq!(table.size_of(array), u64::MAX);
        assert_eq!(table.align_of(array), 1);
    }
}
