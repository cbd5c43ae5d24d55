//! Alignment to the cacheline: where another build shows it, and what it costs.

use super::infer::{AbiStruct, infer_abi};
use super::predict::adapt_to_line;
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

/// Members of a layout, by index, that become others.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChangedMembers<'c> {
    /// Their sizes in bytes.
    pub sizes: &'c [(usize, u64)],
    /// Alignments in bytes that are written at them.
    pub aligned: &'c [(usize, u64)],
}

impl ChangedMembers<'_> {
    fn apply(self, inferred: &mut AbiStruct) {
        for (index, size) in self.sizes {
            if let Some(member_abi) = inferred.members.get_mut(*index) {
                member_abi.bit_size = size.saturating_mul(8);
            }
        }
        for (index, align) in self.aligned {
            if let Some(member_abi) = inferred.members.get_mut(*index) {
                member_abi.align = member_abi.align.max(*align);
            }
        }
    }

    /// The size in bytes of the layout with them on a machine whose cacheline has `line` bytes instead of
    /// `build_line`; the sizes are those of that machine.
    pub fn size_for_line(self, layout: &Layout, build_line: u64, line: u64) -> u64 {
        let (mut inferred, _) = adapt_to_line(layout, build_line, line);
        self.apply(&mut inferred);
        inferred.place().size
    }

    /// The layout with them. Other alignments stay.
    pub fn layout(self, layout: &Layout) -> Layout {
        let mut inferred = infer_abi(layout);
        self.apply(&mut inferred);
        let placed = inferred.place();
        let mut changed = layout.members.clone();
        for ((member, own), offset) in changed.iter_mut().zip(&inferred.members).zip(&placed.bit_offsets) {
            (member.bit_offset, member.bit_size) = (*offset, own.bit_size);
        }
        for (index, align) in self.aligned {
            if let Some(member) = changed.get_mut(*index) {
                member.align = member.align.max(*align);
                member.explicit_align = member.explicit_align.max(Some(*align));
                member.aligned_type = false;
            }
        }
        let align = if self.aligned.is_empty() { layout.align } else { placed.align.max(layout.align) };
        Layout { align, ..Layout::from_members(layout, changed, placed.size) }
    }
}

/// The size in bytes of a layout some of whose members, by index, have other sizes in bytes. Alignments stay.
pub fn size_with_members(layout: &Layout, members: &[(usize, u64)]) -> u64 {
    let mut inferred = infer_abi(layout);
    ChangedMembers { sizes: members, aligned: &[] }.apply(&mut inferred);
    inferred.place().size
}

/// A layout some of whose members, by index, have other sizes in bytes. Alignments stay.
pub fn layout_with_members(layout: &Layout, members: &[(usize, u64)]) -> Layout {
    ChangedMembers { sizes: members, aligned: &[] }.layout(layout)
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
    fn changed_members_get_their_sizes_and_alignments() {
        let holder = crate::testing::numbered("holder", &[(512, 64), (320, 64), (256, 64)]);
        let sizes = [(0, 448), (1, 256)];
        let layout = |aligned| ChangedMembers { sizes: &sizes, aligned }.layout(&holder);
        let offsets = |layout: &Layout| layout.members.iter().map(|m| m.bit_offset / 8).collect::<Vec<_>>();
        let plain = layout(&[]);
        assert_eq!((offsets(&plain), plain.size, plain.align), (vec![0, 448, 704], 960, 64));
        let aligned = layout(&[(1, 128)]);
        assert_eq!((offsets(&aligned), aligned.size, aligned.align), (vec![0, 512, 768], 1024, 128));
        // Read again, the layout shows the alignment.
        assert!(reproduces(&infer_abi(&aligned), &aligned));
        let changed = ChangedMembers { sizes: &[(0, 640), (1, 384)], aligned: &[(1, 128)] };
        assert_eq!(changed.size_for_line(&holder, 64, 128), 1280);
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
