use super::*;
use crate::layout::{Layout, Member, MemberRole};
use crate::testing::{layout, member};

fn plain(size: u64) -> AbiMember {
    AbiMember::bytes(size, size)
}

fn bits(width: u64, storage: u64) -> AbiMember {
    AbiMember { bit_size: width, align: storage, bit_field_storage: Some(storage * 8), skip: 0 }
}

fn bit_member(name: &str, bit_offset: u64, width: u64, storage: u64) -> Member {
    Member {
        bit_offset,
        bit_size: width,
        bit_field_storage: Some(storage * 8),
        ..member(name, 0, 0, storage)
    }
}

fn holding(outer: Member, members: Vec<Member>) -> Member {
    Member { members, ..outer }
}

#[test]
fn members_go_to_their_alignment_and_the_tail_is_padded() {
    let placed = place_members(&[plain(1), plain(8), plain(4)], 1);
    assert_eq!(placed.bit_offsets, [0, 64, 128]);
    assert_eq!(placed.size, 24);
}

#[test]
fn bit_fields_share_a_unit_until_they_would_cross_it() {
    let placed = place_members(&[bits(20, 4), bits(10, 4), bits(4, 4), plain(1)], 1);
    assert_eq!(placed.bit_offsets, [0, 20, 32, 40]);
    assert_eq!(placed.size, 8);
}

#[test]
fn a_wide_bit_field_of_a_less_aligned_type_moves_by_its_alignment() {
    // i386: `unsigned long long` has 64 bits and 4-byte alignment.
    let wide = AbiMember { bit_size: 40, align: 4, bit_field_storage: Some(64), skip: 0 };
    assert_eq!(next_offset(&wide, 20), 20, "20 + 40 bits fit two 4-byte units");
    assert_eq!(next_offset(&wide, 30), 32, "30 + 40 bits would need three");
}

#[test]
fn a_struct_keeps_its_own_alignment() {
    assert_eq!(place_members(&[plain(4)], 64).size, 64);
}

#[test]
fn natural_layouts_need_no_exception() {
    let natural =
        layout("sample", 24, vec![member("a", 0, 1, 1), member("b", 8, 8, 8), member("c", 16, 4, 4)]);
    assert_eq!(infer_abi(&natural).exceptions, []);
    assert_eq!(find_mismatch(&natural), None);
}

#[test]
fn packed_structs_are_found_by_their_offsets() {
    let packed = layout("sample", 13, vec![member("a", 0, 1, 1), member("b", 1, 8, 8), member("c", 9, 4, 4)]);
    let inferred = infer_abi(&packed);
    assert!(inferred.is_packed());
    assert_eq!(inferred.exceptions, []);
    assert_eq!(inferred.place().bit_offsets, [0, 8, 72]);
    assert_eq!(find_mismatch(&packed), None);
}

#[test]
fn eight_byte_scalars_aligned_to_four_are_found_by_offset_or_by_size() {
    let by_offset =
        layout("sample", 16, vec![member("a", 0, 4, 4), member("b", 4, 8, 8), member("c", 12, 4, 4)]);
    let by_size = layout("sample", 12, vec![member("b", 0, 8, 8), member("a", 8, 4, 4)]);
    for declared in [by_offset, by_size] {
        let inferred = infer_abi(&declared);
        assert_eq!(inferred.cap, 4, "{declared:?}");
        assert_eq!(find_mismatch(&declared), None);
    }
}

#[test]
fn a_cap_shown_inside_an_aggregate_lowers_it() {
    let inner = vec![member("x", 4, 8, 8), member("y", 12, 4, 4)];
    let declared = layout("sample", 16, vec![member("a", 0, 4, 4), holding(member("s", 4, 12, 8), inner)]);
    assert_eq!(infer_abi(&declared).members[1].align, 4);
    assert_eq!(find_mismatch(&declared), None);
}

#[test]
fn alignment_written_in_the_source_is_inferred_as_a_cacheline() {
    let declared =
        layout("sample", 128, vec![member("a", 0, 8, 8), member("hot", 64, 8, 8), member("b", 72, 8, 8)]);
    let inferred = infer_abi(&declared);
    assert_eq!(inferred.members[1].align, 64);
    assert_eq!(inferred.exceptions.len(), 1);
    assert_eq!(find_mismatch(&declared), None);
}

#[test]
fn alignment_of_an_aggregate_shows_in_its_padding() {
    // Nothing before `s` shows that its lock is aligned; its size does.
    let inner = vec![member("lock", 64, 4, 4), member("sum", 72, 8, 8)];
    let declared = layout(
        "sample",
        192,
        vec![member("a", 0, 64, 8), holding(member("s", 64, 64, 8), inner), member("b", 128, 8, 8)],
    );
    assert_eq!(infer_abi(&declared).members[1].align, 64);
}

#[test]
fn unnamed_bit_fields_are_skipped() {
    let declared =
        layout("sample", 8, vec![bit_member("a", 0, 3, 4), bit_member("b", 32, 2, 4), member("c", 5, 1, 1)]);
    let inferred = infer_abi(&declared);
    assert_eq!(inferred.members[1].skip, 29);
    assert_eq!(find_mismatch(&declared), None);
}

#[test]
fn a_gap_without_a_rule_is_an_exception() {
    let gap = layout("sample", 14, vec![member("a", 0, 1, 1), member("b", 3, 1, 1), member("c", 13, 1, 1)]);
    let causes: Vec<AbiExceptionCause> = infer_abi(&gap).exceptions.iter().map(|found| found.cause).collect();
    assert_eq!(causes, [AbiExceptionCause::Gap(16), AbiExceptionCause::Gap(72)]);
    assert_eq!(find_mismatch(&gap), None);
}

#[test]
fn overlaps_and_lost_members_are_disagreements() {
    let overlap = layout("sample", 16, vec![member("a", 0, 8, 8), member("b", 4, 8, 8)]);
    assert_eq!(
        find_mismatch(&overlap),
        Some(PlacementMismatch { member: Some(1), declared: 32, placed: 64 })
    );
    let short = layout("sample", 4, vec![member("a", 0, 8, 8)]);
    assert_eq!(find_mismatch(&short).map(|found| found.member), Some(None));
}

#[test]
fn a_new_order_moves_what_lies_inside_and_drops_holes() {
    let inner = vec![member("x", 8, 4, 4), member("y", 12, 4, 4)];
    let declared = layout(
        "sample",
        32,
        vec![
            member("a", 0, 4, 4),
            holding(member("s", 8, 8, 8), inner),
            member("b", 16, 4, 4),
            member("c", 24, 8, 8),
        ],
    );
    let chosen = reorder(&declared, &[0, 2, 1, 3]).unwrap();
    let offsets: Vec<u64> = chosen.members.iter().map(Member::offset).collect();
    assert_eq!(offsets, [0, 4, 8, 16]);
    assert_eq!(chosen.members[2].members[1].offset(), 12);
    assert_eq!(chosen.size, 24);
    assert_eq!(reorder(&declared, &[0, 0, 1, 2]), None);
    assert_eq!(reorder(&declared, &[0, 1, 2]), None);
}

#[test]
fn the_declared_order_is_reproduced() {
    let declared =
        layout("sample", 128, vec![member("a", 0, 8, 8), member("hot", 64, 8, 8), member("b", 72, 4, 4)]);
    assert_eq!(reorder(&declared, &[0, 1, 2]).unwrap().members, declared.members);
}

#[test]
fn line_alignments_and_the_types_aligned_to_them_follow_the_line() {
    let sums = vec![member("sum", 64, 8, 8), member("avg", 72, 48, 8)];
    let average = Member { align: 64, ..holding(member("average", 64, 64, 8), sums) };
    let counter = Member { align: 64, explicit_align: Some(64), ..member("counter", 192, 8, 8) };
    let declared =
        layout("sample", 256, vec![member("a", 0, 8, 8), average, member("b", 128, 8, 8), counter]);
    let wide = reorder_for_line(&declared, &[0, 1, 2, 3], 64, 128).unwrap();
    let locations: Vec<(u64, u64)> = wide.members.iter().map(|m| (m.offset(), m.size())).collect();
    assert_eq!(locations, [(0, 8), (128, 128), (256, 8), (384, 8)]);
    assert_eq!(wide.size, 512);
    assert_eq!(reorder_for_line(&declared, &[0, 1, 2, 3], 64, 64).unwrap().size, 256);
}

#[test]
fn arrays_of_line_aligned_elements_grow_by_element() {
    let array =
        Member { type_name: "struct per_node[3]".to_owned(), align: 64, ..member("nodes", 0, 192, 8) };
    let wide = reorder_for_line(&layout("sample", 192, vec![array]), &[0], 64, 128).unwrap();
    assert_eq!(wide.size, 384);
}

/// Alignment limit of ABIs that have none.
const NO_LIMIT: u64 = u64::MAX;

#[test]
fn a_new_member_goes_into_the_hole_it_fits() {
    let before =
        layout("sample", 24, vec![member("a", 0, 4, 4), member("b", 8, 8, 8), member("c", 16, 4, 4)]);
    let new = member("new", 0, 4, 4);
    let insert =
        |place| insert_for_line(&before, NewMember { member: &new, align_limit: NO_LIMIT }, place, 0, 0);
    let offsets = |place| {
        insert(place).map(|layout| {
            let offsets: Vec<u64> = layout.members.iter().map(Member::offset).collect();
            (offsets, layout.size)
        })
    };
    assert_eq!(offsets(1), Some((vec![0, 4, 8, 16], 24)));
    assert_eq!(offsets(3), Some((vec![0, 8, 16, 20], 24)));
    assert_eq!(offsets(2), Some((vec![0, 8, 16, 20], 24)));
    assert_eq!(offsets(4), None);
}

#[test]
fn a_new_member_obeys_the_limit_of_the_abi() {
    let before = layout("sample", 8, vec![member("a", 0, 4, 4), member("b", 4, 4, 4)]);
    let new = member("new", 0, 8, 8);
    let size = |align_limit| {
        insert_for_line(&before, NewMember { member: &new, align_limit }, 1, 0, 0)
            .map(|layout| (layout.members[1].offset(), layout.size))
    };
    assert_eq!(size(4), Some((4, 16)));
    assert_eq!(size(NO_LIMIT), Some((8, 24)));
}

#[test]
fn a_new_bit_field_shares_the_unit_of_the_run_before_it() {
    let before = layout("sample", 8, vec![bit_member("a", 0, 3, 4), member("b", 4, 4, 4)]);
    let new = bit_member("new", 0, 2, 4);
    let after = insert_for_line(&before, NewMember { member: &new, align_limit: NO_LIMIT }, 1, 0, 0);
    assert_eq!(after.map(|after| (after.members[1].bit_offset, after.size)), Some((3, 8)));
}

#[test]
fn a_new_member_aligned_to_the_line_follows_it() {
    let before = layout("sample", 8, vec![member("a", 0, 8, 8)]);
    let new = Member { explicit_align: Some(64), ..member("new", 0, 8, 64) };
    let new = NewMember { member: &new, align_limit: NO_LIMIT };
    let place_at_line = |line| {
        insert_for_line(&before, new, 1, 64, line).map(|layout| (layout.members[1].offset(), layout.size))
    };
    assert_eq!((place_at_line(64), place_at_line(128)), (Some((64, 128)), Some((128, 256))));
}

#[test]
fn members_aligned_to_lines_stay_so_behind_a_new_one() {
    // What is aligned to lines keeps to them with a new member before it, in every build.
    let aligned = Member { explicit_align: Some(64), ..member("stats", 64, 64, 64) };
    let before = layout("sample", 128, vec![member("a", 0, 8, 8), aligned]);
    let new = member("new", 0, 8, 8);
    let new = NewMember { member: &new, align_limit: NO_LIMIT };
    let at = |line| {
        insert_for_line(&before, new, 1, 64, line).map(|layout| (layout.members[2].offset(), layout.size))
    };
    assert_eq!((at(64), at(128)), (Some((64, 128)), Some((128, 256))));
}

#[test]
fn a_type_aligned_to_the_line_grows_with_it_also_where_the_member_repeats_its_alignment() {
    // gcc repeats the alignment of a type at its members: only the type's own says that its size follows the
    // line.
    let size = |aligned_type| {
        let stats = Member { explicit_align: Some(64), aligned_type, ..member("stats", 64, 64, 64) };
        let before = layout("sample", 128, vec![member("a", 0, 8, 8), stats]);
        reorder_for_line(&before, &[0, 1], 64, 128).map(|layout| (layout.members[1].size(), layout.size))
    };
    assert_eq!((size(true), size(false)), (Some((128, 256)), Some((64, 256))));
}

/// A base class that holds members of so many bytes, one behind another; the rest is padding.
fn base(size: u64, held: &[u64]) -> Member {
    let inherited = Member { role: MemberRole::Inherited, ..member("", 0, size, 8) };
    let mut end = 0;
    let inner = held.iter().map(|held| {
        end += held;
        member("own", end - held, *held, *held)
    });
    holding(inherited, inner.collect())
}

#[test]
fn members_in_the_padding_of_a_base_class_stay() {
    let offsets = |declared: &Layout, order: &[usize]| {
        reorder(declared, order)
            .map(|chosen| (chosen.members.iter().map(Member::offset).collect::<Vec<_>>(), chosen.size))
    };
    // `a` and `b` lie in the padding, and what follows them in front of it may come there.
    let members = vec![
        base(16, &[8, 1]),
        member("a", 10, 2, 2),
        member("b", 12, 4, 4),
        member("c", 16, 1, 1),
        member("d", 20, 4, 4),
    ];
    let declared = layout("sample", 24, members);
    assert_eq!(find_mismatch(&declared), None);
    assert_eq!(infer_abi(&declared).exceptions, []);
    assert_eq!(offsets(&declared, &[0, 1, 2, 4, 3]), Some((vec![0, 10, 12, 16, 20], 24)));
    for moved in [[1, 0, 2, 3, 4], [0, 2, 1, 3, 4], [0, 1, 3, 2, 4]] {
        assert_eq!(offsets(&declared, &moved), None, "{moved:?}");
    }
    // Without padding all that is declared may move, with a first member that the padding has no room for not that.
    let full = layout("sample", 24, vec![base(8, &[8]), member("a", 8, 8, 8), member("b", 16, 4, 4)]);
    assert_eq!(offsets(&full, &[0, 2, 1]), Some((vec![0, 8, 16], 24)));
    let padded = layout("sample", 32, vec![base(16, &[8, 4]), member("a", 16, 8, 8), member("b", 24, 4, 4)]);
    assert_eq!(offsets(&padded, &[0, 2, 1]), None);
}

#[test]
fn empty_base_classes_take_no_room() {
    let empty = Member { bit_size: 8, align: 1, ..base(1, &[]) };
    let members =
        vec![empty, base(8, &[8]), member("a", 8, 4, 4), member("b", 16, 8, 8), member("c", 24, 4, 4)];
    let declared = layout("sample", 32, members);
    assert_eq!(find_mismatch(&declared), None);
    let chosen = reorder(&declared, &[0, 1, 2, 4, 3]).unwrap();
    assert_eq!(chosen.members.iter().map(Member::offset).collect::<Vec<_>>(), [0, 0, 8, 12, 16]);
    assert_eq!(chosen.size, 24);
}
