//! Whole plans from made-up recordings: gains, no gain, refusals, reasons, and plans read back.

use crate::common::{self, Function, Operation, Workload, best_order, layout, moved};
use fieldline_access::access::AccessProfile;
use fieldline_layout::constraint::PlacementRequests;
use fieldline_layout::{Layout, abi};
use fieldline_plan::options::{PlanOptions, PlanRequest};
use fieldline_plan::planner::{plan, plan_struct};
use fieldline_plan::{Outcome, Plan, PlanError, StructPlan};

/// Two operations that touch members all over the struct: eight each, one cacheline's worth.
fn scattered() -> (Layout, Workload) {
    let layout = layout("sample", &[8; 32]);
    let enqueue = (0..32).step_by(4).collect();
    let walk = (2..32).step_by(4).collect();
    (layout, Workload::for_sets(&[(enqueue, 40_000), (walk, 20_000)]))
}

fn planned(profile: &AccessProfile, layout: &Layout) -> StructPlan {
    plan_struct(profile, PlanRequest { layout, requests: &PlacementRequests::default() }, &best_order())
}

fn chosen(layout: &Layout, plan: &StructPlan) -> Layout {
    abi::reorder(layout, &plan.order()).unwrap()
}

#[test]
fn members_touched_in_one_go_come_together() {
    let (layout, workload) = scattered();
    let plan = planned(&workload.record(&layout, 10), &layout);
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    let lines = |members: std::iter::StepBy<std::ops::Range<usize>>| {
        let line = |index: usize| {
            plan.chosen.members.iter().find(|member| member.index == index).unwrap().offset / 64
        };
        members.map(line).collect::<std::collections::BTreeSet<u64>>().len()
    };
    assert_eq!((lines((0..32).step_by(4)), lines((2..32).step_by(4))), (1, 1));
    let forecast = &plan.forecasts[0];
    assert_eq!((forecast.line, forecast.build_line), (64, 64));
    assert!(forecast.together.after < 1.1 && forecast.together.before > 3.0, "{forecast:?}");
    assert!(forecast.bound <= forecast.together.after);
    assert_eq!(plan.chosen.size, plan.declared.size);
}

#[test]
fn every_moved_member_has_a_reason_with_names() {
    let (layout, workload) = scattered();
    let plan = planned(&workload.record(&layout, 10), &layout);
    assert!(!plan.moved.is_empty());
    for member in &plan.moved {
        assert!(!member.reason.is_empty());
        if member.loads + member.stores > 0 {
            assert!(
                member
                    .functions
                    .iter()
                    .all(|name| workload.functions.iter().any(|function| function.name == *name))
            );
            assert!(member.reason.contains(&member.functions[0]), "{}", member.reason);
        }
    }
}

#[test]
fn a_planned_struct_is_not_planned_again() {
    let (layout, workload) = scattered();
    let profile = workload.record(&layout, 10);
    let plan = planned(&profile, &layout);
    let better = chosen(&layout, &plan);
    let again = planned(&moved(&profile, &layout, &better), &better);
    assert_eq!(again.outcome(), Outcome::NoGain, "{:?}", again.forecasts);
    assert_eq!(again.chosen, again.declared);
    assert!(again.moved.is_empty());
    assert!(again.reason().is_some());
}

#[test]
fn members_always_touched_together_leave_nothing_to_gain() {
    let layout = layout("sample", &[8; 16]);
    let all: Vec<usize> = (0..16).collect();
    let profile = Workload::for_sets(&[(all, 20_000)]).record(&layout, 10);
    let plan = planned(&profile, &layout);
    assert_eq!(plan.outcome(), Outcome::NoGain);
    assert_eq!(plan.chosen, plan.declared);
}

#[test]
fn a_struct_that_shrinks_by_a_line_is_worth_moving_one_member() {
    // Two holes of four bytes push the struct over a line; filling one with the last member saves it.
    let mut sizes = vec![8; 15];
    sizes.extend([4]);
    sizes.insert(3, 4);
    let layout = layout("sample", &sizes);
    assert_eq!(layout.size, 136);
    let workload = Workload {
        functions: vec![Function {
            name: "touch".to_owned(),
            touches: vec![(0, 1.0), (1, 0.9), (2, 0.8)],
            stores: false,
        }],
        operations: vec![Operation { functions: vec![0], runs: 20_000 }],
    };
    let plan = planned(&workload.record(&layout, 10), &layout);
    assert_eq!(plan.outcome(), Outcome::Moved);
    assert_eq!(plan.chosen.size, 128);
    assert_eq!(plan.moved.len(), 1, "{:?}", plan.moved);
}

#[test]
fn too_few_samples_are_no_ground_for_advice() {
    let (layout, workload) = scattered();
    let mut profile = workload.record(&layout, 10);
    for access in &mut profile.types[0].accesses {
        access.loads = common::tally(access.loads.samples.min(1));
        access.stores = common::tally(access.stores.samples.min(1));
    }
    let plan = planned(&profile, &layout);
    assert_eq!(plan.outcome(), Outcome::TooFewSamples);
    assert!(plan.reason().unwrap_or_default().contains("too few samples: have"));
    let nothing = planned(&AccessProfile::empty(), &layout);
    assert_eq!(nothing.outcome(), Outcome::TooFewSamples);
    assert_eq!(nothing.samples, 0);
}

#[test]
fn recordings_of_slow_loads_only_are_refused() {
    let (layout, workload) = scattered();
    let mut profile = workload.record(&layout, 10);
    for access in &mut profile.types[0].accesses {
        access.levels = access.levels.values().map(|loads| ("L3".to_owned(), *loads)).collect();
    }
    let plan = planned(&profile, &layout);
    assert_eq!(plan.outcome(), Outcome::Refused);
    assert!(plan.reason().unwrap_or_default().contains("perf mem record"));
}

#[test]
fn a_struct_that_cannot_be_reordered_is_refused_with_the_reason() {
    let (layout, workload) = scattered();
    let union = Layout { kind: "union".to_owned(), ..layout.clone() };
    let plan = planned(&workload.record(&layout, 10), &union);
    assert_eq!((plan.outcome(), plan.reason()), (Outcome::Refused, Some("it is a union")));
}

#[test]
fn accesses_through_a_struct_that_holds_it_count() {
    let (inner, workload) = scattered();
    let mut profile = workload.record(&inner, 10);
    let mut outer = layout("outer", &[8; 40]);
    let mut holder = outer.members[2].clone();
    holder.type_name = "struct sample".to_owned();
    holder.bit_size = inner.size * 8;
    outer.members.truncate(2);
    outer.members.push(holder);
    let base = outer.members[2].offset();
    let held = &mut profile.types[0];
    for access in &mut held.accesses {
        access.offset += base;
    }
    held.name = "outer".to_owned();
    held.size = outer.size;
    held.layout = Some(outer);
    let plan = planned(&profile, &inner);
    assert_eq!(plan.outcome(), Outcome::Moved);
    assert!(plan.samples > 10_000);
}

#[test]
fn the_order_of_a_profile_and_threads_do_not_matter() {
    let (layout, workload) = scattered();
    let profile = workload.record(&layout, 10);
    let mut turned = profile.clone();
    turned.windows.reverse();
    turned.types[0].accesses.reverse();
    turned.functions.reverse();
    let last = profile.functions.len() as u32 - 1;
    for access in &mut turned.types[0].accesses {
        access.function = last - access.function;
    }
    for entry in turned.windows.iter_mut().flat_map(|window| &mut window.entries) {
        entry.1 = last - entry.1;
    }
    let with = |threads: usize, profile: &AccessProfile| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let member_requests = PlacementRequests::default();
        let requests = [PlanRequest { layout: &layout, requests: &member_requests }];
        let plan = pool.install(|| plan(profile, &requests, &PlanOptions::default()));
        serde_json::to_string(&plan).unwrap()
    };
    let bytes = with(1, &profile);
    assert_eq!(with(3, &profile), bytes);
    assert_eq!(with(2, &turned), bytes);
}

#[test]
fn a_plan_read_back_is_checked() {
    let (layout, workload) = scattered();
    let member_requests = PlacementRequests::default();
    let requests = [PlanRequest { layout: &layout, requests: &member_requests }];
    let plan = plan(&workload.record(&layout, 10), &requests, &PlanOptions::default());
    let mut back: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert_eq!(back, plan);
    assert_eq!(back.check_format(), Ok(()));
    let plan_of_struct = back.find_struct("sample").unwrap();
    assert_eq!(
        plan_of_struct.predicted(&layout).unwrap().members[0].offset(),
        plan_of_struct.chosen.members[0].offset
    );

    let other = common::layout("sample", &[8; 31]);
    assert!(matches!(plan_of_struct.predicted(&other), Err(PlanError::OtherLayout { .. })));
    let mut doubled = plan_of_struct.clone();
    doubled.chosen.members[1].index = doubled.chosen.members[0].index;
    assert!(matches!(doubled.predicted(&layout), Err(PlanError::NotAnOrder(_))));
    let mut shifted = plan_of_struct.clone();
    shifted.chosen.members[3].offset += 8;
    assert!(matches!(shifted.predicted(&layout), Err(PlanError::OtherOffset { .. })));
    let mut grown = plan_of_struct.clone();
    grown.chosen.size += 64;
    assert!(matches!(grown.predicted(&layout), Err(PlanError::OtherSize { .. })));
    back.version = 9;
    assert_eq!(back.check_format(), Err(PlanError::Version(9)));
    back.format = "else".to_owned();
    assert!(back.check_format().unwrap_err().to_string().contains("fieldline-plan"));
}
