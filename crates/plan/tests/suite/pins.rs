//! Pins: every order offered keeps the user's requests about members and cachelines, or the plan is refused.

use crate::common::{Workload, best_order, layout};
use fieldline_access::access::AccessProfile;
use fieldline_layout::constraint::{CachelineRequest, CachelineRequestKind, PinnedMember, PlacementRequests};
use fieldline_layout::{Layout, abi};
use fieldline_plan::options::PlanRequest;
use fieldline_plan::planner::plan_struct;
use fieldline_plan::random::Random;
use fieldline_plan::{Outcome, StructPlan};
use std::collections::BTreeSet;

/// Two operations that touch members all over the struct: eight each, one cacheline's worth.
fn scattered_members() -> (Layout, AccessProfile) {
    let layout = layout("sample", &[8; 32]);
    let enqueue = (0..32).step_by(4).collect();
    let walk = (2..32).step_by(4).collect();
    let profile = Workload::for_sets(&[(enqueue, 40_000), (walk, 20_000)]).record(&layout, 10);
    (layout, profile)
}

fn line_request(kind: CachelineRequestKind, members: &[usize]) -> CachelineRequest {
    CachelineRequest { kind, members: members.to_vec(), reason: format!("{kind:?} {members:?}") }
}

fn planned(layout: &Layout, profile: &AccessProfile, requests: &PlacementRequests) -> StructPlan {
    plan_struct(profile, PlanRequest { layout, requests }, &best_order())
}

/// Lines with bytes of a member in an order, on a machine whose compiler and caches have lines of `line`
/// bytes.
fn lines(layout: &Layout, order: &[usize], member: usize, line: u64) -> BTreeSet<u64> {
    let placed = abi::reorder(layout, order).unwrap();
    let place = order.iter().position(|other| *other == member).unwrap();
    let member = &placed.members[place];
    (member.offset() / line..=(member.offset() + member.size() - 1) / line).collect()
}

/// Whether an order keeps a request, from offsets and the order alone.
fn keeps(layout: &Layout, order: &[usize], request: &CachelineRequest) -> bool {
    let all = |line: u64| -> Vec<BTreeSet<u64>> {
        request.members.iter().map(|member| lines(layout, order, *member, line)).collect()
    };
    let union = |line: u64| all(line).into_iter().flatten().collect::<BTreeSet<u64>>().len() as u64;
    match request.kind {
        CachelineRequestKind::Same => union(64) == 1,
        CachelineRequestKind::Separate => {
            let total = |line: u64| all(line).iter().map(BTreeSet::len).sum::<usize>() as u64;
            [64, 128].iter().all(|line| union(*line) == total(*line))
        }
        CachelineRequestKind::Group => {
            let places: BTreeSet<usize> = request
                .members
                .iter()
                .map(|member| order.iter().position(|other| other == member).unwrap())
                .collect();
            let spread = places.last().unwrap() - places.first().unwrap() + 1;
            let bytes: u64 = request.members.iter().map(|member| layout.members[*member].size()).sum();
            spread == places.len() && union(64) <= bytes.div_ceil(64)
        }
    }
}

fn assert_kept(layout: &Layout, plan: &StructPlan, requests: &PlacementRequests) {
    for candidate in &plan.candidates {
        for request in &requests.line_requests {
            assert!(keeps(layout, &candidate.order, request), "{}: {:?}", request.reason, candidate.order);
        }
    }
    if plan.outcome() == Outcome::Moved {
        assert!(requests.line_requests.iter().all(|request| keeps(layout, &plan.order(), request)));
        assert!(plan.pins.iter().all(|pin| pin.chosen), "{:?}", plan.pins);
    }
}

#[test]
fn untouched_members_join_the_requested_line() {
    let (layout, profile) = scattered_members();
    let requests = PlacementRequests {
        line_requests: vec![line_request(CachelineRequestKind::Same, &[0, 1, 31])],
        ..PlacementRequests::default()
    };
    let plan = planned(&layout, &profile, &requests);
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    assert!(plan.pins.iter().all(|pin| !pin.declared && pin.chosen), "{:?}", plan.pins);
    assert_kept(&layout, &plan, &requests);
    assert!(!keeps(
        &layout,
        &planned(&layout, &profile, &PlacementRequests::default()).order(),
        &requests.line_requests[0]
    ));
}

#[test]
fn members_touched_together_stay_apart_on_request() {
    let (layout, profile) = scattered_members();
    let requests = PlacementRequests {
        line_requests: vec![line_request(CachelineRequestKind::Separate, &[0, 4, 8])],
        ..PlacementRequests::default()
    };
    let plan = planned(&layout, &profile, &requests);
    assert_eq!(
        plan.outcome(),
        Outcome::Refused,
        "on lines of 128 bytes there is no room for three: {plan:?}"
    );
    assert!(plan.reason().unwrap().contains("Separate [0, 4, 8]"), "{:?}", plan.reason());
    let requests = PlacementRequests {
        line_requests: vec![line_request(CachelineRequestKind::Separate, &[0, 4])],
        ..PlacementRequests::default()
    };
    let plan = planned(&layout, &profile, &requests);
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    assert_kept(&layout, &plan, &requests);
    assert!(!keeps(
        &layout,
        &planned(&layout, &profile, &PlacementRequests::default()).order(),
        &requests.line_requests[0]
    ));
}

#[test]
fn a_group_stands_together_on_the_fewest_lines() {
    let (layout, profile) = scattered_members();
    let members: Vec<usize> = (1..24).step_by(2).collect();
    let requests = PlacementRequests {
        line_requests: vec![line_request(CachelineRequestKind::Group, &members)],
        ..PlacementRequests::default()
    };
    let plan = planned(&layout, &profile, &requests);
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    assert_kept(&layout, &plan, &requests);
}

#[test]
fn costly_pins_are_obeyed_and_the_reason_states_the_cost() {
    // All that is touched lies on one line already.
    let layout = layout("sample", &[8; 32]);
    let hot: Vec<usize> = (0..8).collect();
    let profile = Workload::for_sets(&[(hot, 20_000)]).record(&layout, 10);
    let requests = PlacementRequests {
        line_requests: vec![line_request(CachelineRequestKind::Separate, &[0, 1])],
        ..PlacementRequests::default()
    };
    let plan = planned(&layout, &profile, &requests);
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    assert_kept(&layout, &plan, &requests);
    assert!(plan.forecasts[0].together.after > plan.forecasts[0].together.before);
    let reason = plan.reason().unwrap_or_default();
    assert!(reason.contains("more lines than as declared"), "{reason}");
}

#[test]
fn a_pinned_first_member_moves_to_the_front_though_nothing_is_gained() {
    let layout = layout("sample", &[8; 16]);
    let all: Vec<usize> = (0..16).collect();
    let profile = Workload::for_sets(&[(all, 20_000)]).record(&layout, 10);
    let first = PinnedMember { member: 5, reason: "first m5".to_owned() };
    let requests = PlacementRequests { first: vec![first], ..PlacementRequests::default() };
    let plan = planned(&layout, &profile, &requests);
    assert_eq!(plan.outcome(), Outcome::Moved, "{:?}", plan.reason());
    assert_eq!(plan.order()[0], 5);
    assert_eq!((plan.pins.len(), plan.pins[0].declared, plan.pins[0].chosen), (1, false, true));
}

#[test]
fn requests_that_hold_already_change_nothing() {
    let (layout, profile) = scattered_members();
    let free = planned(&layout, &profile, &PlacementRequests::default());
    // Both operations want these together anyway.
    let requests = PlacementRequests {
        line_requests: vec![line_request(CachelineRequestKind::Same, &[0, 4])],
        ..PlacementRequests::default()
    };
    let plan = planned(&layout, &profile, &requests);
    assert!(plan.pins[0].declared && plan.pins[0].chosen);
    assert_eq!(plan.forecasts, free.forecasts);
}

/// Random requests: candidates keep them by their offsets, and lines counted don't include requests.
#[test]
fn candidates_keep_all_requests() {
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let sizes: Vec<u64> =
            (0..12 + random.below(8)).map(|_| [1, 2, 4, 8, 16, 40][random.below(6)]).collect();
        let picks: Vec<BTreeSet<usize>> = (0..1 + random.below(2))
            .map(|_| {
                let mut members: Vec<usize> = (0..12).collect();
                random.shuffle(&mut members);
                members.into_iter().take(2 + random.below(2)).collect()
            })
            .collect();
        let kinds = [random.below(3), random.below(3)];
        let layout = layout("sample", &sizes);
        let sets: Vec<(Vec<usize>, u64)> =
            (0..3).map(|set| ((set..sizes.len()).step_by(3).collect(), 8_000 * (set as u64 + 1))).collect();
        let profile = Workload::for_sets(&sets).record(&layout, 10);
        let kind = |index: usize| {
            [CachelineRequestKind::Same, CachelineRequestKind::Separate, CachelineRequestKind::Group]
                [kinds[index]]
        };
        let lines = picks.iter().enumerate().map(|(index, members)| {
            line_request(kind(index), &members.iter().copied().collect::<Vec<usize>>())
        });
        let requests = PlacementRequests { line_requests: lines.collect(), ..PlacementRequests::default() };
        let plan = planned(&layout, &profile, &requests);
        assert_kept(&layout, &plan, &requests);
        for forecast in &plan.forecasts {
            let most = sizes.len() as f64;
            assert!(forecast.together.before <= most && forecast.bound <= forecast.together.after + 1e-9);
        }
        let free = planned(&layout, &profile, &PlacementRequests::default());
        let before = |plan: &StructPlan| {
            plan.forecasts.iter().map(|forecast| forecast.together.before).collect::<Vec<_>>()
        };
        assert_eq!(before(&plan), before(&free), "wishes are no accesses");
    }
}
