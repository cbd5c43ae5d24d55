//! Structs side by side in a third one are judged together.

use crate::common::{Sets, Workload, aligned, best_order, layout};
use fieldline_access::access::{AccessProfile, Window};
use fieldline_layout::constraint::{PinnedMember, PlacementRequests};
use fieldline_layout::{Layout, Member};
use fieldline_plan::judge::together::{HeldPart, SideBySide, judge_together};
use fieldline_plan::result::{AlignedLines, Together, TogetherChoice};
use fieldline_plan::simulate::{
    Rearrangement, ReplayCounts, SharedAllocation, SimulatedMachine, TraceAccess, TraceAccesses, TraceObject,
    simulate,
};
use fieldline_plan::{Plan, PlanOptions, PlanRequest, plan};

/// A holder of structs, one behind the other.
fn holder(parts: &[&Layout]) -> SideBySide {
    let mut end = 0;
    let align = parts.iter().map(|part| part.align).max().unwrap();
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
    let holder = Layout { align, ..Layout::from_members(&layout("holder", &[8]), members, end) };
    SideBySide { holder, parts, unalignable: None }
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

/// A plan of two structs in a holder: the first loses a cacheline by its new order, so that the second begins in the
/// middle of 128 bytes. All sets of the second are touched as often. `more` is done to the holder.
fn shrunk(sets: &Sets, options: &PlanOptions, more: impl Fn(&mut SideBySide)) -> (Plan, Together) {
    let line = (64, 64);
    let head = aligned("head", &[&[line][..], &[(4, 4), (8, 8)].repeat(20)].concat());
    let tail = aligned("tail", &[&[line][..], &[(8, 8); 8]].concat());
    let in_head = Workload::for_sets(&[((2..41).step_by(8).collect(), 40_000), (vec![4, 30], 20_000)]);
    let profile = joined(in_head.record(&head, 10), Workload::for_sets(sets).record(&tail, 10));
    let mut side = holder(&[&head, &tail]);
    more(&mut side);
    let requests = [PlacementRequests::default(), PlacementRequests::default()];
    let asked: Vec<PlanRequest<'_>> = [&head, &tail]
        .into_iter()
        .zip(&requests)
        .map(|(layout, requests)| PlanRequest { layout, requests })
        .collect();
    let mut plan = plan(&profile, &asked, options);
    judge_together(&mut plan, &profile, &asked, &[side], options);
    assert_eq!((plan.structs[0].declared.size, plan.structs[0].chosen.size), (384, 320));
    let found = plan.together[0].clone();
    assert_eq!((found.unjudged.as_deref(), found.parts[1].from), (None, 384));
    (plan, found)
}

/// Members on both lines of the second struct.
fn both_lines() -> Sets {
    vec![((0..9).collect(), 40_000)]
}

#[test]
fn a_part_is_aligned_where_that_pays_and_the_holder_has_room() {
    let (plan, found) = shrunk(&both_lines(), &best_order(), |_| ());
    assert_eq!((found.before, found.after, found.slab_after), (512, 512, 512));
    assert_eq!((found.parts[0].to, found.parts[1].to), (0, 384));
    let [part] = found.aligned.as_slice() else { panic!("{:?}", found.aligned) };
    assert_eq!((part.member.as_str(), part.to, part.padding), ("the_tail", 128, 64));
    let lines = |line| {
        part.lines.iter().find(|row: &&AlignedLines| (row.line, row.build_line) == (line, 64)).unwrap().lines
    };
    assert_eq!(lines(64).before, lines(64).after);
    assert!(lines(128).after < 0.9 * lines(128).before, "{:?}", part.lines);
    let own = fieldline_plan::StructPlan::of_holder(&found).unwrap();
    let offsets: Vec<u64> = own.chosen.members.iter().map(|member| member.offset).collect();
    assert_eq!((own.name.as_str(), own.chosen.size, offsets), ("holder", 512, vec![0, 384]));
    assert_eq!((own.declared.size, own.aligned), (512, vec![(1, 128)]));
    let all: Vec<String> = plan.structs_and_holders().into_iter().map(|planned| planned.name).collect();
    assert_eq!(all, ["head", "tail", "holder"]);
    // Longer lines that aren't judged count for nothing.
    let short = PlanOptions { lines: vec![64], ..best_order() };
    assert!(shrunk(&both_lines(), &short, |_| ()).1.aligned.is_empty());
}

#[test]
fn no_part_is_aligned_that_gains_nothing_or_makes_the_holder_larger() {
    let (_, found) = shrunk(&vec![(vec![3], 20_000), (vec![5], 20_000)], &best_order(), |_| ());
    assert_eq!((found.aligned.len(), found.parts[1].to, found.after), (0, 320, 448));
    assert_eq!((found.unaligned, found.declaration), (None, None));
    // Nobody touches the part.
    let (_, found) = shrunk(&Sets::new(), &best_order(), |_| ());
    assert_eq!((found.aligned.len(), found.parts[1].to, found.after), (0, 320, 448));
    // With 64 bytes more behind the parts, the alignment rounds 576 bytes up to 640.
    let longer = |side: &mut SideBySide| {
        let last = Member {
            name: Some("last".to_owned()),
            type_name: "struct other".to_owned(),
            bit_offset: 512 * 8,
            bit_size: 64 * 8,
            align: 64,
            ..Member::default()
        };
        let members = [side.holder.members.clone(), vec![last]].concat();
        side.holder = Layout::from_members(&side.holder, members, 576);
    };
    let (_, found) = shrunk(&both_lines(), &best_order(), longer);
    assert_eq!((found.aligned.len(), found.parts[1].to, found.after), (0, 320, 512));
}

#[test]
fn what_keeps_an_alignment_out_of_the_declaration_is_said() {
    let unalignable = |side: &mut SideBySide| side.unalignable = Some("it is elsewhere".to_owned());
    let (_, found) = shrunk(&both_lines(), &best_order(), unalignable);
    assert_eq!((found.aligned.len(), found.parts[1].to, found.after), (0, 320, 448));
    let reason = found.unaligned.unwrap();
    assert!(reason.starts_with("the_tail would touch fewer lines of 128 B"), "{reason}");
    assert!(reason.ends_with(": it is elsewhere"), "{reason}");
    let unaware = |side: &mut SideBySide| side.holder.align = 8;
    let reason = shrunk(&both_lines(), &best_order(), unaware).1.unaligned.unwrap();
    assert!(reason.ends_with("struct holder isn't aligned to a cacheline now"), "{reason}");
}

/// Counts of each struct of a plan, replayed on made-up accesses to ten holders.
fn replayed(plan: &Plan, shared: &[SharedAllocation], line: u64) -> Vec<ReplayCounts> {
    let structs: Vec<Rearrangement> = plan.structs.iter().map(Rearrangement::chosen).collect();
    let begin = |holder: u64| 0x10_0000 + 0x1000 * holder;
    let objects = (0..10).flat_map(|holder| {
        let head = TraceObject { base: begin(holder), size: 384, struct_index: 0 };
        [head, TraceObject { base: begin(holder) + 384, size: 128, struct_index: 1 }]
    });
    let objects: Vec<TraceObject> = objects.collect();
    let mut random = fieldline_plan::random::Random::new(3);
    let mut draw = |count: usize| random.below(count) as u64;
    let accesses: Vec<TraceAccess> = (0..20_000)
        .map(|_| TraceAccess {
            cpu: draw(2) as usize,
            address: begin(draw(10)) + 8 * draw(64),
            size: 8,
            is_store: false,
        })
        .collect();
    let sizes = [1 << 10, 1 << 12, 1 << 14];
    let machine = SimulatedMachine { cpus: 2, line, sizes, gap: 4, block: 1 << 20 };
    simulate(&machine, &objects, &structs, shared, &TraceAccesses::Listed(accesses.iter())).totals()
}

/// A visit touches the lines on which its bytes lie. Where objects begin at equal places within lines, here at the
/// begin of one, these are equally many, in whatever allocation they are.
#[test]
fn no_visit_touches_more_lines_in_a_holder_that_aligns_its_parts_than_in_allocations_of_their_own() {
    let (aligned, _) = shrunk(&both_lines(), &best_order(), |_| ());
    let (unaligned, _) =
        shrunk(&both_lines(), &best_order(), |side| side.unalignable = Some("no tree".to_owned()));
    let index = |name: &str| ["head", "tail"].iter().position(|known| *known == name);
    for line in [64, 128] {
        let held = |plan: &Plan| {
            let (_, held) = SharedAllocation::of_plan(&plan.together, index);
            replayed(plan, &held, line)
        };
        let (alone, together, between) = (replayed(&aligned, &[], line), held(&aligned), held(&unaligned));
        for (alone, together) in alone.iter().zip(&together).take(2) {
            assert_eq!((alone.visits, alone.lines), (together.visits, together.lines));
            assert_eq!((alone.costlier, together.costlier), (0, 0));
        }
        assert_eq!(between[0].costlier, 0);
        assert_eq!(between[1].costlier > 0, line == 128, "{:?}", between[1]);
    }
}
