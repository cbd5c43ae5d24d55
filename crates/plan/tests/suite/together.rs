//! Structs side by side in a third one are judged together.

use crate::common::{Workload, best_order, layout};
use fieldline_access::access::{AccessProfile, Window};
use fieldline_layout::constraint::{PinnedMember, PlacementRequests};
use fieldline_layout::{Layout, Member};
use fieldline_plan::judge::together::{HeldPart, SideBySide, judge_together};
use fieldline_plan::result::{Together, TogetherChoice};
use fieldline_plan::{Plan, PlanRequest, plan};

/// A holder of structs, one behind the other.
fn holder(parts: &[&Layout]) -> SideBySide {
    let mut end = 0;
    let members = parts.iter().map(|part| {
        let bit_offset = end * 8;
        end += part.size;
        Member {
            name: Some(format!("the_{}", part.name)),
            type_name: format!("struct {}", part.name),
            bit_offset,
            bit_size: part.size * 8,
            align: part.align,
            ..Member::default()
        }
    });
    let members: Vec<Member> = members.collect();
    let held = (0..members.len()).map(|index| HeldPart { member: index, request: index });
    let parts = held.collect();
    let holder = Layout::from_members(&layout("holder", &[8]), members, end);
    SideBySide { holder, parts }
}

/// One profile of two.
fn joined(first: AccessProfile, second: AccessProfile) -> AccessProfile {
    let shift = first.functions.len() as u32;
    let mut all = first;
    all.functions.extend(second.functions);
    for mut held in second.types {
        held.accesses.iter_mut().for_each(|access| {
            access.function += shift;
            access.ip += 0x10_0000;
        });
        all.types.push(held);
    }
    all.windows.extend(second.windows.into_iter().map(|window| Window {
        entries: window.entries.iter().map(|(_, function)| (1, function + shift)).collect(),
        ..window
    }));
    all
}

fn judged(requests: &[PlacementRequests; 2]) -> (Plan, Together) {
    // Twelve words: the second struct begins in the middle of a line.
    let (head, tail) = (layout("head", &[8; 12]), layout("tail", &[8; 12]));
    let every_third = || Workload::for_sets(&[((0..12).step_by(3).collect(), 40_000), (vec![1, 11], 20_000)]);
    let profile = joined(every_third().record(&head, 10), every_third().record(&tail, 10));
    let side = holder(&[&head, &tail]);
    let asked = [&head, &tail].into_iter().zip(requests);
    let asked: Vec<PlanRequest<'_>> =
        asked.map(|(layout, requests)| PlanRequest { layout, requests }).collect();
    let mut plan = plan(&profile, &asked, &best_order());
    judge_together(&mut plan, &profile, &asked, &[side], &best_order());
    let found = plan.together[0].clone();
    (plan, found)
}

#[test]
fn no_orders_side_by_side_are_worse_than_declared_or_than_alone() {
    let (plan, found) = judged(&Default::default());
    assert_eq!((found.holder.as_str(), found.unjudged), ("holder", None));
    assert_eq!((found.before, found.after), (192, 192));
    assert_eq!(found.parts[1].from, plan.structs[0].declared.size);
    assert_eq!(found.parts[1].to, plan.structs[0].chosen.size);
    assert!(!found.lines.is_empty());
    for lines in &found.lines {
        assert!(lines.lines.after <= lines.lines.before, "{lines:?}");
        assert!(found.chosen == TogetherChoice::Some || lines.lines.after <= lines.alone, "{lines:?}");
    }
    let fewer = |lines: &fieldline_plan::result::TogetherLines| lines.lines.after < lines.lines.before;
    assert!(found.lines.iter().any(fewer), "{:?}", found.lines);
    for planned in &plan.structs {
        let mut order = planned.order();
        order.sort_unstable();
        assert_eq!(order, (0..12).collect::<Vec<_>>());
    }
}

#[test]
fn structs_whose_requests_mean_their_own_offsets_are_left_alone() {
    let kept = PinnedMember { member: 1, reason: "asserted".to_owned() };
    let requests =
        [PlacementRequests::default(), PlacementRequests { keep: vec![kept], ..Default::default() }];
    let (plan, found) = judged(&requests);
    assert_eq!(found.unjudged.as_deref(), Some("members of struct tail keep their offsets"));
    assert_eq!(found.parts[1].to, plan.structs[0].chosen.size);
}
