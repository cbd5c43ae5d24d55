//! The layout another order of the members, or one member more, would have, also on a machine with another cacheline size.

use super::infer::{Shape, Slots, natural_slot, slots_of};
use super::rules::{Slot, place, size_of};
use crate::layout::{Layout, Member};

/// The layout with its members in `order` (declared indices). `None` if that is no permutation or the type is a union.
pub fn reorder(layout: &Layout, order: &[usize]) -> Option<Layout> {
    arrange(layout, &layout.members, &slots_of(layout), order)
}

/// Like [`reorder`], for a machine whose cacheline has `line` bytes instead of `build_line`: alignments to the line
/// (`____cacheline_aligned`, include/linux/cache.h) follow it, and so do the sizes of types aligned to it.
pub fn reorder_for_line(layout: &Layout, order: &[usize], build_line: u64, line: u64) -> Option<Layout> {
    let (slots, members) = line_slots(layout, build_line, line);
    let lines = Lines { build_line, line };
    arrange(&lines.layout(layout), &members, &slots, order)
}

/// A member that isn't there yet.
#[derive(Clone, Copy, Debug)]
pub struct NewMember<'m> {
    /// Its type, size and alignments; the offset counts for nothing.
    pub member: &'m Member,
    /// Alignment in bytes that the program's ABI gives no scalar more than: 4 on i386 (System V i386 psABI, table 2.1,
    /// members of structs), `u64::MAX` where there is no such limit.
    pub align_limit: u64,
}

/// The layout with a new member behind the first `place` members, for a machine whose cacheline has `line` bytes instead
/// of `build_line`, see [`reorder_for_line`]. `None` if there are fewer, or the type is a union.
pub fn insert_for_line(
    layout: &Layout,
    new: NewMember<'_>,
    place: usize,
    build_line: u64,
    line: u64,
) -> Option<Layout> {
    let (mut slots, mut members) = line_slots(layout, build_line, line);
    if place > members.len() {
        return None;
    }
    let mut own = Slots {
        // A cap that the struct shows holds for the new member too, but not that of a packed struct's bit-fields.
        slots: vec![natural_slot(new.member, slots.cap.min(new.align_limit).max(1), 1)],
        struct_align: 1,
        tail: 0,
        is_union: false,
        cap: slots.cap,
        exceptions: Vec::new(),
    };
    // `adapt` places nothing: it only scales what is aligned to lines.
    let lines = Lines { build_line, line };
    let adapted = match line == build_line {
        true => vec![new.member.clone()],
        false => lines.adapt(std::slice::from_ref(new.member), &mut own),
    };
    slots.slots.splice(place..place, own.slots);
    members.splice(place..place, adapted);
    let order: Vec<usize> = (0..members.len()).collect();
    arrange(&lines.layout(layout), &members, &slots, &order)
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

fn arrange(like: &Layout, members: &[Member], slots: &Slots, order: &[usize]) -> Option<Layout> {
    if slots.is_union || !is_permutation(order, members.len()) {
        return None;
    }
    let ordered: Vec<Slot> = order.iter().map(|index| slots.slots[*index]).collect();
    let placement = place(&ordered, slots.struct_align);
    let moved = order.iter().zip(&placement.bit_offsets);
    let moved: Vec<Member> = moved.map(|(index, offset)| moved_to(&members[*index], *offset)).collect();
    let size = size_of(moved.last().map_or(0, Member::bit_end).saturating_add(slots.tail), placement.align);
    let mut layout = Layout::from_members(like, moved, size);
    layout.align = placement.align;
    Some(layout)
}

/// Whether an order has each of `count` indices once.
pub fn is_permutation(order: &[usize], count: usize) -> bool {
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
        moved_to(inner, bit_offset.saturating_add(inner.bit_offset.saturating_sub(member.bit_offset)))
    });
    Member { bit_offset, members: inside.collect(), ..member.clone() }
}

/// Two cacheline sizes.
struct Lines {
    build_line: u64,
    line: u64,
}

impl Lines {
    fn scale(&self, align: u64) -> u64 {
        if align == self.build_line { self.line } else { align }
    }

    /// The layout with its own alignments as on the other machine.
    fn layout(&self, layout: &Layout) -> Layout {
        Layout {
            align: self.scale(layout.align),
            explicit_align: layout.explicit_align.map(|align| self.scale(align)),
            ..layout.clone()
        }
    }

    /// Adapts members and their slots.
    fn adapt(&self, members: &[Member], slots: &mut Slots) -> Vec<Member> {
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
        let Some(shape) = Shape::inside(member) else { return self.array(member, align) };
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
    let counts = type_name.split('[').skip(1).filter_map(|part| part.split(']').next()?.parse::<u64>().ok());
    counts.fold(1, u64::saturating_mul).max(1)
}
