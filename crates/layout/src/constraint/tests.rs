use super::*;
use crate::layout::{Layout, Member, MemberRole};
use crate::testing;
use crate::types::MemberOrder;

fn member(name: &str, bit_offset: u64, bit_size: u64, align: u64) -> Member {
    Member { bit_offset, bit_size, ..testing::member(name, 0, 0, align) }
}

fn long(name: &str, offset: u64) -> Member {
    member(name, offset * 8, 64, 8)
}

fn bit_field(name: &str, bit_offset: u64) -> Member {
    Member { bit_field_storage: Some(32), ..member(name, bit_offset, 1, 4) }
}

fn layout(size: u64, members: Vec<Member>) -> Layout {
    testing::layout("sample", size, members)
}

fn longs(count: u64) -> Layout {
    let members = (0..count).map(|index| long(&format!("m{index}"), index * 8)).collect();
    layout(count * 8, members)
}

fn pin(member: usize) -> PinnedMember {
    PinnedMember { member, reason: "cast at offset 0".to_owned() }
}

fn regions(found: &Constraints) -> Vec<u32> {
    found.units.iter().map(|unit| unit.region).collect()
}

#[test]
fn plain_members_are_free() {
    let found = constraints(&longs(3), &PlacementRequests::default()).unwrap();
    assert_eq!(found.units.len(), 3);
    assert_eq!(found.check(&[2, 0, 1]), Ok(()));
    assert_eq!(found.check(&[2, 0, 0]), Err(OrderViolation::NotAPermutation));
    assert_eq!(found.check(&[2, 0]), Err(OrderViolation::NotAPermutation));
}

#[test]
fn bit_fields_are_one_unit_and_runs_never_meet() {
    let declared = layout(24, vec![bit_field("a", 0), bit_field("b", 1), long("x", 8), bit_field("c", 128)]);
    let found = constraints(&declared, &PlacementRequests::default()).unwrap();
    assert_eq!(found.units[0].members, [0, 1]);
    assert_eq!(found.check(&[1, 2, 0]), Err(OrderViolation::AdjacentBitRuns(0)));
    assert_eq!(found.check(&[2, 1, 0]), Ok(()));
    assert_eq!(found.member_order(&[2, 1, 0]), [3, 2, 0, 1]);
}

#[test]
fn declarators_of_one_line_move_together_unless_the_source_knows_better() {
    let mut declared = longs(3);
    declared.members[0].line = Some(7);
    declared.members[1].line = Some(7);
    let found = constraints(&declared, &PlacementRequests::default()).unwrap();
    assert_eq!(found.units[0].members, [0, 1]);
    let notes = vec![MemberNote::default(); 3];
    let requests = PlacementRequests { notes, ..PlacementRequests::default() };
    assert_eq!(constraints(&declared, &requests).unwrap().units.len(), 3);
}

#[test]
fn members_stay_in_their_group() {
    let begin = Member { role: MemberRole::GroupBegin, ..member("__cacheline_group_begin__hot", 64, 0, 1) };
    let declared = layout(32, vec![long("a", 0), begin, long("b", 8), long("c", 16), long("d", 24)]);
    let found = constraints(&declared, &PlacementRequests::default()).unwrap();
    assert_eq!(found.check(&[0, 1, 4, 3, 2]), Ok(()));
    assert_eq!(found.check(&[2, 1, 0, 3, 4]), Err(OrderViolation::Region(1)));
}

#[test]
fn what_begins_a_line_without_filling_it_keeps_its_neighbours_behind() {
    let mut members = vec![long("a", 0), long("counter", 64), long("b", 72)];
    members[1].explicit_align = Some(64);
    members[1].align = 64;
    let found = constraints(&layout(128, members.clone()), &PlacementRequests::default());
    assert_eq!(found, Err(ReorderRefusal::Fixed), "each is alone where it is");
    members.push(long("c", 80));
    let found = constraints(&layout(128, members), &PlacementRequests::default()).unwrap();
    assert_eq!(found.check(&[0, 1, 3, 2]), Ok(()));
    assert!(found.check(&[2, 1, 0, 3]).is_err());
}

#[test]
fn a_member_that_fills_its_lines_is_free() {
    let mut members = vec![long("a", 0), member("average", 512, 512, 64), long("b", 128)];
    members[1].explicit_align = Some(64);
    let found = constraints(&layout(192, members), &PlacementRequests::default()).unwrap();
    assert_eq!(found.check(&[1, 2, 0]), Ok(()));
}

#[test]
fn elements_of_an_inner_array_without_length_stay_behind_it() {
    let open = |offset: u64| {
        let array = Member { role: MemberRole::FlexibleArray, ..member("items", offset * 8 + 64, 0, 8) };
        let count = member("count", offset * 8, 64, 8);
        Member { members: vec![count, array], ..long("head", offset) }
    };
    let found = constraints(
        &layout(32, vec![long("a", 0), open(8), long("storage", 16), long("b", 24)]),
        &PlacementRequests::default(),
    )
    .unwrap();
    assert_eq!(
        found.units.iter().map(|unit| unit.members.clone()).collect::<Vec<_>>(),
        [vec![0], vec![1, 2], vec![3]]
    );
    assert!(found.units.iter().all(|unit| unit.constraint.is_none()));
    let found =
        constraints(&layout(32, vec![long("a", 0), long("b", 8), open(16)]), &PlacementRequests::default())
            .unwrap();
    assert!(found.units[2].constraint.is_some());
}

#[test]
fn pins_and_flexible_arrays_keep_the_ends() {
    let mut declared = longs(5);
    declared.members[4].role = MemberRole::FlexibleArray;
    declared.members[4].bit_size = 0;
    let requests =
        PlacementRequests { first: vec![pin(2)], last: vec![pin(0)], ..PlacementRequests::default() };
    let found = constraints(&layout(32, declared.members), &requests).unwrap();
    assert_eq!(found.initial_order(), [2, 1, 3, 0, 4]);
    assert_eq!(found.check(&[2, 3, 1, 0, 4]), Ok(()));
    assert!(found.check(&[1, 2, 3, 0, 4]).is_err());
}

#[test]
fn a_kept_member_is_alone_and_knows_its_offset() {
    let requests = PlacementRequests { keep: vec![pin(2)], ..PlacementRequests::default() };
    let found = constraints(&longs(5), &requests).unwrap();
    assert_eq!(found.units[2].kept_offset(), Some(16));
    assert_eq!(regions(&found), [0, 0, 1, 2, 2]);
}

#[test]
fn bit_fields_on_both_sides_of_a_barrier_stay() {
    let members =
        vec![long("a", 0), long("b", 8), bit_field("low", 128), bit_field("high", 129), long("c", 24)];
    let notes = [1, 1, 1, 2, 2].map(|region| MemberNote { region: Some(region), ..MemberNote::default() });
    let requests = PlacementRequests { notes: notes.to_vec(), ..PlacementRequests::default() };
    let found = constraints(&layout(32, members), &requests).unwrap();
    assert_eq!(found.units.len(), 4);
    assert!(found.units[2].constraint.as_ref().is_some_and(|hold| hold.kind == UnitConstraintKind::Fixed));
    assert!(found.check(&[1, 0, 2, 3]).is_ok());
    assert!(found.check(&[2, 0, 1, 3]).is_err() && found.check(&[0, 1, 3, 2]).is_err());
}

#[test]
fn regions_of_the_text_and_stuck_declarations_are_respected() {
    let note = |region, stuck: bool| MemberNote {
        region: Some(region),
        immovable: stuck.then(|| "a macro declares it".to_owned()),
        ..MemberNote::default()
    };
    let requests = PlacementRequests {
        notes: vec![note(0, false), note(0, true), note(1, true), note(1, false), note(1, true)],
        ..PlacementRequests::default()
    };
    let found = constraints(&longs(5), &requests).unwrap(); // 1, 2 and 4 can't move
    assert_eq!(found.check(&[1, 0, 3, 2, 4]), Ok(()));
    assert_eq!(found.check(&[2, 1, 0, 3, 4]), Err(OrderViolation::Region(1)));
    assert_eq!(found.check(&[0, 1, 4, 3, 2]), Err(OrderViolation::ImmovableOrder(2)));
}

#[test]
fn what_has_no_order_of_its_own_is_refused() {
    let union = Layout { kind: "union".to_owned(), ..longs(2) };
    assert_eq!(constraints(&union, &PlacementRequests::default()), Err(ReorderRefusal::Union));
    let packed = layout(9, vec![member("a", 0, 8, 1), member("b", 8, 64, 8)]);
    let refused = ReorderRefusal::Packed(String::new());
    assert_eq!(constraints(&packed, &PlacementRequests::default()), Err(refused));
    let allowed = PlacementRequests { is_shared_allowed: true, ..PlacementRequests::default() };
    assert!(constraints(&packed, &allowed).is_ok());
    let exported = Layout { file: Some("include/uapi/linux/x.h".to_owned()), ..longs(2) };
    assert!(matches!(
        constraints(&exported, &PlacementRequests::default()),
        Err(ReorderRefusal::UserInterface(place)) if place == " (include/uapi/linux/x.h)"
    ));
    assert!(constraints(&exported, &allowed).is_ok());
    let mut reserved = longs(2);
    reserved.members[1].name = Some("rh_reserved1".to_owned());
    assert!(matches!(
        constraints(&reserved, &PlacementRequests::default()),
        Err(ReorderRefusal::Reserved(_))
    ));
    let requests = PlacementRequests { first: vec![pin(9)], ..PlacementRequests::default() };
    assert_eq!(constraints(&longs(2), &requests), Err(ReorderRefusal::NoSuchMember(9)));
    let short = PlacementRequests { notes: vec![MemberNote::default()], ..PlacementRequests::default() };
    assert!(matches!(constraints(&longs(2), &short), Err(ReorderRefusal::Notes { .. })));
}

#[test]
fn held_members_part_what_is_before_from_what_is_behind() {
    let requests = PlacementRequests { fixed: vec![pin(2)], ..PlacementRequests::default() };
    let found = constraints(&longs(5), &requests).unwrap();
    assert_eq!(found.check(&[1, 0, 2, 4, 3]), Ok(()));
    assert_eq!(found.check(&[0, 3, 2, 1, 4]), Err(OrderViolation::Region(2)));
    assert_eq!(found.units[2].constraint.as_ref().map(|hold| hold.kind), Some(UnitConstraintKind::Fixed));
}

#[test]
fn reasons_for_one_member_are_all_given() {
    let twice = PinnedMember { member: 2, reason: "cleared from here on".to_owned() };
    let requests = PlacementRequests { fixed: vec![pin(2), twice], ..PlacementRequests::default() };
    let found = constraints(&longs(5), &requests).unwrap();
    let hold = found.units[2].constraint.as_ref().unwrap();
    assert_eq!(hold.reason, "cast at offset 0; cleared from here on");
}

fn line_request(kind: CachelineRequestKind, members: &[usize]) -> CachelineRequest {
    CachelineRequest { kind, members: members.to_vec(), reason: "requested".to_owned() }
}

#[test]
fn line_requests_name_bits_of_units() {
    let declared = layout(24, vec![bit_field("a", 0), bit_field("b", 1), long("x", 8), bit_field("c", 128)]);
    let requests = PlacementRequests {
        line_requests: vec![line_request(CachelineRequestKind::Same, &[1, 2])],
        ..PlacementRequests::default()
    };
    let found = constraints(&declared, &requests).unwrap();
    let parts = [UnitBits { unit: 0, start: 1, end: 2 }, UnitBits { unit: 1, start: 0, end: 64 }];
    assert_eq!(found.line_constraints[0].ranges, parts);
}

#[test]
fn groups_are_gathered_where_their_first_member_stands() {
    let group = |members: &[usize]| PlacementRequests {
        line_requests: vec![line_request(CachelineRequestKind::Group, members)],
        ..PlacementRequests::default()
    };
    let found = constraints(&longs(5), &group(&[4, 1])).unwrap();
    assert_eq!(found.initial_order(), [0, 1, 4, 2, 3]);
    let fixed = PlacementRequests { fixed: vec![pin(2)], ..group(&[4, 1]) };
    let found = constraints(&longs(5), &fixed).unwrap();
    assert_eq!(found.initial_order(), [0, 1, 2, 3, 4], "the held member stands between them");
}

#[test]
fn members_of_a_run_move_as_one_with_all_between() {
    let run = MemberRun { first: 1, last: 3, reason: "a loop walks through them (a.c:7)".to_owned() };
    let mut requests = PlacementRequests { runs: vec![run], ..PlacementRequests::default() };
    let found = constraints(&longs(5), &requests).unwrap();
    assert_eq!(found.member_order(&[2, 1, 0]), [4, 1, 2, 3, 0]);
    requests.runs[0].last = 5;
    assert_eq!(constraints(&longs(5), &requests), Err(ReorderRefusal::NoSuchMember(5)));
    requests.runs[0].last = 3;
    requests.notes = vec![MemberNote::default(); 6];
    requests.notes[2].guard = Some(1);
    let held = constraints(&longs(6), &requests).unwrap();
    let reason = "its members stay together, but stand under different #if conditions: a loop walks through them (a.c:7)";
    assert_eq!(held.units[1].constraint.as_ref().unwrap().reason, reason);
}

#[test]
fn ordered_members_pass_others_but_not_each_other() {
    let requests = PlacementRequests { ordered: vec![pin(0), pin(2)], ..PlacementRequests::default() };
    let found = constraints(&longs(3), &requests).unwrap();
    assert_eq!(found.check(&[1, 0, 2]), Ok(()));
    assert_eq!(found.check(&[2, 1, 0]), Err(OrderViolation::ImmovableOrder(0)));
}

#[test]
fn what_the_compiler_of_cpp_places_stays_first() {
    let inherited = |ty: &str| Member {
        name: None,
        type_name: ty.to_owned(),
        role: MemberRole::Inherited,
        members: vec![long("own", 0)],
        ..long("", 0)
    };
    let mut declared = longs(4);
    declared.members[0] = inherited("struct base");
    declared.order = MemberOrder::Inherited;
    let found = constraints(&declared, &PlacementRequests::default()).unwrap();
    assert_eq!(found.check(&[0, 3, 1, 2]), Ok(()));
    assert_eq!(found.check(&[1, 0, 2, 3]), Err(OrderViolation::Region(0)));
    // Padding at its end, where a member may come to lie.
    declared.members[0].members[0].bit_size = 32;
    let found = constraints(&declared, &PlacementRequests::default()).unwrap();
    assert_eq!(found.check(&[0, 2, 1, 3]), Err(OrderViolation::Region(1)));
    assert_eq!(found.check(&[0, 1, 3, 2]), Ok(()));
    // Of a class that is only named nothing is known, nor where a virtual one is.
    declared.members[0].bit_size = 0;
    let refusal = constraints(&declared, &PlacementRequests::default()).unwrap_err();
    assert_eq!(refusal, ReorderRefusal::UnknownBase("struct base".to_owned()));
    declared.order = MemberOrder::Virtual;
    let refusal = constraints(&declared, &PlacementRequests::default()).unwrap_err();
    assert_eq!(refusal, ReorderRefusal::Order(MemberOrder::Virtual));
}
