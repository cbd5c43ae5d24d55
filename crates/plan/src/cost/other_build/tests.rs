use super::*;
use fieldline_layout::constraint::{PlacementRequests, constraints};
use fieldline_layout::testing;

fn member(name: &str, bit_offset: u64, size: u64, align: u64) -> Member {
    Member { type_name: format!("t{size}"), bit_offset, ..testing::member(name, 0, size, align) }
}

/// A struct of members given by name, size and alignment.
fn layout(members: &[(&str, u64, u64)]) -> Layout {
    testing::placed("sample", members)
}

/// With an anonymous struct that holds the names given, four bytes each, in place of a member without name.
fn with_anonymous_struct(mut layout: Layout, names: &[&str]) -> Layout {
    for outer in layout.members.iter_mut().filter(|member| member.name.is_none()) {
        let inner = (0..).zip(names);
        outer.members =
            inner.map(|(index, name)| member(name, outer.bit_offset + 32 * index, 4, 4)).collect();
    }
    layout
}

/// The touched ranges of accesses to these offsets and sizes, and the units.
fn touched_ranges(layout: &Layout, touched: &[(u64, u64)]) -> (Constraints, TouchedRanges) {
    let constraints =
        constraints(layout, &PlacementRequests::default()).unwrap_or_else(|refusal| panic!("{refusal}"));
    let accesses: Vec<_> = touched
        .iter()
        .map(|(offset, size)| fieldline_access::access::Access {
            ip: 0,
            function: 0,
            offset: *offset,
            size: *size,
            loads: Default::default(),
            stores: Default::default(),
            latency: 0,
            levels: Default::default(),
            store_levels: Default::default(),
            blocks: Vec::new(),
            away: Default::default(),
        })
        .collect();
    let ranges = TouchedRanges::new(layout, &constraints, &accesses);
    (constraints, ranges)
}

fn mismatch(declared: &Layout, other: &Layout) -> Option<BuildMismatch> {
    MatchedStruct::new(declared, 64, other, 64).err()
}

#[test]
fn pointers_of_four_bytes_are_placed_by_their_own_size() {
    let declared = layout(&[("a", 8, 8), ("n", 4, 4), ("b", 8, 8), ("list", 16, 8)]);
    let other = layout(&[("a", 4, 4), ("n", 4, 4), ("b", 4, 4), ("list", 8, 4)]);
    let (constraints, ranges) = touched_ranges(&declared, &[(0, 8), (24, 8), (32, 8)]);
    let joined =
        MatchedStruct::new(&declared, 64, &other, 64).unwrap_or_else(|mismatch| panic!("{mismatch}"));
    let build = joined.build(&constraints, &ranges, 64);
    assert_eq!((build.size_limit, declared.size), (20, 40));
    assert_eq!(build.spans(&[2, 0, 1, 3]), [(0, 32), (32, 64), (64, 96), (96, 160)]);
    // `a` as a whole; `list`, whose inside isn't known, as a whole for either half.
    let bits: Vec<_> =
        ranges.iter().enumerate().map(|(number, range)| build.range_bits(number, range)).collect();
    assert_eq!(bits, [Some((0, 32)), Some((0, 64)), Some((0, 64))]);
}

#[test]
fn touched_bytes_inside_a_resized_member_are_found_by_name() {
    let with_inner = |inner: &[(&str, u64, u64)], size: u64, align: u64| {
        let mut outer = layout(&[("first", 8, 8), ("held", size, align)]);
        let base = outer.members[1].bit_offset;
        let inside = inner.iter().map(|(name, offset, size)| member(name, base + offset * 8, *size, align));
        outer.members[1].members = inside.collect();
        outer
    };
    let declared = with_inner(&[("next", 0, 8), ("prev", 8, 8)], 16, 8);
    let other = with_inner(&[("next", 0, 4), ("prev", 4, 4)], 8, 4);
    let (constraints, ranges) = touched_ranges(&declared, &[(16, 8)]);
    let joined =
        MatchedStruct::new(&declared, 64, &other, 64).unwrap_or_else(|mismatch| panic!("{mismatch}"));
    let build = joined.build(&constraints, &ranges, 64);
    let bits: Vec<_> =
        ranges.iter().enumerate().map(|(number, range)| build.range_bits(number, range)).collect();
    assert_eq!(bits, [Some((32, 64))]);
}

#[test]
fn absent_members_take_no_room_and_extra_ones_follow_their_predecessor() {
    let declared = layout(&[("a", 8, 8), ("b", 8, 8), ("c", 8, 8)]);
    let other = layout(&[("a", 8, 8), ("x", 4, 4), ("c", 8, 8)]);
    let (constraints, ranges) = touched_ranges(&declared, &[(0, 8), (8, 8), (16, 8)]);
    let joined =
        MatchedStruct::new(&declared, 64, &other, 64).unwrap_or_else(|mismatch| panic!("{mismatch}"));
    assert_eq!((joined.absent(), joined.extra()), (vec![1], vec!["x".to_owned()]));
    let build = joined.build(&constraints, &ranges, 64);
    // Order c, b, a: c, nothing, then a with x behind it.
    assert_eq!(build.spans(&[2, 1, 0]), [(0, 64), (64, 64), (64, 160)]);
    let bits: Vec<_> =
        ranges.iter().enumerate().map(|(number, range)| build.range_bits(number, range)).collect();
    assert_eq!(bits, [Some((0, 64)), None, Some((0, 64))]);
}

/// With lines of the members' declarations.
fn with_lines(mut layout: Layout, lines: &[u32]) -> Layout {
    layout.members.iter_mut().zip(lines).for_each(|(member, line)| member.line = Some(*line));
    layout
}

#[test]
fn extra_members_follow_the_preceding_text_even_if_it_is_absent() {
    let declared = with_lines(layout(&[("a", 8, 8), ("b", 8, 8), ("c", 8, 8)]), &[1, 2, 5]);
    let other = layout(&[("a", 8, 8), ("x", 4, 4), ("c", 8, 8)]);
    let (constraints, ranges) = touched_ranges(&declared, &[(0, 8), (8, 8), (16, 8)]);
    let spans = |other: &Layout| {
        let joined =
            MatchedStruct::new(&declared, 64, other, 64).unwrap_or_else(|mismatch| panic!("{mismatch}"));
        joined.build(&constraints, &ranges, 64).spans(&[1, 2, 0])
    };
    // Order b, c, a: x is where b would be.
    assert_eq!(spans(&with_lines(other.clone(), &[1, 3, 5])), [(0, 32), (64, 128), (128, 192)]);
    // Lines of another source: x follows a.
    assert_eq!(spans(&with_lines(other, &[11, 13, 15])), [(0, 0), (0, 64), (64, 160)]);
}

#[test]
fn anonymous_members_are_matched_by_their_inner_names() {
    let declared = with_anonymous_struct(layout(&[("a", 8, 8), ("", 8, 4), ("b", 8, 8)]), &["lock", "state"]);
    let fewer = with_anonymous_struct(layout(&[("a", 8, 8), ("", 4, 4), ("b", 8, 8)]), &["state"]);
    assert_eq!(mismatch(&declared, &fewer), None);
    let strange = with_anonymous_struct(layout(&[("a", 8, 8), ("", 8, 4), ("b", 8, 8)]), &["x", "y"]);
    let joined =
        MatchedStruct::new(&declared, 64, &strange, 64).unwrap_or_else(|mismatch| panic!("{mismatch}"));
    assert_eq!(joined.absent(), [1]);
    let named = layout(&[("a", 8, 8), ("state", 4, 4), ("b", 8, 8)]);
    assert_eq!(mismatch(&declared, &named), Some(BuildMismatch::Anonymous(8)));
}

#[test]
fn another_order_is_no_build_of_the_same_source() {
    let declared = layout(&[("a", 8, 8), ("b", 8, 8), ("c", 8, 8)]);
    let other = layout(&[("b", 8, 8), ("a", 8, 8), ("c", 8, 8)]);
    assert_eq!(mismatch(&declared, &other), Some(BuildMismatch::Order("b".to_owned())));
    assert_eq!(mismatch(&declared, &layout(&[("x", 8, 8)])), Some(BuildMismatch::Nothing));
}

#[test]
fn a_line_alignment_here_is_one_there_even_if_offsets_leave_it_open() {
    let declared = layout(&[("a", 8, 8), ("b", 64, 64), ("c", 8, 8)]);
    // BTF has no alignments: `b` may be aligned to anything from 16 bytes on.
    let mut other = layout(&[("a", 8, 8), ("b", 128, 128), ("c", 8, 8)]);
    other.members[1].align = 8;
    let (constraints, ranges) = touched_ranges(&declared, &[(0, 8), (64, 8)]);
    let joined =
        MatchedStruct::new(&declared, 64, &other, 128).unwrap_or_else(|mismatch| panic!("{mismatch}"));
    let spans = joined.build(&constraints, &ranges, 128).spans(&[0, 2, 1]);
    assert_eq!(spans, [(0, 64), (64, 128), (1024, 2048)]);
}

#[test]
fn an_equal_unit_has_its_ranges_at_the_same_offsets() {
    let mut declared = layout(&[("a", 8, 8), ("flags", 4, 4), ("b", 8, 8)]);
    // Three bits of a word: its range is a byte, as accesses have it.
    declared.members[1].bit_size = 3;
    declared.members[1].bit_field_storage = Some(32);
    let (constraints, ranges) = touched_ranges(&declared, &[(8, 1)]);
    let joined =
        MatchedStruct::new(&declared, 64, &declared, 64).unwrap_or_else(|mismatch| panic!("{mismatch}"));
    let recorded = BuildPlacement::new(&declared, &constraints, 64, 64);
    assert!(joined.build(&constraints, &ranges, 64).is_equivalent(&recorded, &ranges));
    assert!(!joined.build(&constraints, &ranges, 128).is_equivalent(&recorded, &ranges));
}
