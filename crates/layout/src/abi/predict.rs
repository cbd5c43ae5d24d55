//! The layout another order of the members would have, also on a machine with another cacheline size.

use super::infer::{Shape, Slots, slots_of};
use super::rules::{Slot, place, size_of};
use crate::layout::{Layout, Member};

/// The layout with its members in `order` (indices of declared members). `None` if `order` is no permutation of them
/// or the type is a union.
pub fn reorder(layout: &Layout, order: &[usize]) -> Option<Layout> {
    let slots = slots_of(layout);
    arrange(layout, &layout.members, &slots, order)
}

/// Like [`reorder`], for a machine whose cacheline has `line` bytes instead of `build_line`: alignments to the line
/// (`____cacheline_aligned`, include/linux/cache.h) follow it, and so do the sizes of types aligned to it.
pub fn reorder_for_line(layout: &Layout, order: &[usize], build_line: u64, line: u64) -> Option<Layout> {
    let (slots, members) = line_slots(layout, build_line, line);
    arrange(&scaled(layout, build_line, line), &members, &slots, order)
}

/// The layout with its own alignments as on a machine with another line size.
pub(super) fn scaled(layout: &Layout, build_line: u64, line: u64) -> Layout {
    Layout {
        align: scale(layout.align, build_line, line),
        explicit_align: layout.explicit_align.map(|align| scale(align, build_line, line)),
        ..layout.clone()
    }
}

/// The slots and the members of a layout on a machine whose cacheline has `line` bytes instead of `build_line`. Members
/// keep their declared place; only their sizes, alignments and what lies inside them are adapted.
pub fn line_slots(layout: &Layout, build_line: u64, line: u64) -> (Slots, Vec<Member>) {
    let mut slots = slots_of(layout);
    let members = if line == build_line || build_line == 0 || line == 0 {
        layout.members.clone()
    } else {
        let lines = Lines { build_line, line };
        lines.adapt(&layout.members, &mut slots)
    };
    (slots, members)
}

pub(super) fn arrange(like: &Layout, members: &[Member], slots: &Slots, order: &[usize]) -> Option<Layout> {
    if slots.is_union || !is_permutation(order, members.len()) {
        return None;
    }
    let ordered: Vec<Slot> = order.iter().map(|index| slots.slots[*index]).collect();
    let placement = place(&ordered, slots.struct_align);
    let moved = order.iter().zip(&placement.bit_offsets);
    let moved: Vec<Member> = moved.map(|(index, offset)| moved_to(&members[*index], *offset)).collect();
    let end = moved.last().map_or(0, Member::bit_end);
    let size = size_of(end.saturating_add(slots.tail), placement.align);
    let mut layout = Layout::from_members(like, moved, size);
    layout.align = placement.align;
    Some(layout)
}

fn is_permutation(order: &[usize], count: usize) -> bool {
    let mut seen = vec![false; count];
    let fresh = |index: &usize| match seen.get_mut(*index) {
        Some(seen) => !std::mem::replace(seen, true),
        None => false,
    };
    order.len() == count && order.iter().all(fresh)
}

/// The member at another offset, and all inside it.
fn moved_to(member: &Member, bit_offset: u64) -> Member {
    let inside = member.members.iter().map(|inner| {
        let within = inner.bit_offset.saturating_sub(member.bit_offset);
        moved_to(inner, bit_offset.saturating_add(within))
    });
    Member { bit_offset, members: inside.collect(), ..member.clone() }
}

fn scale(align: u64, build_line: u64, line: u64) -> u64 {
    if align == build_line { line } else { align }
}

/// Two cacheline sizes.
pub(super) struct Lines {
    pub(super) build_line: u64,
    pub(super) line: u64,
}

impl Lines {
    fn scale(&self, align: u64) -> u64 {
        scale(align, self.build_line, self.line)
    }

    /// Adapts members and their slots.
    pub(super) fn adapt(&self, members: &[Member], slots: &mut Slots) -> Vec<Member> {
        slots.struct_align = self.scale(slots.struct_align);
        let adapted = members.iter().zip(&mut slots.slots).map(|(member, slot)| {
            let member = self.member(member, slot.align);
            slot.align = self.scale(slot.align);
            slot.bit_size = member.bit_size;
            Member {
                align: self.scale(member.align),
                explicit_align: member.explicit_align.map(|align| self.scale(align)),
                ..member
            }
        });
        adapted.collect()
    }

    /// A member with the size its type has on the other machine; its offset stays. `align` is what its offset shows.
    fn member(&self, member: &Member, align: u64) -> Member {
        match Shape::inside(member) {
            Some(shape) => self.aggregate(member, align, &shape),
            None => self.array(member, align),
        }
    }

    fn aggregate(&self, member: &Member, align: u64, shape: &Shape<'_>) -> Member {
        let mut slots = shape.infer(u64::MAX, 1);
        if self.type_is_aligned(member, align) {
            slots.struct_align = slots.struct_align.max(self.build_line);
        }
        let before = slots.place();
        let inside = self.adapt(shape.members, &mut slots);
        let after = slots.place();
        if before.size != shape.size {
            return member.clone();
        }
        let inside = inside.iter().zip(&after.bit_offsets);
        let inside = inside.map(|(inner, offset)| moved_to(inner, member.bit_offset.saturating_add(*offset)));
        Member { bit_size: after.size.saturating_mul(8), members: inside.collect(), ..member.clone() }
    }

    /// An array of line-aligned elements, which are not opened: each is padded to the line.
    fn array(&self, member: &Member, align: u64) -> Member {
        let count = element_count(&member.type_name);
        let element = member.size().checked_div(count).unwrap_or(0);
        if member.is_bit_field()
            || !self.type_is_aligned(member, align)
            || !element.is_multiple_of(self.build_line)
        {
            return member.clone();
        }
        let element = element.checked_next_multiple_of(self.line).unwrap_or(element);
        Member { bit_size: element.saturating_mul(count).saturating_mul(8), ..member.clone() }
    }

    /// Whether the member's alignment to the line comes from its type, which then is padded to it too. Debug info
    /// that gives no alignments leaves only its size to judge by.
    fn type_is_aligned(&self, member: &Member, align: u64) -> bool {
        let from_type = member.aligned_type || member.explicit_align != Some(self.build_line);
        align == self.build_line && from_type && member.size().is_multiple_of(self.build_line)
    }
}

/// Elements of an array by its type's name: `struct x[2][3]` has 6; anything else 1.
fn element_count(type_name: &str) -> u64 {
    let dimensions = type_name.split('[').skip(1);
    let counts = dimensions.filter_map(|part| part.split(']').next()?.parse::<u64>().ok());
    counts.fold(1, u64::saturating_mul).max(1)
}
