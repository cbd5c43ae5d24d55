//! Structs within structs, at any depth.

use fieldline_layout::types::{Type, TypeId, TypeTable};

/// Bytes of the smallest struct that counts where none is named: a cacheline.
const LEAST_BYTES: u64 = 64;
/// Elements of an array that count.
const MAX_ELEMENTS: u64 = 4096;
const MAX_DEPTH: u32 = 16;

/// A struct within another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) offset: u64,
    pub(crate) type_name: String,
    pub(crate) size: u64,
    /// The members that lead there.
    pub(crate) path: String,
}

/// The structs within a type that are wanted by name; all of a cacheline or more if none are named.
pub(crate) fn parts(table: &TypeTable, id: TypeId, wanted: &[String]) -> Vec<Part> {
    let mut search = Search { table, wanted, found: Vec::new() };
    search.members(id, 0, "", 0);
    search.found
}

/// Whether a struct is wanted.
pub(crate) fn is_wanted(type_name: &str, size: u64, wanted: &[String]) -> bool {
    if wanted.is_empty() { size >= LEAST_BYTES } else { wanted.iter().any(|name| name == type_name) }
}

struct Search<'t> {
    table: &'t TypeTable,
    wanted: &'t [String],
    found: Vec<Part>,
}

impl Search<'_> {
    fn members(&mut self, id: TypeId, offset: u64, path: &str, depth: u32) {
        let Some(aggregate) = self.table.aggregate(id).filter(|_| depth < MAX_DEPTH) else { return };
        for member in aggregate.members.iter().filter(|member| !member.is_static) {
            let name = member.name.as_deref().unwrap_or_default();
            let path = if path.is_empty() || name.is_empty() {
                format!("{path}{name}")
            } else {
                format!("{path}.{name}")
            };
            self.place(member.ty, offset + member.bit_offset / 8, &path, depth + 1);
        }
    }

    fn place(&mut self, id: TypeId, offset: u64, path: &str, depth: u32) {
        let id = self.table.strip(id);
        if let Type::Array { element, dimensions, .. } = self.table.get(id) {
            let stride = self.table.size_of(*element);
            let count = dimensions.iter().map(|count| count.unwrap_or(0)).product::<u64>();
            if stride > 0 && self.table.aggregate(self.table.strip(*element)).is_some() {
                for index in 0..count.min(MAX_ELEMENTS) {
                    self.place(*element, offset + index * stride, &format!("{path}[{index}]"), depth);
                }
            }
            return;
        }
        let Some(aggregate) = self.table.aggregate(id) else { return };
        if let Some(name) = aggregate.name.as_deref()
            && is_wanted(name, aggregate.size, self.wanted)
        {
            let (type_name, size, path) = (name.to_owned(), aggregate.size, path.to_owned());
            self.found.push(Part { offset, type_name, size, path });
        }
        self.members(id, offset, path, depth);
    }
}
