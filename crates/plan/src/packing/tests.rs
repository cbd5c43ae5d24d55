use super::judge::SizeJudge;
use super::*;
use crate::options::{PlanOptions, PlanRequest};
use crate::random::Random;
use crate::result::{Outcome, StructPlan, slab_class};
use crate::search::moved_units;
use fieldline_layout::Layout;
use fieldline_layout::abi::{self, AbiMember, place_members};
use fieldline_layout::constraint::{MemberNote, PinnedMember, PlacementRequests, constraints};
use fieldline_layout::testing::numbered;
use std::collections::BTreeSet;

/// A struct of members with sizes and alignments.
pub(crate) fn layout(members: &[(u64, u64)]) -> Layout {
    numbered("sample", members)
}

fn plan(layout: &Layout, requests: &PlacementRequests, options: &PlanOptions) -> StructPlan {
    pack_struct(PlanRequest { layout, requests }, options)
}

fn packed(layout: &Layout) -> StructPlan {
    plan(layout, &PlacementRequests::default(), &PlanOptions::default())
}

/// Two holes of 4 bytes and 9 quads: 88 bytes, 80 without holes.
const HOLES: [(u64, u64); 12] =
    [(8, 8), (8, 8), (4, 4), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (4, 4), (8, 8)];

#[test]
fn a_hole_is_left_alone_if_nothing_is_saved() {
    // 96 bytes by 88: two lines and the class of 96 bytes both.
    let layout = layout(&HOLES);
    assert_eq!(layout.size, 96);
    let plan = packed(&layout);
    assert_eq!(plan.outcome(), Outcome::NoGain);
    assert_eq!(plan.chosen, plan.declared);
    assert!(
        plan.reason()
            .is_some_and(|reason| reason.contains("neither a cacheline of 64 bytes nor a slab class"))
    );
}

#[test]
fn one_member_moves_where_one_is_enough() {
    let members: Vec<(u64, u64)> =
        [(4, 4), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (4, 4)].into();
    let layout = layout(&members);
    assert_eq!(layout.size, 72);
    let plan = packed(&layout);
    assert_eq!((plan.outcome(), plan.chosen.size, plan.moved.len()), (Outcome::Moved, 64, 1));
    assert!(plan.search.is_some_and(|search| search.optimal));
    assert!(plan.predicted(&layout).is_ok());
}

#[test]
fn no_configuration_pays_for_another() {
    let mut members = vec![(4, 4), (4, 4)];
    members.extend([(8, 8); 7]);
    members.push((4, 4));
    let layout = layout(&members);
    let notes = |guard| {
        let last = MemberNote { guard: Some(guard), ..MemberNote::default() };
        [vec![MemberNote { guard: Some(0), ..MemberNote::default() }; 9], vec![last]].concat()
    };
    // The last member between the first two: as large with it, larger without it.
    let order = [0, 9, 2, 3, 4, 5, 6, 7, 8, 1];
    let accepts = |guard| {
        let requests = PlacementRequests { notes: notes(guard), ..PlacementRequests::default() };
        constraints(&layout, &requests).is_ok_and(|constraints| {
            SizeJudge::new(&layout, &constraints, &PlanOptions::default()).accepts(&order, 0)
        })
    };
    assert!(accepts(0) && !accepts(1));
}

#[test]
fn conditional_members_move_if_no_configuration_grows() {
    // With all members 4+4 share a hole; without the guarded quad the declared order has none.
    let members: Vec<(u64, u64)> =
        [(4, 4), (8, 8), (4, 4), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8)].into();
    let layout = layout(&members);
    assert_eq!(layout.size, 72);
    let notes =
        [0, 1, 0, 0, 0, 0, 0, 0, 0].map(|guard| MemberNote { guard: Some(guard), ..MemberNote::default() });
    let requests = PlacementRequests { notes: notes.to_vec(), ..PlacementRequests::default() };
    let plan = plan(&layout, &requests, &PlanOptions::default());
    assert_eq!((plan.outcome(), plan.chosen.size), (Outcome::Moved, 64));
    let order = plan.order();
    let without: Vec<AbiMember> = order
        .iter()
        .filter(|index| **index != 1)
        .map(|index| AbiMember::bytes(layout.members[*index].size(), layout.members[*index].align))
        .collect();
    assert_eq!(place_members(&without, 1).size, 56);
}

#[test]
fn regions_pins_and_limits_are_kept() {
    let members: Vec<(u64, u64)> =
        [(4, 4), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (8, 8), (4, 4)].into();
    let layout = layout(&members);
    // A region of the text between the two that would meet.
    let notes = [1, 1, 1, 1, 1, 2, 2, 2, 2]
        .map(|region| MemberNote { region: Some(region), ..MemberNote::default() });
    let requests = PlacementRequests { notes: notes.to_vec(), ..PlacementRequests::default() };
    let split = plan(&layout, &requests, &PlanOptions::default());
    assert_eq!(split.outcome(), Outcome::Moved);
    let region = |index: &usize| if *index < 5 { 1 } else { 2 };
    assert!(split.order().is_sorted_by_key(region));
    assert_eq!(split.chosen.size, 64);
    let none = PlanOptions { max_moves: Some(0), ..PlanOptions::default() };
    let refused = plan(&layout, &PlacementRequests::default(), &none);
    assert_eq!(refused.outcome(), Outcome::NoGain);
    assert!(refused.reason().is_some_and(|reason| reason.contains("moves at most 0 members")));
}

#[test]
fn shuffled_orders_differ_by_seed_and_keep_everything() {
    let members: Vec<(u64, u64)> =
        [(8, 8), (4, 4), (4, 4), (8, 8), (2, 2), (2, 2), (4, 4), (8, 8), (8, 8)].into();
    let layout = layout(&members);
    let notes = [1, 1, 1, 1, 1, 1, 1, 2, 2]
        .map(|region| MemberNote { region: Some(region), ..MemberNote::default() });
    let requests = PlacementRequests { notes: notes.to_vec(), ..PlacementRequests::default() };
    let with = |requests: &PlacementRequests, seed| {
        let request = PlanRequest { layout: &layout, requests };
        super::shuffle(&[request], &PlanOptions::default(), seed).structs.remove(0)
    };
    let shuffled = |seed| with(&requests, seed);
    let orders: BTreeSet<Vec<usize>> = (0..8)
        .map(|seed| {
            let plan = shuffled(seed);
            assert_eq!(plan.outcome(), Outcome::Moved);
            assert!(plan.chosen.size <= layout.size + 64 && plan.predicted(&layout).is_ok());
            assert!(plan.order().is_sorted_by_key(|index| *index > 6));
            plan.order()
        })
        .collect();
    assert!(orders.len() > 4, "{orders:?}");
    assert_eq!(shuffled(3), shuffled(3));
    let sized = PlacementRequests { size_is_asserted: true, ..requests.clone() };
    let grown = |requests: &PlacementRequests| {
        (0..64).filter(|seed| with(requests, *seed).chosen.size > layout.size).count()
    };
    assert_eq!(grown(&sized), 0);
    let kept = PlacementRequests { size_is_kept: true, ..requests.clone() };
    assert!((0..64).all(|seed| with(&kept, seed).chosen.size == layout.size));
    assert!((8..56).contains(&grown(&requests)), "{} of 64 grow", grown(&requests));
}

#[test]
fn a_walk_that_comes_back_has_another_order() {
    let layout = layout(&[(8, 8), (8, 8)]);
    let requests = PlacementRequests::default();
    for seed in 0..16 {
        let request = PlanRequest { layout: &layout, requests: &requests };
        let plan = super::shuffle(&[request], &PlanOptions::default(), seed).structs.remove(0);
        assert_eq!(plan.order(), [1, 0], "seed {seed}");
    }
}

#[test]
fn a_struct_in_which_nothing_may_move_names_each_constraint() {
    let layout = layout(&[(8, 8), (4, 4), (8, 8)]);
    let held = |member| PinnedMember { member, reason: format!("reason {member}") };
    let requests = PlacementRequests { fixed: (0..3).map(held).collect(), ..PlacementRequests::default() };
    for plan in [
        plan(&layout, &requests, &PlanOptions::default()),
        super::shuffle(&[PlanRequest { layout: &layout, requests: &requests }], &PlanOptions::default(), 1)
            .structs
            .remove(0),
    ] {
        assert_eq!(plan.outcome(), Outcome::Refused);
        let reasons: Vec<&str> = plan.constraints.iter().map(|held| held.reason.as_str()).collect();
        assert_eq!(reasons, ["reason 0", "reason 1", "reason 2"]);
    }
}

#[test]
fn unions_are_refused() {
    let union = Layout { kind: "union".to_owned(), ..layout(&[(4, 4), (8, 8)]) };
    assert_eq!(packed(&union).outcome(), Outcome::Refused);
}

/// All orders of `count` things.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for next in 0..count {
        all = all
            .into_iter()
            .flat_map(|order: Vec<usize>| {
                (0..=order.len()).map(move |place| {
                    let mut order = order.clone();
                    order.insert(place, next);
                    order
                })
            })
            .collect();
    }
    all
}

/// Sizes and alignments of members: quads, words, bytes, and three bytes of padding-free arrays.
fn members(random: &mut Random, least: usize, end: usize) -> Vec<(u64, u64)> {
    let kinds =
        [(8, 8), (8, 8), (8, 8), (4, 4), (4, 4), (4, 4), (1, 1), (1, 1), (2, 2), (24, 8), (3, 1), (12, 4)];
    (0..least + random.below(end - least)).map(|_| kinds[random.below(kinds.len())]).collect()
}

/// Against all orders: the plan is worth as much as any, and no order worth as much moves fewer members.
#[test]
fn no_order_is_worth_more_or_moves_less() {
    for seed in 0..150 {
        let members = members(&mut Random::new(seed), 2, 7);
        let layout = layout(&members);
        let plan = packed(&layout);
        let worth = |size: u64| (size.div_ceil(64), slab_class(size));
        let all = orders(members.len());
        let sized = all.iter().filter_map(|order| Some((worth(abi::reorder(&layout, order)?.size), order)));
        let least = sized.clone().map(|(worth, _)| worth).min();
        let declared = worth(layout.size);
        assert_eq!(plan.outcome() == Outcome::Moved, least < Some(declared));
        assert_eq!(Some(worth(plan.chosen.size)), least);
        if plan.outcome() == Outcome::Moved {
            let fewest = sized
                .filter(|(worth, _)| Some(*worth) == least)
                .map(|(_, order)| moved_units(order).len())
                .min();
            assert_eq!(Some(plan.moved.len()), fewest);
            let placed = plan.predicted(&layout);
            assert!(placed.is_ok_and(|placed| placed.size < layout.size));
        }
    }
}

/// Larger structs: what is proposed saves something, loses nothing at any line size, and is what its order
/// gives.
#[test]
fn nothing_grows() {
    for seed in 0..150 {
        let members = members(&mut Random::new(seed), 8, 60);
        let layout = layout(&members);
        let plan = packed(&layout);
        assert!(plan.predicted(&layout).is_ok());
        for size in &plan.sizes {
            assert!(size.after <= size.before && size.slab_after <= size.slab_before);
        }
        let saved = plan.sizes.first().is_some_and(|size| {
            size.after.div_ceil(64) < size.before.div_ceil(64) || size.slab_after < size.slab_before
        });
        assert_eq!(plan.outcome() == Outcome::Moved, saved);
        assert_eq!(plan.outcome() == Outcome::Moved, plan.chosen != plan.declared);
    }
}
