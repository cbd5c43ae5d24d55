//! Structs that hold another one by value, and their sizes when that one's size changes.

use crate::abi;
use crate::layout::Layout;
use crate::types::{Aggregate, Type, TypeId, TypeTable};
use std::collections::HashMap;

/// How deep structs are searched for the one held; deeper nesting is taken to hold none.
const MAX_DEPTH: u32 = 64;

/// A struct that holds a changed one, itself or in what it holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Embedder {
    /// Its tag.
    pub name: String,
    /// The members that hold it, separated by commas.
    pub member: String,
    /// Size in bytes as declared.
    pub before: u64,
    /// Size in bytes afterwards.
    pub after: u64,
}

/// A struct that gets another size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizeChange {
    /// Its tag.
    pub name: String,
    /// Size in bytes as declared.
    pub before: u64,
    /// Size in bytes afterwards.
    pub after: u64,
}

/// The members of a struct, by declared index, that hold changed ones by value, with their sizes in bytes
/// afterwards.
pub fn resized_members(table: &TypeTable, id: TypeId, changes: &[SizeChange]) -> Vec<(usize, u64)> {
    let mut search = EmbedderSearch { table, changes, sizes_after: HashMap::new() };
    let Some(aggregate) = table.aggregate(id) else { return Vec::new() };
    let present = aggregate.members.iter().filter(|member| !member.is_static).enumerate();
    present.filter_map(|(index, member)| Some((index, search.size_after(member.ty, MAX_DEPTH)?))).collect()
}

/// The structs of a table that hold changed ones by value, with the sizes they get, by name. Alignments are taken to
/// stay.
pub fn embedders(table: &TypeTable, changes: &[SizeChange]) -> Vec<Embedder> {
    let mut search = EmbedderSearch { table, changes, sizes_after: HashMap::new() };
    let mut found = Vec::new();
    for (id, ty) in table.iter() {
        if let Type::Aggregate(aggregate) = ty
            && let Some(tag) = &aggregate.name
            && search.changed_size(aggregate).is_none()
            && let Some(after) = search.size_after(id, MAX_DEPTH)
        {
            let member = search.holding_members(aggregate);
            found.push(Embedder { name: tag.to_string(), member, before: aggregate.size, after });
        }
    }
    found.sort();
    found.dedup();
    found
}

struct EmbedderSearch<'t> {
    table: &'t TypeTable,
    changes: &'t [SizeChange],
    /// Size afterwards of each aggregate that holds the changed one; `None` for others.
    sizes_after: HashMap<TypeId, Option<u64>>,
}

impl EmbedderSearch<'_> {
    /// The size in bytes that a struct itself gets, if it is a changed one.
    fn changed_size(&self, aggregate: &Aggregate) -> Option<u64> {
        let name = aggregate.name.as_deref()?;
        let change =
            self.changes.iter().find(|change| change.name == name && change.before == aggregate.size);
        change.map(|change| change.after)
    }

    /// The size in bytes a type gets, if that changes what it holds.
    fn size_after(&mut self, id: TypeId, depth: u32) -> Option<u64> {
        let depth = depth.checked_sub(1)?;
        let id = self.table.strip(id);
        match self.table.get(id) {
            Type::Array { element, dimensions, is_vector: false } => {
                let each = self.size_after(*element, depth)?;
                Some(dimensions.iter().fold(each, |size, count| size.saturating_mul(count.unwrap_or(0))))
            }
            Type::Aggregate(aggregate) => {
                if let Some(after) = self.changed_size(aggregate) {
                    return Some(after);
                }
                if let Some(known) = self.sizes_after.get(&id) {
                    return *known;
                }
                // Corrupt input may let an aggregate hold itself.
                self.sizes_after.insert(id, None);
                let after = self.resized_size(id, aggregate, depth);
                self.sizes_after.insert(id, after);
                after
            }
            _ => None,
        }
    }

    fn resized_size(&mut self, id: TypeId, aggregate: &Aggregate, depth: u32) -> Option<u64> {
        let present = aggregate.members.iter().filter(|member| !member.is_static);
        let sizes = present.clone().enumerate();
        let sizes: Vec<(usize, u64)> =
            sizes.filter_map(|(index, member)| Some((index, self.size_after(member.ty, depth)?))).collect();
        if sizes.is_empty() {
            return None;
        }
        let layout = Layout::from_type(self.table, id)?;
        (layout.members.len() == present.count()).then(|| abi::size_with_members(&layout, &sizes))
    }

    fn holding_members(&mut self, aggregate: &Aggregate) -> String {
        let holders = aggregate.members.iter().filter(|item| self.size_after(item.ty, MAX_DEPTH).is_some());
        holders.map(|member| member.name.as_deref().unwrap_or("(anonymous)")).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{declared, pointer, signed, structure};
    use crate::types::{MemberDecl, TargetMachine};

    fn put(table: &mut TypeTable, name: &str, size: u64, members: Vec<MemberDecl>) -> TypeId {
        table.push(structure(name, size, members))
    }

    fn member(name: &str, ty: TypeId, offset: u64) -> MemberDecl {
        declared(name, ty, offset * 8)
    }

    /// `inner` of 24 bytes; `pair` holds two and a word; `outer` holds it in an anonymous struct; `other`
    /// only points.
    fn table() -> TypeTable {
        let mut table = TypeTable::new(TargetMachine::default());
        let word = signed(&mut table, "long", 8);
        let three = (0..3).map(|index| member(&format!("m{index}"), word, index * 8)).collect();
        let inner = put(&mut table, "inner", 24, three);
        let two = Type::Array { element: inner, dimensions: vec![Some(2)], is_vector: false };
        let two = table.push(two);
        put(&mut table, "pair", 56, vec![member("two", two, 0), member("end", word, 48)]);
        let holder = put(&mut table, "", 24, vec![member("held", inner, 0)]);
        put(&mut table, "outer", 32, vec![member("start", word, 0), member("", holder, 8)]);
        let pointer = pointer(&mut table, inner);
        put(&mut table, "other", 8, vec![member("pointer", pointer, 0)]);
        table
    }

    fn change(name: &str, before: u64, after: u64) -> SizeChange {
        SizeChange { name: name.to_owned(), before, after }
    }

    #[test]
    fn structs_shrink_with_what_they_hold() {
        let embedder = |name: &str, member: &str, before, after| Embedder {
            name: name.to_owned(),
            member: member.to_owned(),
            before,
            after,
        };
        let expected = vec![embedder("outer", "(anonymous)", 32, 24), embedder("pair", "two", 56, 40)];
        assert_eq!(embedders(&table(), &[change("inner", 24, 16)]), expected);
    }

    #[test]
    fn members_that_hold_several_changed_structs_get_their_sizes() {
        let table = table();
        let id = |name: &str| {
            table
                .iter()
                .find(|(_, ty)| matches!(ty, Type::Aggregate(found) if found.name.as_deref() == Some(name)))
                .unwrap()
                .0
        };
        let changes = [change("inner", 24, 16), change("other", 8, 4)];
        assert_eq!(resized_members(&table, id("pair"), &changes), [(0, 32)]);
        assert_eq!(resized_members(&table, id("outer"), &changes), [(1, 16)]);
        assert_eq!(resized_members(&table, id("inner"), &changes), []);
    }

    #[test]
    fn another_struct_of_the_same_name_is_not_meant() {
        assert!(embedders(&table(), &[change("inner", 32, 16)]).is_empty());
    }
}
