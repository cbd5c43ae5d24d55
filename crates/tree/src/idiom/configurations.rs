//! Cost of aligning groups in configurations that lack some members, where lines before a group aren't full.
//!
//! A plan has offsets of one build. Alignments of members are read off them, as far as two orders show them;
//! what is compared are two sizes computed by the same rule, so that an error is in both.

use crate::variants::describe_case;
use fieldline_layout::abi::{AbiMember, place_members, round_size};
use fieldline_plan::StructPlan;
use fieldline_plan::result::{Group, PlacedMember};
use std::collections::BTreeSet;

/// No scalar has more alignment in bytes.
const LARGEST: u64 = 8;

/// The first configuration without one of the conditions, such as `without CONFIG_X`, in which the struct
/// takes more lines of `line` bytes if groups are aligned to them, and the bytes of these. `guards` has the
/// conditions of each member in the new order.
pub(super) fn find_cost(
    plan: &StructPlan,
    guards: &[Vec<String>],
    line: u64,
    groups: &[&Group],
) -> Option<(String, u64)> {
    let conditions: BTreeSet<&String> = guards.iter().flatten().collect();
    let costs = conditions.into_iter().map(|without| {
        let is_there = |at: usize| !guards.get(at).is_some_and(|own| own.contains(without));
        let lines = |groups: &[&Group]| size(plan, is_there, line, groups).div_ceil(line.max(1));
        let bytes = lines(groups).saturating_sub(lines(&[])).saturating_mul(line);
        (describe_case(without), bytes)
    });
    costs.into_iter().find(|(_, bytes)| *bytes > 0)
}

/// The struct's size with some of its members, by place in the new order, and some groups aligned.
fn size(plan: &StructPlan, is_there: impl Fn(usize) -> bool, line: u64, groups: &[&Group]) -> u64 {
    let mut abi_members = Vec::new();
    let begins = |index: usize| groups.iter().any(|group| group.members.first() == Some(&index));
    let ends = |index: usize| groups.iter().any(|group| group.members.last() == Some(&index));
    for (at, member) in plan.chosen.members.iter().enumerate() {
        if begins(member.index) {
            abi_members.push(AbiMember::bytes(0, line));
        }
        if is_there(at) {
            abi_members.push(abi_member(plan, member, line));
        }
        if ends(member.index) {
            abi_members.push(AbiMember::bytes(0, line));
        }
    }
    let placed = place_members(&abi_members, 1);
    let end = placed.bit_offsets.last().zip(abi_members.last());
    round_size(end.map_or(0, |(offset, slot)| offset.saturating_add(slot.bit_size)), placed.align)
}

/// A member with the alignment that its places in both orders allow: the line's if it begins lines in both.
fn abi_member(plan: &StructPlan, member: &PlacedMember, line: u64) -> AbiMember {
    if let Some(bits) = member.bit_size {
        return AbiMember { bit_size: bits, align: 1, bit_field_storage: Some(u64::MAX), skip: 0 };
    }
    let declared = plan.declared.members.iter().find(|declared| declared.index == member.index);
    let before = declared.map_or(member.offset, |declared| declared.offset);
    let both = before | member.offset;
    if both > 0 && both.is_multiple_of(line.max(1)) && member.size >= line {
        return AbiMember::bytes(member.size, line);
    }
    let common = both | member.size | LARGEST;
    AbiMember::bytes(member.size, 1 << common.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six members of 32 bytes, two a line, those on the second line a group.
    fn plan() -> StructPlan {
        let member = |index: u64| {
            serde_json::json!({"index": index, "name": format!("m{index}"), "type_name": "x", "offset": 32 * index,
                "size": 32, "line": 0})
        };
        let order = serde_json::json!({"size": 192, "members": (0..6).map(member).collect::<Vec<_>>()});
        let group = serde_json::json!({"kind": "hot-written", "members": [2, 3], "bytes": 64, "first_offset": 64,
            "visits": 1.0, "stores": 0.5, "alignment": "conditional", "why": ""});
        let text = serde_json::json!({"name": "s", "fingerprint": 0, "outcome": "moved", "samples": 0, "needed": 0,
            "declared": order, "chosen": order, "groups": [group]});
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_partial_line_in_another_configuration_costs_where_it_adds_one() {
        let struct_plan = plan();
        let groups: Vec<&Group> = struct_plan.groups.iter().collect();
        let guards = |under: &[usize]| -> Vec<Vec<String>> {
            (0..6)
                .map(|own| under.iter().filter(|at| **at == own).map(|_| "defined(X)".to_owned()).collect())
                .collect()
        };
        // 160 bytes take three lines, with a gap of half a line or without.
        assert_eq!(find_cost(&struct_plan, &guards(&[0]), 64, &groups), None);
        // 128 bytes take two, with the gap three.
        let grows = ("without X".to_owned(), 64);
        assert_eq!(find_cost(&struct_plan, &guards(&[0, 4]), 64, &groups), Some(grows));
        assert_eq!(find_cost(&struct_plan, &guards(&[0, 4]), 64, &[]), None);
    }
}
