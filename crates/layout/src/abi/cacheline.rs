//! Alignment to the cacheline: where another build shows it, and what it costs.

use super::infer::{AbiStruct, infer_abi};
use super::rules::{AbiMember, place_members, round_size};
use crate::layout::Layout;

/// Raises the alignment of members, and of the struct itself if `whole`, to `line` bytes where the layout
/// stays the same with it. Offsets leave a range of alignments open; another build of the same source, with
/// another line size, shows which members are aligned to the line (`____cacheline_aligned`,
/// include/linux/cache.h).
pub fn raise_to_line(inferred: &mut AbiStruct, layout: &Layout, line: u64, members: &[usize], whole: bool) {
    for index in members {
        let Some(before) = inferred.members.get(*index).map(|member_abi| member_abi.align) else { continue };
        if before < line {
            inferred.members[*index].align = line;
            if !reproduces(inferred, layout) {
                inferred.members[*index].align = before;
            }
        }
    }
    let before = inferred.struct_align;
    if whole && before < line {
        inferred.struct_align = line;
        if !reproduces(inferred, layout) {
            inferred.struct_align = before;
        }
    }
}

/// Whether the members in declared order have the layout's offsets and its size.
pub fn reproduces(inferred: &AbiStruct, layout: &Layout) -> bool {
    let placed = inferred.place();
    let offsets = layout.members.iter().map(|member| member.bit_offset);
    placed.size == layout.size && offsets.eq(placed.bit_offsets)
}

/// The size in bytes of a layout some of whose members, by index, have other sizes in bytes. Alignments stay.
pub fn size_with_members(layout: &Layout, members: &[(usize, u64)]) -> u64 {
    resized_abi(layout, members).place().size
}

/// A layout some of whose members, by index, have other sizes in bytes. Alignments stay.
pub fn layout_with_members(layout: &Layout, members: &[(usize, u64)]) -> Layout {
    let inferred = resized_abi(layout, members);
    let placed = inferred.place();
    let mut resized = layout.members.clone();
    for ((member, own), offset) in resized.iter_mut().zip(&inferred.members).zip(&placed.bit_offsets) {
        (member.bit_offset, member.bit_size) = (*offset, own.bit_size);
    }
    Layout::from_members(layout, resized, placed.size)
}

fn resized_abi(layout: &Layout, members: &[(usize, u64)]) -> AbiStruct {
    let mut inferred = infer_abi(layout);
    for (index, size) in members {
        if let Some(member_abi) = inferred.members.get_mut(*index) {
            member_abi.bit_size = size.saturating_mul(8);
        }
    }
    inferred
}

/// How a group of members is marked in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupMarkerKind {
    /// Markers that only name it (`__cacheline_group_begin`).
    Named,
    /// It begins on a cacheline and nothing else shares its last one (`__cacheline_group_begin_aligned`,
    /// `_end_aligned`).
    Aligned,
    /// The same, but only where a cacheline has so many bytes (`..._aligned_cond`).
    AlignedAt(u64),
}

impl GroupMarkerKind {
    /// Alignment in bytes of the begin marker and of the pad behind the end marker, for lines of `line`
    /// bytes.
    fn align(self, line: u64) -> u64 {
        match self {
            Self::Aligned => line,
            Self::AlignedAt(at) if at == line => line,
            Self::AlignedAt(_) | Self::Named => 1,
        }
    }
}

/// The size in bytes of a struct with a group from member `first` up to member `end`.
///
/// The markers are members without size: one before the group, one behind it aligned to `long` bytes (the
/// size of a `long`; not for [`GroupMarkerKind::Named`]), and a pad that keeps others off the group's last
/// line (Linux 6.12, include/linux/cache.h: `__cacheline_group_end_aligned`; the conditional form behaves as
/// the plain pad of alignment 1 on other lines). `tail` are bits behind the last member, see
/// [`AbiStruct::tail_bits`].
pub fn size_with_group(
    members: &[AbiMember],
    (first, end): (usize, usize),
    marking: GroupMarkerKind,
    line: u64,
    long: u64,
    struct_align: u64,
    tail: u64,
) -> u64 {
    let end = end.min(members.len());
    let first = first.min(end);
    let (align, long) = (marking.align(line), if marking == GroupMarkerKind::Named { 1 } else { long });
    let mut marked = members.to_vec();
    marked.splice(end..end, [AbiMember::bytes(0, long), AbiMember::bytes(0, align)]);
    marked.insert(first, AbiMember::bytes(0, align));
    let placed = place_members(&marked, struct_align);
    let last = placed.bit_offsets.last().zip(marked.last());
    let bits = last.map_or(0, |(offset, slot)| offset.saturating_add(slot.bit_size));
    round_size(bits.saturating_add(tail), placed.align)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct with two marked groups, on a machine whose two pinned members fill a line each: a hot group
    /// of 128 bytes, the two, 64 bytes of others, a group of 64 bytes at index 4, and 48 bytes behind it.
    fn test_members(line: u64) -> Vec<AbiMember> {
        let pinned = AbiMember::bytes(line, line);
        let eight = |bytes| AbiMember::bytes(bytes, 8);
        vec![eight(128), pinned, pinned, eight(64), eight(64), eight(48)]
    }

    fn size(marking: GroupMarkerKind, line: u64) -> u64 {
        size_with_group(&test_members(line), (4, 5), marking, line, 8, 1, 0)
    }

    #[test]
    fn a_condition_saves_what_alignment_costs_on_longer_lines() {
        assert_eq!([64, 128].map(|line| size(GroupMarkerKind::Named, line)), [448, 640]);
        assert_eq!([64, 128].map(|line| size(GroupMarkerKind::Aligned, line)), [448, 768]);
        assert_eq!([64, 128].map(|line| size(GroupMarkerKind::AlignedAt(64), line)), [448, 640]);
    }

    #[test]
    fn the_end_marker_pads_to_a_long_even_where_the_condition_is_false() {
        let members = [AbiMember::bytes(4, 4), AbiMember::bytes(4, 4), AbiMember::bytes(4, 4)];
        let size = |marking| size_with_group(&members, (0, 1), marking, 128, 8, 1, 0);
        assert_eq!((size(GroupMarkerKind::Named), size(GroupMarkerKind::AlignedAt(64))), (12, 16));
    }

    #[test]
    fn groups_beyond_the_end_are_empty() {
        assert_eq!(
            size_with_group(&[AbiMember::bytes(4, 4)], (7, 9), GroupMarkerKind::Named, 64, 8, 1, 0),
            4
        );
    }
}
