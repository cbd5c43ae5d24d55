//! Layout changes made by kernel developers, as short lists of facts, and rules every plan keeps.

use crate::common::{Function, Operation, Workload, layout};
use fieldline_access::access::{AccessProfile, CpuAccess};
use fieldline_layout::Layout;
use fieldline_layout::constraint::PlacementRequests;
use fieldline_plan::options::{CandidateChoice, PlanOptions, PlanRequest};
use fieldline_plan::planner::plan_struct;
use fieldline_plan::random::Random;
use fieldline_plan::result::{Candidate, Mark};
use fieldline_plan::{Outcome, StructPlan};
use std::collections::BTreeSet;

fn planned(profile: &AccessProfile, layout: &Layout, options: &PlanOptions) -> StructPlan {
    plan_struct(profile, PlanRequest { layout, requests: &PlacementRequests::default() }, options)
}

fn function(name: &str, members: &[usize], stores: bool) -> Function {
    Function { name: name.to_owned(), touches: members.iter().map(|member| (*member, 1.0)).collect(), stores }
}

/// Lines of 64 bytes on which members begin.
fn lines(plan: &StructPlan, members: &[usize]) -> BTreeSet<u64> {
    let chosen = plan.chosen.members.iter().filter(|member| members.contains(&member.index));
    chosen.map(|member| member.offset / 64).collect()
}

/// Linux 7.2 `sched_entity`: four bytes of `depth` push the aligned `avg` over a line, and there is a hole
/// for them behind the flags.
#[test]
fn one_move_into_a_hole_takes_sched_entity_from_320_to_256_bytes() {
    let mut sizes = vec![16, 24, 8, 8, 8, 8, 16, 1, 1, 1, 1];
    sizes.extend([8; 8]);
    sizes.extend([4, 8, 8, 8, 8, 64]);
    let layout = layout("sample", &sizes);
    assert_eq!(layout.size, 320);
    let workload = Workload {
        functions: vec![function("update", &[0, 1], true), function("walk", &[20, 21], false)],
        operations: vec![
            Operation { functions: vec![0], runs: 20_000 },
            Operation { functions: vec![1], runs: 20_000 },
        ],
    };
    let options = PlanOptions { max_moves: Some(1), ..PlanOptions::default() };
    let plan = planned(&workload.record(&layout, 10), &layout, &options);
    assert_eq!((plan.outcome(), plan.chosen.size, plan.moved.len()), (Outcome::Moved, 256, 1));
}

/// `page_counter` (802f1d522d5f): `usage` is written by all CPUs, `parent` and the limits are read by walks
/// that never write it.
#[test]
fn a_counter_all_cpus_write_leaves_the_line_of_what_they_read() {
    let layout = layout("sample", &[8; 24]);
    let (usage, read) = (2, [1, 3, 4, 5]);
    let workload = Workload {
        functions: vec![function("charge", &[usage], true), function("protection", &read, false)],
        operations: vec![
            Operation { functions: vec![0], runs: 20_000 },
            Operation { functions: vec![1], runs: 20_000 },
        ],
    };
    let mut profile = workload.record(&layout, 10);
    // Functions are seen one at a time, as where samples are too far apart for windows.
    profile.windows.clear();
    let held = &mut profile.types[0];
    held.cpus = (0..4)
        .flat_map(|cpu| {
            held.accesses.iter().map(move |access| CpuAccess {
                offset: access.offset,
                cpu,
                loads: access.loads.samples / 4,
                stores: access.stores.samples / 4,
            })
        })
        .collect();
    for access in held.accesses.iter_mut().filter(|access| access.loads.samples > 0) {
        access.levels.insert("HITM".to_owned(), access.loads.samples / 2);
    }
    let plan = planned(&profile, &layout, &PlanOptions::default());
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    assert!(lines(&plan, &[usage]).is_disjoint(&lines(&plan, &read)));
    let chosen = plan.candidates.iter().find(|candidate| candidate.marks.contains(&Mark::Chosen)).unwrap();
    assert!(chosen.coherence.before > 0.01 && chosen.coherence.after == 0.0, "{:?}", chosen.coherence);
}

/// As in `tcp_sock` (d5fed5addb2b): members read in both directions, and those of one direction only, each a
/// line's worth and declared in no order.
#[test]
fn transmit_and_receive_paths_get_the_fewest_lines() {
    let layout = layout("sample", &[8; 40]);
    let tx: Vec<usize> = (0..40).filter(|member| member % 5 == 0).collect();
    let both: Vec<usize> = (0..40).filter(|member| member % 5 == 2).collect();
    let rx: Vec<usize> = (0..40).filter(|member| member % 5 == 3).collect();
    let workload = Workload {
        functions: vec![
            function("tx", &tx, true),
            function("common", &both, false),
            function("rx", &rx, true),
        ],
        operations: vec![
            Operation { functions: vec![0, 1], runs: 20_000 },
            Operation { functions: vec![1, 2], runs: 20_000 },
        ],
    };
    let plan = planned(&workload.record(&layout, 10), &layout, &PlanOptions::default());
    assert_eq!(plan.outcome(), Outcome::Moved);
    for group in [&tx, &both, &rx] {
        assert_eq!(lines(&plan, group).len(), 1, "{:?}", plan.forecasts);
    }
}

/// `inet_sock` (14006f1d8fa2): nearly all of it is hot in every path, so nothing is to be had.
#[test]
fn a_struct_that_is_hot_all_over_is_left_alone() {
    let layout = layout("sample", &[8; 24]);
    let all: Vec<usize> = (0..24).collect();
    let plan =
        planned(&Workload::for_sets(&[(all, 20_000)]).record(&layout, 10), &layout, &PlanOptions::default());
    assert_eq!((plan.outcome(), plan.candidates.len()), (Outcome::NoGain, 0));
}

fn no_worse(candidate: &Candidate) -> bool {
    let lines = candidate.forecasts.iter().all(|forecast| {
        forecast.together.after <= forecast.together.before && forecast.alone.after <= forecast.alone.before
    });
    lines && candidate.sizes.iter().all(|size| size.after <= size.before)
}

/// Two or three operations on a few members each.
fn workload(members: usize, random: &mut Random) -> Workload {
    let mut set = || (0..members).filter(|_| random.below(3) == 0).collect::<Vec<usize>>();
    let sets: Vec<(Vec<usize>, u64)> = (0..3).map(|_| (set(), 6_000)).collect();
    Workload::for_sets(&sets)
}

#[test]
fn no_candidate_is_worse_than_the_declared_order_anywhere() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let sizes: Vec<u64> = (0..20).map(|_| [4, 8, 8, 16, 24][random.below(5)]).collect();
        let layout = layout("sample", &sizes);
        let profile = workload(sizes.len(), &mut random).record(&layout, 10);
        let plan = planned(&profile, &layout, &PlanOptions::default());
        assert!(plan.candidates.iter().all(no_worse), "{:?}", plan.candidates);
        let is_dominated = |this: &Candidate, other: &Candidate| {
            (other.moved, other.split_blocks, other.parted) == (this.moved, this.split_blocks, this.parted)
                && other.order != this.order
        };
        let candidates = plan.candidates.as_slice();
        assert!(!candidates.iter().any(|this| candidates.iter().any(|other| is_dominated(this, other))));
        let index_of = |mark| plan.candidates.iter().position(|candidate| candidate.marks.contains(&mark));
        assert!(index_of(Mark::Smallest) <= index_of(Mark::Best));
        assert!(index_of(Mark::Recommended) <= index_of(Mark::Best));
        assert_eq!(index_of(Mark::Chosen), index_of(Mark::Recommended));
        for (number, candidate) in (1..).zip(&plan.candidates).take(2) {
            let options = PlanOptions { choice: CandidateChoice::Number(number), ..PlanOptions::default() };
            assert_eq!(planned(&profile, &layout, &options).order(), candidate.order.clone());
        }
        let few = planned(&profile, &layout, &PlanOptions { max_moves: Some(3), ..PlanOptions::default() });
        assert!(few.candidates.iter().all(|candidate| candidate.moved <= 3));
    }
}
