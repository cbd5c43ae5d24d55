use super::*;
use crate::packing::tests::layout;
use crate::result::Basis;
use fieldline_access::access::{Access, SampleCount, TypeProfile};
use fieldline_layout::Member;
use fieldline_layout::constraint::{MemberNote, PinnedMember, PlacementRequests};
use fieldline_layout::layout::MemberRole;

/// A member of `size` bytes, aligned to as many.
fn new(size: u64) -> Member {
    let mut member = layout(&[(size, size)]).members.remove(0);
    member.name = Some("new".to_owned());
    member
}

fn addition<'a>(
    layout: &'a Layout,
    requests: &'a PlacementRequests,
    member: &'a Member,
) -> MemberAddition<'a> {
    MemberAddition {
        layout,
        requests,
        guards: &[],
        member,
        declaration: "u32 new",
        align_limit: u64::MAX,
        with: &[],
        is_cold: false,
    }
}

fn placed(addition: &MemberAddition<'_>, profile: Option<&AccessProfile>) -> PlacementReport {
    rank_positions(addition, profile, &PlanOptions::default())
}

/// Two functions that sample members of a struct, `(member, loads)`.
fn profile(layout: &Layout, functions: &[&[(usize, u64)]]) -> AccessProfile {
    let accesses = (0..).zip(functions).flat_map(|(function, touched)| {
        touched.iter().map(move |(member, loads)| Access {
            ip: 0x1000 * u64::from(function) + layout.members[*member].offset(),
            function,
            offset: layout.members[*member].offset(),
            size: layout.members[*member].size().min(8),
            loads: SampleCount { samples: *loads, period: *loads },
            ..Access::default()
        })
    });
    let held = TypeProfile {
        name: layout.name.clone(),
        size: layout.size,
        fingerprint: layout.fingerprint(),
        accesses: accesses.collect(),
        ..TypeProfile::default()
    };
    let names = (0..functions.len()).map(|function| format!("f{function}"));
    AccessProfile { types: vec![held], functions: names.collect(), ..AccessProfile::empty() }
}

#[test]
fn a_hole_comes_first_and_moves_nothing() {
    let layout = layout(&[(8, 8), (4, 4), (8, 8), (8, 8)]);
    let (requests, member) = (PlacementRequests::default(), new(4));
    let place = placed(&addition(&layout, &requests, &member), None);
    let best = &place.placements[0];
    assert_eq!((best.after.as_deref(), best.offset, best.hole, best.shifted), (Some("m1"), 12, 4, 0));
    assert_eq!((place.basis, place.considered, place.legal), (Basis::Layout, 5, 5));
    assert!(!best.grows() && best.reason.starts_with("fits into a hole; no member moves"));
}

#[test]
fn without_a_hole_the_end_comes_before_what_moves_members() {
    let layout = layout(&[(8, 8); 4]);
    let (requests, member) = (PlacementRequests::default(), new(4));
    let place = placed(&addition(&layout, &requests, &member), None);
    let best = &place.placements[0];
    assert_eq!((best.index, best.offset, best.shifted), (4, 32, 0));
    assert_eq!(
        best.reason.split(';').next(),
        Some("the struct grows by 8 bytes, and the slab class from 32 to 64")
    );
}

/// A hole on the first line, which is hot, and one on the second, which nobody touches.
fn two_holes() -> Layout {
    let mut members = vec![(8, 8), (4, 4)];
    members.extend([(8, 8); 7]);
    members.push((4, 4));
    members.push((8, 8));
    layout(&members)
}

#[test]
fn a_cold_line_comes_before_a_hot_one() {
    let layout = two_holes();
    let (requests, member) = (PlacementRequests::default(), new(4));
    let profile = profile(&layout, &[&[(0, 90), (2, 60)], &[(8, 1)]]);
    for is_cold in [false, true] {
        let place =
            placed(&MemberAddition { is_cold, ..addition(&layout, &requests, &member) }, Some(&profile));
        let best = &place.placements[0];
        assert_eq!((place.basis, place.samples, best.after.as_deref()), (Basis::Profile, 151, Some("m9")));
        assert!(best.heat.is_some_and(|heat| !heat.hot && heat.loads == 1), "{best:?}");
        let other = place.placements.iter().find(|spot| spot.after.as_deref() == Some("m1"));
        assert!(other.and_then(|spot| spot.heat).is_some_and(|heat| heat.hot && heat.loads == 150));
    }
}

#[test]
fn what_is_touched_with_others_goes_to_their_line() {
    let layout = two_holes();
    let (requests, member) = (PlacementRequests::default(), new(4));
    let profile = profile(&layout, &[&[(0, 90), (2, 60)], &[(8, 1)]]);
    for profile in [None, Some(&profile)] {
        let place = placed(&MemberAddition { with: &[0], ..addition(&layout, &requests, &member) }, profile);
        assert_eq!(place.placements[0].after.as_deref(), Some("m1"));
        assert!(place.placements[0].reason.contains("on the line of m0 at every line size"));
        assert_eq!(place.with, ["m0"]);
    }
}

#[test]
fn pushing_touched_members_apart_costs_more_than_growth() {
    // The last quads of the first line and the first of the second are touched alone; a hole behind them is
    // farther.
    let mut members = vec![(8, 8); 10];
    members.push((4, 4));
    members.push((8, 8));
    let layout = layout(&members);
    let profile = profile(&layout, &[&[(6, 50), (7, 50)], &[(8, 20)]]);
    let (requests, member) = (PlacementRequests::default(), new(8));
    let place = placed(&addition(&layout, &requests, &member), Some(&profile));
    assert!(place.placements[0].pushed.is_empty());
    // Between them, one of the two that are touched together gets to the next line.
    let options = PlanOptions::default();
    let growth = LayoutGrowth::new(&addition(&layout, &requests, &member), 6, &options);
    let heat = ProfileHeat::new(&profile, &addition(&layout, &requests, &member), &options);
    let visits = growth.map(|growth| heat.visits(&growth, 6));
    let own = visits.and_then(|visits| visits.first().copied());
    assert!(own.is_some_and(|own| own.lines.after > own.lines.before && own.own == 0.0), "{own:?}");
}

#[test]
fn pins_and_text_bar_places() {
    let layout = layout(&[(8, 8), (4, 4), (8, 8), (8, 8)]);
    let member = new(4);
    let pin = |member| PinnedMember { member, reason: "a cast".to_owned() };
    let keep = PlacementRequests { keep: vec![pin(3)], ..PlacementRequests::default() };
    let place = placed(&addition(&layout, &keep, &member), None);
    assert!(place.placements.iter().all(|spot| spot.index == 2 || spot.index == 4), "{:?}", place.placements);
    let first = PlacementRequests { first: vec![pin(0)], last: vec![pin(3)], ..PlacementRequests::default() };
    let place = placed(&addition(&layout, &first, &member), None);
    assert_eq!(place.legal, 3);
    let notes: Vec<MemberNote> =
        (0..4).map(|index| MemberNote { unit: Some(index.max(1)), ..MemberNote::default() }).collect();
    let joined = PlacementRequests { notes, ..PlacementRequests::default() };
    assert_eq!(placed(&addition(&layout, &joined, &member), None).legal, 4);
}

#[test]
fn nothing_stands_behind_a_flexible_array_or_a_mark() {
    let mut layout = layout(&[(8, 8), (8, 8), (0, 8)]);
    layout.members[2].role = MemberRole::FlexibleArray;
    let (requests, member) = (PlacementRequests::default(), new(8));
    assert_eq!(placed(&addition(&layout, &requests, &member), None).legal, 3);
    layout.members[2].role = MemberRole::Plain;
    assert_eq!(placed(&addition(&layout, &requests, &member), None).legal, 3);
}

#[test]
fn conditions_and_groups_become_notes() {
    let mut layout = layout(&[(8, 8), (4, 4), (8, 8), (0, 1), (8, 8), (0, 1)]);
    layout.members[3].name = Some("__cacheline_group_begin__tx".to_owned());
    layout.members[3].role = MemberRole::GroupBegin;
    layout.members[5].name = Some("__cacheline_group_end__tx".to_owned());
    layout.members[5].role = MemberRole::GroupEnd;
    let (requests, member) = (PlacementRequests::default(), new(4));
    let smp = vec!["CONFIG_SMP".to_owned()];
    let guards = [smp.clone(), smp.clone(), smp, vec![], vec![], vec![]];
    let place = placed(&MemberAddition { guards: &guards, ..addition(&layout, &requests, &member) }, None);
    let notes =
        |index| place.placements.iter().find(|spot| spot.index == index).map(|spot| spot.notes.join("; "));
    assert_eq!(notes(2).as_deref(), Some("inside #if CONFIG_SMP; the hole is there with CONFIG_SMP"));
    assert_eq!(notes(6).as_deref(), Some(""));
    let with = MemberAddition { with: &[4], ..addition(&layout, &requests, &member) };
    let inside = placed(&with, None);
    assert!(inside.placements.iter().all(|spot| !spot.notes.iter().any(|note| note.contains("group tx"))));
}

#[test]
fn a_new_bit_field_joins_a_run_and_splits_none() {
    let mut layout = layout(&[(8, 8), (4, 4), (4, 4), (8, 8)]);
    for (index, bit) in [(1, 64), (2, 67)] {
        let member = &mut layout.members[index];
        (member.bit_offset, member.bit_size, member.bit_field_storage) = (bit, 3, Some(32));
    }
    let layout = Layout::from_members(&layout, layout.members.clone(), layout.size);
    let mut member = new(4);
    (member.bit_size, member.bit_field_storage) = (2, Some(32));
    let requests = PlacementRequests::default();
    let place = placed(&addition(&layout, &requests, &member), None);
    // Before the run and inside it there is no legal position.
    assert_eq!(place.legal, 3);
    let best = &place.placements[0];
    assert_eq!((best.index, best.bit_offset), (3, Some(70)));
    assert!(best.notes[0].contains("all that write them need one lock"));
}

#[test]
fn unions_are_refused() {
    let union = Layout { kind: "union".to_owned(), ..layout(&[(8, 8), (4, 4)]) };
    let (requests, member) = (PlacementRequests::default(), new(4));
    let place = placed(&addition(&union, &requests, &member), None);
    assert_eq!(place.refusal.as_deref(), Some("it is a union"));
    assert!(place.placements.is_empty());
}

#[test]
fn a_hole_that_fits_comes_before_growth_on_a_colder_line() {
    let mut members = vec![(8, 8), (4, 4)];
    members.extend([(8, 8); 9]);
    let layout = layout(&members);
    let (requests, member) = (PlacementRequests::default(), new(4));
    let profile = profile(&layout, &[&[(0, 90), (2, 60)]]);
    let place = placed(&addition(&layout, &requests, &member), Some(&profile));
    let [best, second, ..] = &place.placements[..] else { panic!("{place:?}") };
    assert_eq!((best.after.as_deref(), best.grows()), (Some("m1"), false));
    assert!(best.heat.is_some_and(|heat| heat.hot) && second.heat.is_some_and(|heat| !heat.hot));
}

#[test]
fn a_neighbour_whose_line_has_no_place_makes_it_impossible() {
    let layout = layout(&[(8, 8); 10]);
    let pin = |member| PinnedMember { member, reason: "a cast".to_owned() };
    let keep = PlacementRequests { keep: (0..9).map(pin).collect(), ..PlacementRequests::default() };
    let (free, member) = (PlacementRequests::default(), new(8));
    let with = |requests, member, with| {
        placed(&MemberAddition { with, ..addition(&layout, requests, member) }, None)
    };
    let place = with(&keep, &member, &[0]);
    assert!(place.impossible && place.placements.is_empty() && place.suitable == 0, "{place:?}");
    let reason = place.refusal.unwrap_or_default();
    assert!(
        reason.starts_with("no place on the 64-byte cacheline of m0 keeps the constraints: "),
        "{reason}"
    );
    assert!(reason.ends_with("m0 stays first: a cast"), "{reason}");
    let place = with(&keep, &member, &[9]);
    assert!(!place.impossible && place.suitable > 0 && place.refusal.is_none(), "{place:?}");
    let place = with(&free, &member, &[0, 9]);
    let both = "no place is on the 64-byte cachelines of m0 and m9 at once; ask for one of them";
    assert_eq!((place.impossible, place.refusal.as_deref()), (true, Some(both)));
    let wide = Member { align: 64, explicit_align: Some(64), ..new(64) };
    let place = with(&free, &wide, &[0]);
    assert!(place.refusal.is_some_and(|reason| reason.ends_with("the new member does not fit there")));
}

#[test]
fn every_place_offered_is_on_the_line_asked_for() {
    let layout = two_holes();
    let (requests, member) = (PlacementRequests::default(), new(8));
    let mut impossible = Vec::new();
    for wanted in 0..layout.members.len() {
        let with = [wanted];
        let place = placed(&MemberAddition { with: &with, ..addition(&layout, &requests, &member) }, None);
        assert_eq!(place.impossible, place.placements.is_empty(), "{place:?}");
        impossible.extend(place.impossible.then_some(wanted));
        for spot in &place.placements {
            let moved = wanted >= spot.index && spot.shifted > 0;
            let neighbour = layout.members[wanted].offset() + if moved { 8 } else { 0 };
            assert_eq!(neighbour / 64, spot.offset / 64, "{wanted}: {spot:?}");
        }
    }
    // The last member of a full line: whatever is put on the line pushes it to the next one.
    assert_eq!(impossible, [7]);
}
