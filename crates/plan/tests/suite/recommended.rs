//! The recommended order: the least to read that keeps most of the gain.

use crate::common::{Workload, best_order, layout};
use crate::confidence::block;
use fieldline_access::access::AccessProfile;
use fieldline_layout::Layout;
use fieldline_layout::constraint::{MemberNote, PlacementRequests};
use fieldline_plan::options::{PlanOptions, PlanRequest};
use fieldline_plan::planner::plan_struct;
use fieldline_plan::result::{Candidate, Mark};
use fieldline_plan::{Outcome, StructPlan};

/// Members under two `#if` conditions, the second half under one of its own.
fn conditions(members: usize) -> PlacementRequests {
    let note = |member: usize| MemberNote {
        guard: Some(u32::from(member >= members / 2)),
        paragraph: Some((member / 4) as u32),
        is_under_comment: member % 8 == 4,
        ..MemberNote::default()
    };
    PlacementRequests { notes: (0..members).map(note).collect(), ..PlacementRequests::default() }
}

/// An operation that does most of the work on members all over the struct, and rare ones on others.
fn uneven_workload() -> (Layout, Workload) {
    let often: Vec<usize> = (0..40).step_by(6).collect();
    let sets = [(often, 20_000), (vec![1, 9, 17], 1_500), (vec![3, 21, 35], 1_500), (vec![11, 29], 1_000)];
    (layout("sample", &[8; 40]), Workload::for_sets(&sets))
}

fn uneven() -> (Layout, AccessProfile) {
    let (layout, workload) = uneven_workload();
    let profile = workload.record(&layout, 10);
    (layout, profile)
}

fn planned(layout: &Layout, profile: &AccessProfile, options: &PlanOptions) -> StructPlan {
    let requests = conditions(layout.members.len());
    plan_struct(profile, PlanRequest { layout, requests: &requests }, options)
}

fn marked(plan: &StructPlan, mark: Mark) -> &Candidate {
    plan.candidates.iter().find(|candidate| candidate.marks.contains(&mark)).unwrap()
}

#[test]
fn the_recommended_order_keeps_most_of_the_gain_for_less_to_read() {
    let (layout, profile) = uneven();
    let plan = planned(&layout, &profile, &PlanOptions::default());
    assert_eq!(plan.outcome(), Outcome::Moved);
    let (recommended, best) = (marked(&plan, Mark::Recommended), marked(&plan, Mark::Best));
    assert!(recommended.marks.contains(&Mark::Chosen));
    assert_eq!(plan.order(), recommended.order);
    assert!(recommended.moved < best.moved, "{recommended:?} {best:?}");
    assert!(recommended.split_blocks <= best.split_blocks);
    assert!(recommended.kept.iter().all(|kept| kept.lines >= 0.75 && kept.misses >= 0.75), "{recommended:?}");
    assert!(best.kept.iter().all(|kept| (kept.lines, kept.misses) == (1.0, 1.0)));
    let all = planned(&layout, &profile, &best_order());
    assert_eq!(all.order(), best.order);
}

#[test]
fn a_recommended_order_is_judged_by_whether_each_move_pays() {
    let (layout, workload) = uneven_workload();
    let mut profile = AccessProfile::empty();
    (0..5).for_each(|_| profile.merge(block(&workload, &layout)));
    let plan = planned(&layout, &profile, &PlanOptions { resamples: 4, ..PlanOptions::default() });
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    let confidence = plan.confidence.unwrap();
    assert!(confidence.groupings.is_empty());
    assert!(confidence.kept_gain.is_some_and(|kept| kept > 0.5), "{:?}", confidence.kept_gain);
    assert!(!confidence.members.is_empty());
    assert!(confidence.members.iter().all(|member| member.share == 1.0), "{:?}", confidence.members);
    assert!(confidence.interval.unwrap().high < 0.0);
}
