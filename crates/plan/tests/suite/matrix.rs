//! No order is proposed that is worse than the declared one in any build given.

use crate::common::{Function, Operation, Workload, best_order, layout};
use fieldline_layout::abi::{self, AbiMember};
use fieldline_layout::constraint::{PlacementRequests, SmallerConfiguration};
use fieldline_layout::{Layout, Member};
use fieldline_plan::cost::AlternateBuild;
use fieldline_plan::options::{PlanOptions, PlanRequest};
use fieldline_plan::planner::plan_struct;
use fieldline_plan::random::Random;
use fieldline_plan::result::{BuildJudged, GroupAlignment, GroupKind};
use fieldline_plan::{Outcome, StructPlan};

/// The same struct in another build: for each member its size there, none for those it lacks.
fn other_layout(declared: &Layout, sizes: &[Option<u64>]) -> Layout {
    let known: Vec<(usize, u64)> =
        sizes.iter().enumerate().filter_map(|(index, size)| Some((index, (*size)?))).collect();
    let align = |size: u64| if size >= 64 { size } else { size.min(8) };
    let slots: Vec<AbiMember> = known.iter().map(|(_, size)| AbiMember::bytes(*size, align(*size))).collect();
    let placed = abi::place_members(&slots, 1);
    let members = known.iter().zip(&placed.bit_offsets).map(|((index, size), bit_offset)| Member {
        bit_offset: *bit_offset,
        bit_size: size * 8,
        align: align(*size),
        ..declared.members[*index].clone()
    });
    Layout::from_members(declared, members.collect(), placed.size)
}

fn options(builds: Vec<(&str, u64, Layout)>) -> PlanOptions {
    let other_builds = builds.into_iter().map(|(name, line, layout)| AlternateBuild {
        name: name.to_owned(),
        line,
        pointer: 8,
        layouts: vec![layout],
    });
    PlanOptions { other_builds: other_builds.collect(), ..PlanOptions::default() }
}

/// Operations on random sets of members.
fn planned(declared: &Layout, sets: &[Vec<usize>], options: &PlanOptions) -> StructPlan {
    planned_with(declared, sets, options, &PlacementRequests::default())
}

fn planned_with(
    declared: &Layout,
    sets: &[Vec<usize>],
    options: &PlanOptions,
    requests: &PlacementRequests,
) -> StructPlan {
    let functions = sets.iter().enumerate().map(|(number, set)| Function {
        name: format!("f{number}"),
        touches: set.iter().map(|member| (*member, 1.0)).collect(),
        stores: number % 2 == 0,
    });
    let workload = Workload {
        functions: functions.collect(),
        operations: (0..sets.len())
            .map(|function| Operation { functions: vec![function], runs: 1_500 })
            .collect(),
    };
    plan_struct(&workload.record(declared, 4), PlanRequest { layout: declared, requests }, options)
}

/// Bytes of a build's struct whose declared members are put in an order.
fn size_there(declared: &Layout, there: &Layout, order: &[usize]) -> u64 {
    let place = |index: &usize| {
        let name = &declared.members[*index].name;
        there.members.iter().position(|member| member.name == *name)
    };
    let order: Vec<usize> = order.iter().filter_map(place).collect();
    abi::reorder(there, &order).unwrap().size
}

/// A struct whose members 0 and 17 are used together, spread over four lines.
fn spread() -> (Layout, Vec<Vec<usize>>) {
    (layout("sample", &[8; 32]), vec![vec![0, 9, 17, 26], vec![3, 12]])
}

#[test]
fn forecasts_name_the_build_and_its_lines() {
    let (declared, sets) = spread();
    // Pointers of four bytes, one member left out: all of it lies on two lines.
    let mut sizes = vec![Some(4); 32];
    sizes[9] = None;
    let small = other_layout(&declared, &sizes);
    let plan = planned(&declared, &sets, &options(vec![("small", 64, small)]));
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    let note = &plan.builds[0];
    assert_eq!((note.judged, note.size, &note.absent), (BuildJudged::Yes, Some(124), &vec![9]));
    let forecasts: Vec<_> =
        plan.forecasts.iter().filter(|row| row.build.as_deref() == Some("small")).collect();
    assert_eq!(forecasts.len(), 1);
    // Half of the visits touch members 0, 17 and 26, which lie on two lines there; members 3 and 12 on one.
    assert!((forecasts[0].together.before - 1.5).abs() < 0.05, "{:?}", forecasts[0]);
    assert!(forecasts[0].together.after <= forecasts[0].together.before && forecasts[0].bound <= 1.0);
    let recorded = &plan.forecasts[0];
    assert!(recorded.build.is_none() && recorded.together.before > 2.5);
}

#[test]
fn an_equivalent_build_is_named_and_costs_nothing() {
    let (declared, sets) = spread();
    let alone = planned(&declared, &sets, &PlanOptions::default());
    let same = planned(&declared, &sets, &options(vec![("same", 64, declared.clone())]));
    assert_eq!((same.builds[0].judged, &same.chosen), (BuildJudged::Equivalent, &alone.chosen));
    assert_eq!(same.forecasts, alone.forecasts);
}

#[test]
fn a_build_without_the_struct_is_not_judged() {
    let (declared, sets) = spread();
    let other = Layout { name: "other".to_owned(), ..declared.clone() };
    let plan = planned(&declared, &sets, &options(vec![("strange", 64, other)]));
    let note = &plan.builds[0];
    assert_eq!((note.judged, note.reason.as_deref()), (BuildJudged::No, Some("it has no struct sample")));
    assert_eq!(plan.outcome(), Outcome::Moved);
}

#[test]
fn groups_cover_the_struct_in_order_and_are_aligned_only_where_free() {
    // Two lines' worth of hot members and two cold lines.
    let declared = layout("sample", &[8; 32]);
    let read: Vec<usize> = (0..32).step_by(4).collect();
    let written: Vec<usize> = (1..32).step_by(4).collect();
    let plan = planned(&declared, &[written, read], &best_order());
    let members: Vec<usize> = plan.groups.iter().flat_map(|group| group.members.clone()).collect();
    assert_eq!(members, plan.order());
    let kinds: Vec<GroupKind> = plan.groups.iter().map(|group| group.kind).collect();
    assert!(
        kinds.contains(&GroupKind::HotReadMostly) && kinds.contains(&GroupKind::HotWritten),
        "{:?}",
        plan.groups
    );
    let cold = plan.groups.iter().filter(|group| group.kind == GroupKind::Cold);
    assert_eq!(cold.map(|group| group.bytes).sum::<u64>(), 128);
    for group in &plan.groups {
        let costs = group.padding.iter().find(|padding| padding.line == 64).map(|padding| padding.aligned);
        let longer = group.padding.iter().find(|padding| padding.line == 128).map(|padding| padding.aligned);
        match group.alignment {
            GroupAlignment::Aligned => assert_eq!((costs, longer), (Some(0), Some(0)), "{group:?}"),
            GroupAlignment::Conditional => assert!(costs == Some(0) && longer > Some(0), "{group:?}"),
            GroupAlignment::None => assert!(group.kind == GroupKind::Cold || costs > Some(0), "{group:?}"),
        }
    }
    // The second of two hot lines begins in the middle of a line of 128 bytes: aligned always, it costs half
    // a line.
    assert!(
        plan.groups.iter().any(|group| group.alignment == GroupAlignment::Conditional),
        "{:?}",
        plan.groups
    );
}

/// The sizes of the other build are computed anew from its own layout; lines are those reported.
#[test]
fn no_candidate_is_worse_anywhere() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let members: Vec<(usize, usize, usize)> =
            (0..12 + random.below(12)).map(|_| (random.below(4), random.below(5), random.below(4))).collect();
        let picks = [(); 4].map(|()| random.bits());
        let sizes: Vec<u64> = members.iter().map(|(size, _, _)| [1, 4, 8, 16][*size]).collect();
        let declared = layout("sample", &sizes);
        let there: Vec<Option<u64>> =
            members.iter().map(|(_, size, kept)| (*kept > 0).then(|| [1, 4, 8, 16, 64][*size])).collect();
        if there.iter().all(Option::is_none) {
            continue;
        }
        let other = other_layout(&declared, &there);
        let sets: Vec<Vec<usize>> = picks
            .iter()
            .map(|pick| (0..sizes.len()).filter(|member| pick >> member & 3 == 0).collect())
            .filter(|set: &Vec<usize>| !set.is_empty())
            .collect();
        if sets.is_empty() {
            continue;
        }
        let plan = planned(&declared, &sets, &options(vec![("other", 128, other.clone())]));
        if plan.outcome() == Outcome::TooFewSamples || plan.outcome() == Outcome::Refused {
            continue;
        }
        assert_eq!(plan.builds[0].judged, BuildJudged::Yes, "{:?}", plan.builds);
        for candidate in &plan.candidates {
            for row in &candidate.forecasts {
                assert!(row.together.after <= row.together.before, "{row:?}");
            }
            let row = candidate.sizes.iter().find(|row| row.build.is_some()).unwrap();
            assert_eq!(row.before, other.size);
            assert_eq!(row.after, size_there(&declared, &other, &candidate.order));
            assert!(row.after <= row.before);
        }
    }
}

/// Orders that grow where some members aren't there, of a plan that knows of that configuration or doesn't.
fn growing_orders(seed: u64, is_known: bool) -> usize {
    let mut random = Random::new(seed);
    let sizes: Vec<u64> = (0..24).map(|_| [4, 4, 8][random.below(3)]).collect();
    let declared = layout("sample", &sizes);
    let absent: Vec<usize> = (0..24).filter(|index| sizes[*index] == 4 && random.below(2) == 0).collect();
    let there = (0..24).map(|index| (!absent.contains(&index)).then_some(sizes[index]));
    let other = other_layout(&declared, &there.collect::<Vec<_>>());
    let sets: Vec<Vec<usize>> = (0..4).map(|_| (0..6).map(|_| random.below(24)).collect()).collect();
    let configuration = SmallerConfiguration { name: "without X".to_owned(), absent };
    let configurations = if is_known { vec![configuration] } else { Vec::new() };
    let requests = PlacementRequests { configurations, ..PlacementRequests::default() };
    let plan = planned_with(&declared, &sets, &best_order(), &requests);
    assert!(plan.sizes.iter().all(|row| row.build.is_none()), "it is no build that was given");
    let grows = |order: &Vec<usize>| size_there(&declared, &other, order) > other.size;
    plan.candidates.iter().filter(|candidate| grows(&candidate.order)).count()
}

#[test]
fn no_candidate_grows_where_a_condition_fails() {
    let known: usize = (0..6).map(|seed| growing_orders(seed, true)).sum();
    let unknown: usize = (0..6).map(|seed| growing_orders(seed, false)).sum();
    assert!(known == 0 && unknown > 0, "{known} and {unknown} orders grow");
}
