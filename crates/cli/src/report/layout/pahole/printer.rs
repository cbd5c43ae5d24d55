//! The printer's state and entry point.

use super::facts::{Facts, is_union};
use super::text::TextBuffer;
use fieldline_layout::types::{Type, TypeId, TypeTable};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;
use std::rc::Rc;

/// Longest declaration of one member; no source comes near it, corrupt debug info can ask for any length.
pub(super) const MAX_DECLARATION: usize = 1 << 16;

/// Longest text of one type. A struct of anonymous structs of anonymous structs doubles with each level.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// Where a top-level type's members have their columns: type, then name, then the comment.
const TYPE_COLUMN: i64 = 26;
const STRUCT_NAME_COLUMN: i64 = 23;
const UNION_NAME_COLUMN: i64 = 21;

/// Options of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PaholeOptions {
    /// Bytes in a cacheline.
    pub(crate) cacheline_size: u32,
    /// Whether the types come from BTF, which states no alignments: pahole guesses them then.
    pub(crate) from_btf: bool,
}

/// Prints types of one table. A struct that lies in one printed before where only a packed one can lie is
/// said to be packed, so the order of printing matters, as it does for pahole.
pub(crate) struct Printer<'t> {
    pub(super) table: &'t TypeTable,
    pub(super) options: PaholeOptions,
    pub(super) text: TextBuffer,
    pub(super) facts: FxHashMap<TypeId, Rc<Facts>>,
    pub(super) natural: FxHashMap<TypeId, u64>,
    pub(super) packed: FxHashMap<TypeId, bool>,
    pub(super) unions_seen: FxHashSet<TypeId>,
    pub(super) embedded: FxHashMap<TypeId, bool>,
    /// The cacheline of the last boundary printed.
    pub(super) cacheline: u64,
}

/// State that nested declarations inherit.
#[derive(Clone, Copy, Default)]
pub(super) struct Context<'t> {
    pub(super) type_column: i64,
    pub(super) name_column: i64,
    pub(super) indent: usize,
    /// The text after a closing brace.
    pub(super) suffix: Option<Suffix<'t>>,
    /// Whether the sums follow the members.
    pub(super) with_sums: bool,
    /// Whether offsets count from the struct itself: it lies behind a pointer.
    pub(super) is_relative: bool,
    /// Offset in bytes of the struct being printed.
    pub(super) base: u64,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
    pub(super) in_union: bool,
    /// How many declarations this one is part of.
    pub(super) depth: u32,
}

/// A name after a brace, with a star if it declares a pointer.
#[derive(Clone, Copy)]
pub(super) struct Suffix<'t> {
    pub(super) star: bool,
    pub(super) name: &'t str,
}

impl<'t> Suffix<'t> {
    pub(super) fn new(name: &'t str) -> Self {
        Self { star: false, name }
    }
}

impl<'t> Printer<'t> {
    pub(crate) fn new(table: &'t TypeTable, options: PaholeOptions) -> Self {
        let options = PaholeOptions { cacheline_size: options.cacheline_size.max(1), ..options };
        Self {
            table,
            options,
            text: TextBuffer::default(),
            facts: FxHashMap::default(),
            natural: FxHashMap::default(),
            packed: FxHashMap::default(),
            unions_seen: FxHashSet::default(),
            embedded: FxHashMap::default(),
            cacheline: 0,
        }
    }

    /// Prints one type with its final `;` and newline.
    ///
    /// # Errors
    /// If `out` can't take the text.
    pub(crate) fn print(&mut self, out: &mut impl fmt::Write, id: TypeId) -> fmt::Result {
        self.text.clear();
        self.cacheline = 0;
        let table = self.table;
        let is_union = matches!(table.get(id), Type::Aggregate(aggregate) if is_union(aggregate));
        let context = Context {
            type_column: TYPE_COLUMN,
            name_column: if is_union { UNION_NAME_COLUMN } else { STRUCT_NAME_COLUMN },
            with_sums: true,
            ..Context::default()
        };
        match table.get(id) {
            Type::Aggregate(aggregate) if is_union => self.union_body(id, aggregate, context),
            Type::Aggregate(aggregate) => self.struct_body(id, aggregate, context),
            Type::Enum(enumeration) => self.enum_body(enumeration, context),
            Type::Typedef { name, target } => self.typedef(name, *target, context),
            _ => self.name(id),
        }
        self.text.push_str(";\n");
        out.write_str(self.text.as_str())
    }
}
