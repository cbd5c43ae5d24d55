//! Cross-validation and block bootstrap of plans: stable groupings, and none where there is no pattern.

use crate::common::{Workload, best_order, layout};
use fieldline_access::access::AccessProfile;
use fieldline_access::access::BlockCount;
use fieldline_layout::Layout;
use fieldline_layout::constraint::PlacementRequests;
use fieldline_plan::options::{PlanOptions, PlanRequest};
use fieldline_plan::planner::plan_struct;
use fieldline_plan::random::Random;
use fieldline_plan::{Outcome, StructPlan};

/// A recording as one block of time.
pub(crate) fn block(workload: &Workload, layout: &Layout) -> AccessProfile {
    let mut profile = workload.record(layout, 10);
    for access in &mut profile.types[0].accesses {
        let (loads, stores) = (access.loads.samples, access.stores.samples);
        access.blocks = vec![BlockCount { block: 0, loads, stores }];
    }
    for window in &mut profile.windows {
        window.blocks = vec![(0, window.count)];
    }
    profile.blocks = vec![profile.types[0].samples()];
    profile
}

fn in_blocks(blocks: usize, layout: &Layout, workload: impl Fn(&mut Random) -> Workload) -> AccessProfile {
    let mut random = Random::new(11);
    let mut sum = AccessProfile::empty();
    for _ in 0..blocks {
        sum.merge(block(&workload(&mut random), layout));
    }
    sum
}

/// Two operations that touch members all over the struct, a line's worth each, in every block.
fn steady(layout: &Layout) -> AccessProfile {
    in_blocks(10, layout, |random| {
        let (enqueue, walk) = ((0..32).step_by(4).collect(), (2..32).step_by(4).collect());
        let mut runs = |base: u64| base + random.below(500) as u64;
        Workload::for_sets(&[(enqueue, runs(4_000)), (walk, runs(2_000))])
    })
}

/// In each block an operation of its own on eight members, any of them.
fn fickle(layout: &Layout) -> AccessProfile {
    in_blocks(10, layout, |random| {
        let mut members: Vec<usize> = (0..32).collect();
        random.shuffle(&mut members);
        let mut workload = Workload::for_sets(&[(members[..8].to_vec(), 4_000)]);
        let name = random.bits();
        workload
            .functions
            .iter_mut()
            .for_each(|function| function.name = format!("{}_{name:x}", function.name));
        workload
    })
}

fn planned(profile: &AccessProfile, layout: &Layout, resamples: usize) -> StructPlan {
    let options = PlanOptions { resamples, ..best_order() };
    plan_struct(profile, PlanRequest { layout, requests: &PlacementRequests::default() }, &options)
}

#[test]
fn steady_accesses_hold_in_cross_validation_and_resamples() {
    let layout = layout("sample", &[8; 32]);
    let plan = planned(&steady(&layout), &layout, 4);
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    let confidence = plan.confidence.unwrap();
    assert_eq!((confidence.blocks, confidence.folds, confidence.resamples), (10, 5, 4));
    let row = confidence.cross_validation[0];
    assert_eq!((row.line, row.build_line), (64, 64));
    assert!(row.interval.high < 0.0 && row.interval.low < row.sampling.low, "{row:?}");
    assert!(row.sampling.high < -0.5 && row.in_sample_bias.abs() < 0.05, "{row:?}");
    assert!(row.interval.low <= row.interval.change && row.interval.change <= row.interval.high);
    let interval = confidence.interval.unwrap();
    assert!(interval.high < -0.5, "{interval:?}");
    let enqueue: Vec<usize> = (0..32).step_by(4).collect();
    let grouping = confidence.groupings.iter().find(|grouping| grouping.members == enqueue).unwrap();
    assert!((grouping.stability, grouping.weakest) == (1.0, 1.0), "{grouping:?}");
    assert!(confidence.kept.is_empty() && !confidence.members.is_empty());
}

#[test]
fn blocks_without_a_common_pattern_give_no_advice() {
    let layout = layout("sample", &[8; 32]);
    let profile = fickle(&layout);
    let trusting = planned(&profile, &layout, 0);
    assert_eq!((trusting.outcome(), trusting.confidence), (Outcome::Moved, None));
    let plan = planned(&profile, &layout, 4);
    assert_eq!(plan.outcome(), Outcome::NoGain);
    assert_eq!(plan.chosen, plan.declared);
    let confidence = plan.confidence.clone().unwrap();
    assert!(confidence.cross_validation[0].sampling.high >= 0.0, "{confidence:?}");
    assert!(confidence.cross_validation[0].in_sample_bias > 0.1, "{confidence:?}");
    let reason = plan.reason().unwrap_or_default();
    assert!(reason.contains("not statistically significant") || reason.contains("recurs"), "{reason}");
}

#[test]
fn a_profile_without_blocks_is_planned_and_not_judged() {
    let layout = layout("sample", &[8; 32]);
    let workload = Workload::for_sets(&[((0..32).step_by(4).collect(), 40_000), (vec![1, 2, 3], 20_000)]);
    let plan = planned(&workload.record(&layout, 10), &layout, 8);
    assert_eq!(plan.outcome(), Outcome::Moved);
    let confidence = plan.confidence.unwrap();
    assert!(confidence.missing.unwrap().contains("0 blocks"));
    assert!(confidence.cross_validation.is_empty() && confidence.interval.is_none());
}

#[test]
fn threads_do_not_change_a_figure() {
    let layout = layout("sample", &[8; 32]);
    let profile = steady(&layout);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| planned(&profile, &layout, 2))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_plan_with_its_confidence_reads_back() {
    let layout = layout("sample", &[8; 32]);
    let plan = planned(&steady(&layout), &layout, 1);
    let text = serde_json::to_string(&plan).unwrap();
    assert_eq!(serde_json::from_str::<StructPlan>(&text).unwrap(), plan);
    let profile = serde_json::to_string(&steady(&layout)).unwrap();
    assert!(profile.contains("\"blocks\":[["), "counts by block are lists");
    assert_eq!(serde_json::from_str::<AccessProfile>(&profile).unwrap(), steady(&layout));
}
