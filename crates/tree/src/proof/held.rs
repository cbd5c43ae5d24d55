//! Layouts of a build with the structs they hold by value in their planned sizes.

use crate::prediction;
use anyhow::Result;
use fieldline_debuginfo::types::{self, Types};
use fieldline_layout::embed::{self, SizeChange};
use fieldline_layout::{Layout, abi};
use fieldline_plan::StructPlan;
use std::path::Path;

/// For each struct of a plan, its layouts in a file built without the patch, as they become if the other
/// planned structs get the sizes that their orders give them there. What holds a struct that holds a planned
/// one is resized too. None of a struct that the file doesn't have.
pub fn declared_layouts(file: &Path, structs: &[&StructPlan]) -> Result<Vec<Vec<Layout>>> {
    types::with_types(file, None, None, |types| {
        let mut changes = Vec::new();
        // A struct may hold one that holds another: sizes settle after as many rounds as that is deep.
        for _ in 0..=structs.len() {
            let found = read_all(types, structs, &changes)?;
            let next = size_changes(types, structs, &found)?;
            if next == changes {
                return Ok(found);
            }
            changes = next;
        }
        read_all(types, structs, &changes)
    })
}

/// The layouts of a struct in a file built with the patch, and whether it holds other planned structs.
pub fn holds_planned(file: &Path, struct_plan: &StructPlan, structs: &[StructPlan]) -> Result<bool> {
    types::with_types(file, None, None, |types| {
        if types.find(&struct_plan.name)?.is_empty() {
            return Ok(false);
        }
        let resized = structs.iter().filter(|other| other.declared.size != other.chosen.size);
        let built = |other: &StructPlan| SizeChange {
            name: types::strip_keyword(&other.name).to_owned(),
            before: other.chosen.size,
            after: other.chosen.size,
        };
        let changes: Vec<SizeChange> = resized.map(built).collect();
        let (table, ids) = types.definitions(&struct_plan.name)?;
        Ok(ids.iter().any(|id| !embed::resized_members(&table, *id, &changes).is_empty()))
    })
}

fn read_all(
    types: &Types<'_, '_>,
    structs: &[&StructPlan],
    changes: &[SizeChange],
) -> Result<Vec<Vec<Layout>>> {
    let read = |struct_plan: &&StructPlan| {
        if types.find(&struct_plan.name)?.is_empty() {
            return Ok(Vec::new());
        }
        let (table, ids) = types.definitions(&struct_plan.name)?;
        let layout = |id| {
            let layout = Layout::from_type(&table, id)?;
            let sizes = embed::resized_members(&table, id, changes);
            Some(if sizes.is_empty() { layout } else { abi::layout_with_members(&layout, &sizes) })
        };
        Ok(ids.into_iter().filter_map(layout).collect())
    };
    structs.iter().map(read).collect()
}

/// The sizes that the planned orders give structs whose layouts are these.
fn size_changes(
    types: &Types<'_, '_>,
    structs: &[&StructPlan],
    found: &[Vec<Layout>],
) -> Result<Vec<SizeChange>> {
    let mut changes = Vec::new();
    for (struct_plan, layouts) in structs.iter().zip(found) {
        for (layout, resized) in read_all(types, &[struct_plan], &[])?.concat().iter().zip(layouts) {
            let after = prediction::predict_build(struct_plan, resized, None);
            let after = after.map_or(resized.size, |predicted| predicted.size);
            if after != layout.size {
                changes.push(SizeChange { name: layout.name.clone(), before: layout.size, after });
            }
        }
    }
    Ok(changes)
}
