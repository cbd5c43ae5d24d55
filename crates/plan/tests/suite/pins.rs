//! Pins: what a user asks of members and cachelines is kept by every order offered, or the plan says it can't be.

use crate::common::{Workload, layout};
use fieldline_access::access::AccessProfile;
use fieldline_layout::constraint::{LineKind, LineWish, Pin, Wishes};
use fieldline_layout::{Layout, abi};
use fieldline_plan::options::{PlanOptions, Request};
use fieldline_plan::planner::plan_struct;
use fieldline_plan::random::Random;
use fieldline_plan::{Outcome, StructPlan};
use std::collections::BTreeSet;

/// Two operations that touch members all over the struct: eight each, one cacheline's worth.
fn scattered() -> (Layout, AccessProfile) {
    let layout = layout("sample", &[8; 32]);
    let enqueue = (0..32).step_by(4).collect();
    let walk = (2..32).step_by(4).collect();
    let profile = Workload::of_sets(&[(enqueue, 40_000), (walk, 20_000)]).record(&layout, 10);
    (layout, profile)
}

fn wish(kind: LineKind, members: &[usize]) -> LineWish {
    LineWish { kind, members: members.to_vec(), reason: format!("{kind:?} {members:?}") }
}

fn planned(layout: &Layout, profile: &AccessProfile, wishes: &Wishes) -> StructPlan {
    plan_struct(profile, Request { layout, wishes }, &PlanOptions::default())
}

/// Lines with bytes of a member in an order, on a machine whose compiler and caches have lines of `line` bytes.
fn lines(layout: &Layout, order: &[usize], member: usize, line: u64) -> BTreeSet<u64> {
    let placed = abi::reorder(layout, order).unwrap();
    let place = order.iter().position(|other| *other == member).unwrap();
    let member = &placed.members[place];
    (member.offset() / line..=(member.offset() + member.size() - 1) / line).collect()
}

/// Whether an order keeps a wish, from offsets and the order alone.
fn keeps(layout: &Layout, order: &[usize], wish: &LineWish) -> bool {
    let all = |line: u64| -> Vec<BTreeSet<u64>> {
        wish.members.iter().map(|member| lines(layout, order, *member, line)).collect()
    };
    let union = |line: u64| all(line).into_iter().flatten().collect::<BTreeSet<u64>>().len() as u64;
    match wish.kind {
        LineKind::Same => union(64) == 1,
        LineKind::Apart => {
            let total = |line: u64| all(line).iter().map(BTreeSet::len).sum::<usize>() as u64;
            [64, 128].iter().all(|line| union(*line) == total(*line))
        }
        LineKind::Group => {
            let places: BTreeSet<usize> = wish
                .members
                .iter()
                .map(|member| order.iter().position(|other| other == member).unwrap())
                .collect();
            let spread = places.last().unwrap() - places.first().unwrap() + 1;
            let bytes: u64 = wish.members.iter().map(|member| layout.members[*member].size()).sum();
            spread == places.len() && union(64) <= bytes.div_ceil(64)
        }
    }
}

fn assert_kept(layout: &Layout, plan: &StructPlan, wishes: &Wishes) {
    for candidate in &plan.candidates {
        for wish in &wishes.lines {
            assert!(keeps(layout, &candidate.order, wish), "{}: {:?}", wish.reason, candidate.order);
        }
    }
    if plan.outcome == Outcome::Moved {
        assert!(wishes.lines.iter().all(|wish| keeps(layout, &plan.order(), wish)));
        assert!(plan.pins.iter().all(|pin| pin.chosen), "{:?}", plan.pins);
    }
}

#[test]
fn untouched_members_join_a_line_they_are_wished_on() {
    let (layout, profile) = scattered();
    let wishes = Wishes { lines: vec![wish(LineKind::Same, &[0, 1, 31])], ..Wishes::default() };
    let plan = planned(&layout, &profile, &wishes);
    assert_eq!(plan.outcome, Outcome::Moved, "{:?}", plan.reason);
    assert!(plan.pins.iter().all(|pin| !pin.declared && pin.chosen), "{:?}", plan.pins);
    assert_kept(&layout, &plan, &wishes);
    assert!(!keeps(&layout, &planned(&layout, &profile, &Wishes::default()).order(), &wishes.lines[0]));
}

#[test]
fn members_touched_together_stay_apart_if_that_is_wished() {
    let (layout, profile) = scattered();
    let wishes = Wishes { lines: vec![wish(LineKind::Apart, &[0, 4, 8])], ..Wishes::default() };
    let plan = planned(&layout, &profile, &wishes);
    assert_eq!(plan.outcome, Outcome::Refused, "on lines of 128 bytes there is no room for three: {plan:?}");
    assert!(plan.reason.as_ref().unwrap().contains("Apart [0, 4, 8]"), "{:?}", plan.reason);
    let wishes = Wishes { lines: vec![wish(LineKind::Apart, &[0, 4])], ..Wishes::default() };
    let plan = planned(&layout, &profile, &wishes);
    assert_eq!(plan.outcome, Outcome::Moved, "{:?}", plan.reason);
    assert_kept(&layout, &plan, &wishes);
    assert!(!keeps(&layout, &planned(&layout, &profile, &Wishes::default()).order(), &wishes.lines[0]));
}

#[test]
fn a_group_stands_together_on_the_fewest_lines() {
    let (layout, profile) = scattered();
    let members: Vec<usize> = (1..24).step_by(2).collect();
    let wishes = Wishes { lines: vec![wish(LineKind::Group, &members)], ..Wishes::default() };
    let plan = planned(&layout, &profile, &wishes);
    assert_eq!(plan.outcome, Outcome::Moved, "{:?}", plan.reason);
    assert_kept(&layout, &plan, &wishes);
}

#[test]
fn pins_that_make_it_worse_are_obeyed_and_their_price_is_told() {
    // All that is touched lies on one line already.
    let layout = layout("sample", &[8; 32]);
    let hot: Vec<usize> = (0..8).collect();
    let profile = Workload::of_sets(&[(hot, 20_000)]).record(&layout, 10);
    let wishes = Wishes { lines: vec![wish(LineKind::Apart, &[0, 1])], ..Wishes::default() };
    let plan = planned(&layout, &profile, &wishes);
    assert_eq!(plan.outcome, Outcome::Moved, "{:?}", plan.reason);
    assert_kept(&layout, &plan, &wishes);
    assert!(plan.forecasts[0].together.after > plan.forecasts[0].together.before);
    let reason = plan.reason.unwrap_or_default();
    assert!(reason.contains("more lines than as declared"), "{reason}");
}

#[test]
fn a_pinned_first_member_moves_to_the_front_though_nothing_is_gained() {
    let layout = layout("sample", &[8; 16]);
    let all: Vec<usize> = (0..16).collect();
    let profile = Workload::of_sets(&[(all, 20_000)]).record(&layout, 10);
    let first = Pin { member: 5, reason: "first m5".to_owned() };
    let wishes = Wishes { first: vec![first], ..Wishes::default() };
    let plan = planned(&layout, &profile, &wishes);
    assert_eq!(plan.outcome, Outcome::Moved, "{:?}", plan.reason);
    assert_eq!(plan.order()[0], 5);
    assert_eq!((plan.pins.len(), plan.pins[0].declared, plan.pins[0].chosen), (1, false, true));
}

#[test]
fn wishes_that_hold_already_and_cost_nothing_change_nothing() {
    let (layout, profile) = scattered();
    let free = planned(&layout, &profile, &Wishes::default());
    // Both operations want these together anyway.
    let wishes = Wishes { lines: vec![wish(LineKind::Same, &[0, 4])], ..Wishes::default() };
    let plan = planned(&layout, &profile, &wishes);
    assert!(plan.pins[0].declared && plan.pins[0].chosen);
    assert_eq!(plan.forecasts, free.forecasts);
}

/// Whatever is wished: what is offered keeps it by its offsets, and lines counted don't include wishes.
#[test]
fn offers_keep_all_wishes() {
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
        let profile = Workload::of_sets(&sets).record(&layout, 10);
        let kind = |index: usize| [LineKind::Same, LineKind::Apart, LineKind::Group][kinds[index]];
        let lines = picks
            .iter()
            .enumerate()
            .map(|(index, members)| wish(kind(index), &members.iter().copied().collect::<Vec<usize>>()));
        let wishes = Wishes { lines: lines.collect(), ..Wishes::default() };
        let plan = planned(&layout, &profile, &wishes);
        assert_kept(&layout, &plan, &wishes);
        for forecast in &plan.forecasts {
            let most = sizes.len() as f64;
            assert!(forecast.together.before <= most && forecast.bound <= forecast.together.after + 1e-9);
        }
        let free = planned(&layout, &profile, &Wishes::default());
        let before =
            |plan: &StructPlan| plan.forecasts.iter().map(|of| of.together.before).collect::<Vec<_>>();
        assert_eq!(before(&plan), before(&free), "wishes are no accesses");
    }
}
