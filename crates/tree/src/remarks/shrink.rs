//! Notes on members that are wider than their values need.

use anyhow::{Context, Result};
use fieldline_debuginfo::types::{self, Types};
use fieldline_layout::{Layout, abi};
use fieldline_plan::packing::{Narrowing, find_narrowings, shrink_remark};
use fieldline_plan::{Plan, StructPlan};
use std::path::Path;

/// Adds a note to each planned struct that narrower members would save a cacheline or a slab class, in its chosen order.
///
/// # Errors
/// If the program can't be read.
pub fn add_shrink_notes(plan: &mut Plan, program: &Path) -> Result<()> {
    let line = plan.build_line;
    types::with_types(program, None, None, |types| {
        for planned in plan.structs.iter_mut().filter(|planned| !planned.declared.members.is_empty()) {
            planned.notes.extend(shrink_note(types, planned, line)?);
        }
        Ok(())
    })
}

fn shrink_note(types: &Types<'_, '_>, planned: &StructPlan, line: u64) -> Result<Option<String>> {
    let found = types.find(types::strip_keyword(&planned.name))?;
    let mut reader = types.reader(&found)?;
    for definition in &found {
        let id = reader.read(definition).with_context(|| planned.name.clone())?;
        let Some(layout) = Layout::from_type(reader.table(), id) else { continue };
        if layout.fingerprint() == planned.fingerprint {
            let narrowings = find_narrowings(reader.table(), id);
            return Ok(in_order(&layout, &narrowings, &planned.order(), line));
        }
    }
    Ok(None)
}

/// The remark for a struct with its members in another order.
fn in_order(layout: &Layout, narrowings: &[Narrowing], order: &[usize], line: u64) -> Option<String> {
    let placed = abi::reorder(layout, order)?;
    let moved = narrowings.iter().filter_map(|narrowing| {
        let member = order.iter().position(|index| *index == narrowing.member)?;
        Some(Narrowing { member, to: narrowing.to.clone() })
    });
    let mut moved: Vec<Narrowing> = moved.collect();
    moved.sort_by_key(|narrowing| narrowing.member);
    shrink_remark(&placed, &moved, line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::testing::numbered;
    use fieldline_plan::packing::NarrowType;

    #[test]
    fn members_are_narrowed_where_the_order_puts_them() {
        let words = [(8, 8); 7];
        let layout = numbered("queue", &[&[(4, 4)][..], &words[..], &[(4, 4), (4, 4)][..]].concat());
        let to = || NarrowType::Enum { bytes: 1, evidence: "enum mode has values 0 to 3".to_owned() };
        let narrowings = [0, 8, 9].map(|member| Narrowing { member, to: to() });
        let declared: Vec<usize> = (0..10).collect();
        assert_eq!(in_order(&layout, &narrowings, &declared, 64), None, "a hole stays in front");
        let order: Vec<usize> = (1..10).chain([0]).collect();
        assert!(in_order(&layout, &narrowings, &order, 64).unwrap().contains("72 -> 64 bytes"));
    }
}
