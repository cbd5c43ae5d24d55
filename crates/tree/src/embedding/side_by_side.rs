//! Structs that hold several planned ones side by side, by value.

use super::read_holders;
use crate::edits::align;
use anyhow::Result;
use fieldline_debuginfo::types::{self, Types};
use fieldline_layout::embed::{SizeChange, resized_members};
use fieldline_layout::types::{Aggregate, Type};
use fieldline_layout::{Layout, TypeTable};
use fieldline_plan::judge::together::{HeldPart, SideBySide};
use std::collections::BTreeSet;
use std::path::Path;

/// The structs of a program in which several of `planned` are members one behind the other, by name. Structs that
/// hold one of them twice are left out: its two objects there would need one order. In `tree` their declarations are
/// looked up, whether members can be aligned there.
///
/// # Errors
/// If the program can't be read.
pub fn find_side_by_side(planned: &[Layout], program: &Path, tree: Option<&Path>) -> Result<Vec<SideBySide>> {
    if planned.len() < 2 {
        return Ok(Vec::new());
    }
    types::with_types(program, None, None, |types| find(planned, types, tree))
}

fn find(planned: &[Layout], types: &Types<'_, '_>, tree: Option<&Path>) -> Result<Vec<SideBySide>> {
    let names: Vec<&str> = planned.iter().map(|layout| types::strip_keyword(&layout.name)).collect();
    let table = read_holders(types, &names)?;
    let mut found = Vec::new();
    for (name, size) in holders(&table, planned) {
        let all = types.layouts(&name)?;
        let sides = all.into_iter().filter(|holder| holder.size == size);
        let side = sides.filter_map(|holder| parts(holder, planned)).next();
        found.extend(side.map(|side| SideBySide { unalignable: find_obstacle(&table, &side, tree), ..side }));
    }
    Ok(found)
}

/// Why members of a holder can't be aligned in its declaration; `None` if they can.
fn find_obstacle(table: &TypeTable, side: &SideBySide, tree: Option<&Path>) -> Option<String> {
    let holder = &side.holder;
    let as_it_is = SizeChange { name: holder.name.clone(), before: holder.size, after: holder.size };
    let is_outer = |aggregate: &Aggregate| aggregate.name.as_deref() != Some(&holder.name);
    let mut outer = table.iter().filter_map(|(id, ty)| match ty {
        Type::Aggregate(aggregate) if is_outer(aggregate) => Some((id, aggregate)),
        _ => None,
    });
    let change = std::slice::from_ref(&as_it_is);
    if let Some((_, found)) = outer.find(|(id, _)| !resized_members(table, *id, change).is_empty()) {
        let name = found.name.as_deref().unwrap_or("(anonymous)");
        return Some(format!("struct {name} holds struct {}, and would be aligned, too", holder.name));
    }
    // Without a tree no declaration is read, neither for orders: patches refuse what can't be written.
    let tree = tree?;
    let members = side.parts.iter().map(|part| part.member);
    let behind: Vec<usize> = members.filter(|member| *member > 0).collect();
    align::find_obstacle(tree, holder, &behind)
}

/// Names and sizes in bytes of the structs that hold more than one of the planned ones as members.
fn holders(table: &TypeTable, planned: &[Layout]) -> BTreeSet<(String, u64)> {
    let is_planned = |aggregate: &Aggregate| {
        let is_one = |layout: &&Layout| {
            Some(&*layout.name) == aggregate.name.as_deref() && layout.size == aggregate.size
        };
        planned.iter().any(|layout| is_one(&layout))
    };
    let held = |aggregate: &Aggregate| {
        let types = aggregate.members.iter().filter(|member| !member.is_static).map(|member| member.ty);
        types.filter(|ty| table.aggregate(*ty).is_some_and(is_planned)).count()
    };
    let holder = |ty: &Type| match ty {
        Type::Aggregate(aggregate) if held(aggregate) > 1 => {
            Some((aggregate.name.as_ref()?.to_string(), aggregate.size))
        }
        _ => None,
    };
    table.iter().filter_map(|(_, ty)| holder(ty)).collect()
}

/// The planned members of a holder, if several are neighbours and none is there twice.
fn parts(holder: Layout, planned: &[Layout]) -> Option<SideBySide> {
    let part = |(member, held): (usize, &fieldline_layout::Member)| {
        let is_held = |layout: &Layout| {
            held.type_name == format!("{} {}", layout.kind, layout.name) && held.size() == layout.size
        };
        Some(HeldPart { member, request: planned.iter().position(is_held)? })
    };
    if holder.is_union() {
        return None;
    }
    let parts: Vec<HeldPart> = holder.members.iter().enumerate().filter_map(part).collect();
    let distinct: BTreeSet<usize> = parts.iter().map(|part| part.request).collect();
    let has_neighbours = parts.windows(2).any(|pair| pair[0].member + 1 == pair[1].member);
    let side = SideBySide { holder, parts, unalignable: None };
    (has_neighbours && distinct.len() == side.parts.len()).then_some(side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::Member;
    use fieldline_layout::testing::numbered;

    fn holder(types: &[(&str, u64)]) -> Layout {
        let mut end = 0;
        let members = types.iter().map(|(name, size)| {
            let member = Member {
                type_name: format!("struct {name}"),
                bit_offset: end,
                bit_size: size * 8,
                align: 8,
                ..Member::default()
            };
            end += size * 8;
            member
        });
        let members = members.collect();
        Layout::from_members(&numbered("holder", &[(8, 8)]), members, end / 8)
    }

    #[test]
    fn planned_members_must_be_neighbours_and_there_once() {
        let planned = [numbered("head", &[(8, 8), (8, 8)]), numbered("tail", &[(8, 8)])];
        let found = |types: &[(&str, u64)]| parts(holder(types), &planned).map(|side| side.parts);
        let part = |member, request| HeldPart { member, request };
        assert_eq!(found(&[("tail", 8), ("head", 16), ("other", 8)]), Some(vec![part(0, 1), part(1, 0)]));
        assert_eq!(found(&[("tail", 8), ("other", 8), ("head", 16)]), None);
        assert_eq!(found(&[("tail", 8), ("head", 16), ("tail", 8)]), None);
        assert_eq!(found(&[("tail", 8), ("head", 24)]), None, "another struct of that name");
    }
}
