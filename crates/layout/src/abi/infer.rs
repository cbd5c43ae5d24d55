//! What a compiled struct must have been asked for: the alignments that reproduce its declared offsets.
//!
//! Debug info tells neither `__packed` nor, in BTF, any alignment, and a type's natural alignment differs between
//! ABIs (an 8-byte scalar is aligned to 4 bytes on i386, to 2 on m68k). All of it shows in the offsets. A rule set
//! is a cap on natural alignments: none, 8, 4, 2, or 1 for a packed struct. The one that needs the fewest
//! exceptions is taken, the weaker one if two need equally many.

use super::rules::{Placement, Slot, next_offset, place, place_union, round_up, size_of};
use crate::layout::{Layout, Member};

/// Caps on natural alignments, from none to packed.
const CAPS: [u64; 5] = [u64::MAX, 8, 4, 2, 1];
/// An alignment above every scalar's comes from an attribute, which no ABI rule lowers.
const LARGEST_SCALAR: u64 = 16;
/// How deep aggregates are searched for a cap of their own; deeper ones share their parent's.
const SEARCH_DEPTH: u32 = 4;
/// How deep aggregates are opened at all.
const MAX_DEPTH: u32 = 16;
/// The alignment most often written in C sources that is above every scalar's: a cacheline of most machines.
const USUAL_LINE: u64 = 64;

/// What [`place`] needs to reproduce a layout, member by member in declared order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slots {
    /// One for each member.
    pub slots: Vec<Slot>,
    /// Alignment in bytes the struct itself asks for, beyond its members'.
    pub struct_align: u64,
    /// Bits behind the last member that no rule explains.
    pub tail: u64,
    /// Whether members lie over one another.
    pub is_union: bool,
    /// Cap in bytes on natural alignments; 1 if the struct is packed.
    pub cap: u64,
    /// What had to be assumed beyond what debug info tells.
    pub exceptions: Vec<Exception>,
}

/// An assumption without which a declared offset or the size can't be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The member, or `None` for the struct's end.
    pub member: Option<usize>,
    /// What is assumed.
    pub cause: Cause,
}

/// Kinds of [`Exception`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Less alignment than the type has, in bytes.
    Lowered(u64),
    /// More alignment than the type has, in bytes.
    Raised(u64),
    /// So many bits that belong to nothing, explained by unnamed bit-fields only.
    Gap(u64),
    /// The member begins before the one declared before it ends, or the struct ends before its members do.
    Overlap,
}

/// Where [`place`] and debug info differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The member, or `None` for the struct's size.
    pub member: Option<usize>,
    /// Declared bit offset (or size in bits).
    pub declared: u64,
    /// Computed bit offset (or size in bits).
    pub placed: u64,
}

impl Slots {
    /// Alignment of the struct in bytes.
    pub fn align(&self) -> u64 {
        self.slots.iter().map(|slot| slot.align).fold(self.struct_align.max(1), u64::max)
    }

    /// Whether natural alignments are ignored (`__packed`).
    pub fn packed(&self) -> bool {
        self.cap == 1
    }

    /// Places the slots in declared order.
    pub fn place(&self) -> Placement {
        let mut placement = if self.is_union {
            place_union(&self.slots, self.struct_align)
        } else {
            place(&self.slots, self.struct_align)
        };
        let ends = placement.bit_offsets.iter().zip(&self.slots);
        let end = ends.map(|(offset, slot)| offset.saturating_add(slot.bit_size)).max();
        placement.size = size_of(end.unwrap_or(0).saturating_add(self.tail), placement.align);
        placement
    }
}

/// The slots that reproduce a layout.
pub fn slots_of(layout: &Layout) -> Slots {
    let shape = Shape {
        members: &layout.members,
        base: 0,
        size: layout.size,
        is_union: layout.is_union(),
        asked: layout.explicit_align.unwrap_or(1),
    };
    shape.infer(u64::MAX, 0)
}

/// The first place where the C placement rules and the declared layout differ; `None` if they agree. What had to be
/// assumed to make them agree stands in [`Slots::exceptions`].
pub fn disagreement(layout: &Layout) -> Option<Disagreement> {
    let placed = slots_of(layout).place();
    let places = layout.members.iter().zip(&placed.bit_offsets);
    let moved = places.enumerate().find(|(_, (member, placed))| member.bit_offset != **placed);
    let moved = moved.map(|(index, (member, placed))| Disagreement {
        member: Some(index),
        declared: member.bit_offset,
        placed: *placed,
    });
    let resized = (placed.size != layout.size).then(|| Disagreement {
        member: None,
        declared: layout.size.saturating_mul(8),
        placed: placed.size.saturating_mul(8),
    });
    moved.or(resized)
}

/// An aggregate to explain: the struct itself or one it holds by value.
pub(super) struct Shape<'a> {
    pub(super) members: &'a [Member],
    /// Bit offset of its start; members count from the outermost struct.
    pub(super) base: u64,
    /// Size in bytes.
    pub(super) size: u64,
    pub(super) is_union: bool,
    /// Alignment in bytes debug info gives the aggregate itself.
    pub(super) asked: u64,
}

impl<'a> Shape<'a> {
    /// The aggregate a member holds, if it holds one.
    pub(super) fn inside(member: &'a Member) -> Option<Self> {
        let opened = !member.members.is_empty() && !member.is_bit_field();
        opened.then(|| Self {
            members: &member.members,
            base: member.bit_offset,
            size: member.bit_size / 8,
            is_union: member.is_union,
            asked: 1,
        })
    }

    /// The slots under the cap that needs the fewest exceptions, at most `limit`.
    pub(super) fn infer(&self, limit: u64, depth: u32) -> Slots {
        let mut best: Option<Slots> = None;
        for cap in CAPS.into_iter().filter(|cap| *cap <= limit) {
            let slots = self.under(cap, depth);
            let is_last = slots.exceptions.is_empty() || depth >= SEARCH_DEPTH;
            if best.as_ref().is_none_or(|best| slots.exceptions.len() < best.exceptions.len()) {
                best = Some(slots);
            }
            if is_last {
                break;
            }
        }
        best.unwrap_or_else(|| self.under(1, depth))
    }

    fn under(&self, cap: u64, depth: u32) -> Slots {
        let mut slots = Slots {
            slots: Vec::with_capacity(self.members.len()),
            struct_align: self.asked.max(1),
            tail: 0,
            is_union: self.is_union,
            cap,
            exceptions: Vec::new(),
        };
        let mut end = 0;
        for (index, member) in self.members.iter().enumerate() {
            let natural = natural_slot(member, cap, depth);
            let offset = member.bit_offset.saturating_sub(self.base);
            let before = if self.is_union { 0 } else { end };
            let (slot, cause) = explain(natural, before, offset);
            slots.slots.push(slot);
            slots.exceptions.extend(cause.map(|cause| Exception { member: Some(index), cause }));
            let stop = offset.saturating_add(member.bit_size);
            end = if self.is_union { end.max(stop) } else { stop };
        }
        prefer_common_alignment(&mut slots, self.members, self.base);
        self.explain_size(&mut slots, end);
        slots
    }

    /// Raises the struct's own alignment, or assumes a tail, if the members don't explain the size.
    fn explain_size(&self, slots: &mut Slots, end: u64) {
        let align = slots.align();
        if size_of(end, align) == self.size {
            return;
        }
        let bits = self.size.saturating_mul(8);
        let cause = if bits < end || size_of(end, align) > self.size {
            Cause::Overlap
        } else if let Some(raised) = raising(end, bits, align) {
            slots.struct_align = usual(raised, bits, end, USUAL_LINE);
            Cause::Raised(slots.struct_align)
        } else {
            slots.tail = bits - end;
            Cause::Gap(slots.tail)
        };
        slots.exceptions.push(Exception { member: None, cause });
    }
}

/// The slot of a member if nothing but its type and its known attributes counts.
pub(super) fn natural_slot(member: &Member, cap: u64, depth: u32) -> Slot {
    let is_packed = cap == 1 && member.explicit_align.is_none();
    Slot {
        bit_size: member.bit_size,
        align: natural_align(member, cap, depth).max(1),
        bit_field_storage: member.bit_field_storage.map(|storage| if is_packed { u64::MAX } else { storage }),
        skip: 0,
    }
}

fn natural_align(member: &Member, cap: u64, depth: u32) -> u64 {
    let explicit = member.explicit_align.unwrap_or(1);
    if member.align > LARGEST_SCALAR && cap > 1 {
        return member.align.max(explicit);
    }
    if cap == 1 {
        return explicit;
    }
    let own = member.align.min(cap);
    let inner = Shape::inside(member).filter(|_| depth < MAX_DEPTH);
    let own = inner.map_or(own, |inner| {
        let slots = inner.infer(cap, depth + 1);
        let lowered = |exception: &Exception| matches!(exception.cause, Cause::Lowered(_));
        // An offset or the size proves less alignment than types ask for.
        let shows_less = slots.cap < cap || slots.exceptions.iter().any(lowered);
        if shows_less { slots.align() } else { own.max(slots.align()) }
    });
    own.max(explicit)
}

/// Adapts a slot so that it lands on its declared offset behind `end`, all in bits.
fn explain(natural: Slot, end: u64, offset: u64) -> (Slot, Option<Cause>) {
    if next_offset(&natural, end) == offset {
        return (natural, None);
    }
    if offset < end {
        return (natural, Some(Cause::Overlap));
    }
    if natural.bit_field_storage.is_none() {
        if let Some(align) = lowering(end, offset, natural.align) {
            return (Slot { align, ..natural }, Some(Cause::Lowered(align)));
        }
        if let Some(align) = raising(end, offset, natural.align) {
            return (Slot { align, ..natural }, Some(Cause::Raised(align)));
        }
    }
    // Unnamed bits before the member, and less alignment where its offset shows it.
    let mut slot = Slot { skip: offset - end, ..natural };
    if next_offset(&slot, end) != offset {
        slot.align = match slot.bit_field_storage {
            Some(_) => 1,
            None => lowering(offset, offset, natural.align).unwrap_or(1),
        };
        slot.bit_field_storage = slot.bit_field_storage.map(|_| u64::MAX);
    }
    (slot, Some(Cause::Gap(offset - end)))
}

/// The largest alignment below `than` (bytes) that takes bit `end` to bit `offset`.
fn lowering(end: u64, offset: u64, than: u64) -> Option<u64> {
    let halves = std::iter::successors(Some(than / 2), |align| Some(align / 2));
    halves.take_while(|align| *align > 0).find(|align| round_up(end, align * 8) == offset)
}

/// The smallest power of two above `than` (bytes) that takes bit `end` to bit `offset`.
fn raising(end: u64, offset: u64, than: u64) -> Option<u64> {
    let least = than.checked_add(1)?.checked_next_power_of_two()?;
    let powers = std::iter::successors(Some(least), |align| align.checked_mul(2));
    let mut fitting = powers.take_while(|align| align.checked_mul(8).is_some_and(|bits| bits <= offset));
    fitting.find(|align| round_up(end, align * 8) == offset)
}

/// `line` if it takes bit `end` to bit `offset` as `align` does and is stricter, else `align`.
fn usual(align: u64, offset: u64, end: u64, line: u64) -> u64 {
    if line > align && round_up(end, line.saturating_mul(8)) == offset { line } else { align }
}

/// Offsets leave a range of alignments open. Within it the one that another member of the struct needs, or the usual
/// line size, is likelier than the smallest: programs write one alignment many times.
fn prefer_common_alignment(slots: &mut Slots, members: &[Member], base: u64) {
    let raised = |exception: &Exception| match exception.cause {
        Cause::Raised(align) => Some(align),
        _ => None,
    };
    let needed = slots.exceptions.iter().filter_map(raised).max().unwrap_or(0);
    for exception in &mut slots.exceptions {
        let (Some(index), Cause::Raised(align)) = (exception.member, exception.cause) else {
            continue;
        };
        let end = match index.checked_sub(1) {
            Some(before) => members[before].bit_end().saturating_sub(base),
            None => 0,
        };
        let offset = members[index].bit_offset.saturating_sub(base);
        let chosen = usual(usual(align, offset, end, USUAL_LINE), offset, end, needed);
        exception.cause = Cause::Raised(chosen);
        slots.slots[index].align = chosen;
    }
}
