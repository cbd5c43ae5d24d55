//! The layout a struct would have with one more member, also on a machine with another cacheline size.

use super::infer::{Slots, natural_slot};
use super::predict::{Lines, arrange, line_slots, scaled};
use crate::layout::{Layout, Member};

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
/// of `build_line`, see [`super::reorder_for_line`]. `None` if there are fewer, or the type is a union.
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
    let adapted = match line == build_line {
        true => vec![new.member.clone()],
        false => Lines { build_line, line }.adapt(std::slice::from_ref(new.member), &mut own),
    };
    slots.slots.splice(place..place, own.slots);
    members.splice(place..place, adapted);
    let order: Vec<usize> = (0..members.len()).collect();
    arrange(&scaled(layout, build_line, line), &members, &slots, &order)
}
