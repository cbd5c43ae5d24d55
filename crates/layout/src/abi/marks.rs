//! Alignment to the cacheline: where another build shows that it is meant, and what it costs to ask for it.

use super::infer::{Slots, slots_of};
use super::rules::{Slot, place, size_of};
use crate::layout::Layout;

/// Raises the alignment of members, and of the struct itself if `whole`, to `line` bytes where the layout looks the
/// same with it. Offsets leave a range of alignments open; another build of the same source, with another line size,
/// tells which members are meant to follow the line (`____cacheline_aligned`, include/linux/cache.h).
pub fn prefer_line(slots: &mut Slots, layout: &Layout, line: u64, members: &[usize], whole: bool) {
    for index in members {
        let Some(before) = slots.slots.get(*index).map(|slot| slot.align) else { continue };
        if before < line {
            slots.slots[*index].align = line;
            if !reproduces(slots, layout) {
                slots.slots[*index].align = before;
            }
        }
    }
    let before = slots.struct_align;
    if whole && before < line {
        slots.struct_align = line;
        if !reproduces(slots, layout) {
            slots.struct_align = before;
        }
    }
}

/// Whether the slots in declared order give the layout's offsets and its size.
pub fn reproduces(slots: &Slots, layout: &Layout) -> bool {
    let placed = slots.place();
    let offsets = layout.members.iter().map(|member| member.bit_offset);
    placed.size == layout.size && offsets.eq(placed.bit_offsets)
}

/// The size in bytes of a layout some of whose members, by index, have other sizes in bytes. Alignments stay.
pub fn resized(layout: &Layout, members: &[(usize, u64)]) -> u64 {
    let mut slots = slots_of(layout);
    for (index, size) in members {
        if let Some(slot) = slots.slots.get_mut(*index) {
            slot.bit_size = size.saturating_mul(8);
        }
    }
    slots.place().size
}

/// How a group of members is marked in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Markers that only name it (`__cacheline_group_begin`).
    Plain,
    /// It begins on a cacheline and nothing else shares its last one (`__cacheline_group_begin_aligned`, `_end_aligned`).
    Aligned,
    /// The same, but only where a cacheline has so many bytes (`..._aligned_cond`).
    AlignedAt(u64),
}

impl Marks {
    /// Alignment in bytes of the begin marker and of the pad behind the end marker, for lines of `line` bytes.
    fn align(self, line: u64) -> u64 {
        match self {
            Self::Aligned => line,
            Self::AlignedAt(at) if at == line => line,
            Self::AlignedAt(_) | Self::Plain => 1,
        }
    }
}

/// The size in bytes of a struct with a group from slot `first` up to slot `end`.
///
/// The markers are members without size: one before the group, one behind it aligned to `long` bytes (the size of a
/// `long`; not for [`Marks::Plain`]), and a pad that keeps others off the group's last line (Linux 6.12,
/// include/linux/cache.h: `__cacheline_group_end_aligned`; the conditional form behaves as the plain pad of alignment
/// 1 on other lines). `tail` are bits behind the last slot, see [`Slots::tail`].
pub fn marked_size(
    slots: &[Slot],
    (first, end): (usize, usize),
    marks: Marks,
    line: u64,
    long: u64,
    struct_align: u64,
    tail: u64,
) -> u64 {
    let end = end.min(slots.len());
    let first = first.min(end);
    let (align, long) = (marks.align(line), if marks == Marks::Plain { 1 } else { long });
    let mut marked = slots.to_vec();
    marked.splice(end..end, [Slot::bytes(0, long), Slot::bytes(0, align)]);
    marked.insert(first, Slot::bytes(0, align));
    let placed = place(&marked, struct_align);
    let last = placed.bit_offsets.last().zip(marked.last());
    let bits = last.map_or(0, |(offset, slot)| offset.saturating_add(slot.bit_size));
    size_of(bits.saturating_add(tail), placed.align)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct with two marked groups, on a machine whose two pinned members fill a line each: a hot group of
    /// 128 bytes, the two, 64 bytes of others, a group of 64 bytes at slot 4, and 48 bytes behind it.
    fn published(line: u64) -> Vec<Slot> {
        let pinned = Slot::bytes(line, line);
        let eight = |bytes| Slot::bytes(bytes, 8);
        vec![eight(128), pinned, pinned, eight(64), eight(64), eight(48)]
    }

    fn size(marks: Marks, line: u64) -> u64 {
        marked_size(&published(line), (4, 5), marks, line, 8, 1, 0)
    }

    #[test]
    fn a_condition_saves_what_alignment_costs_on_longer_lines() {
        assert_eq!([64, 128].map(|line| size(Marks::Plain, line)), [448, 640]);
        assert_eq!([64, 128].map(|line| size(Marks::Aligned, line)), [448, 768]);
        assert_eq!([64, 128].map(|line| size(Marks::AlignedAt(64), line)), [448, 640]);
    }

    #[test]
    fn the_end_marker_pads_to_a_long_even_where_the_condition_is_false() {
        let slots = [Slot::bytes(4, 4), Slot::bytes(4, 4), Slot::bytes(4, 4)];
        let size = |marks| marked_size(&slots, (0, 1), marks, 128, 8, 1, 0);
        assert_eq!((size(Marks::Plain), size(Marks::AlignedAt(64))), (12, 16));
    }

    #[test]
    fn groups_beyond_the_end_are_empty() {
        assert_eq!(marked_size(&[Slot::bytes(4, 4)], (7, 9), Marks::Plain, 64, 8, 1, 0), 4);
    }
}
