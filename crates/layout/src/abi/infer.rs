//! The alignments that a compiled struct was asked for: those that reproduce its declared offsets.
//!
//! Debug info has neither `__packed` nor, in BTF, any alignment, and a type's natural alignment differs
//! between ABIs (an 8-byte scalar is aligned to 4 bytes on i386, to 2 on m68k). All of it shows in the
//! offsets. A rule set is a cap on natural alignments: none, 8, 4, 2, or 1 for a packed struct. The one that
//! needs the fewest exceptions is taken, the weaker one if two need equally many.

use super::rules::{AbiMember, Placement, place_members, place_union_members};
use super::rules::{next_offset, round_size, round_up};
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

/// Input of [`place_members`] that reproduces a layout, member by member in declared order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AbiStruct {
    /// One for each member.
    pub members: Vec<AbiMember>,
    /// Alignment in bytes the struct itself asks for, beyond its members'.
    pub struct_align: u64,
    /// Bits behind the last member that no rule explains.
    pub tail_bits: u64,
    /// Whether members lie over one another.
    pub is_union: bool,
    /// Cap in bytes on natural alignments; 1 if the struct is packed.
    pub cap: u64,
    /// Assumptions beyond what debug info has.
    pub exceptions: Vec<AbiException>,
}

/// An assumption without which a declared offset or the size can't be reproduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbiException {
    /// The member, or `None` for the struct's end.
    pub member: Option<usize>,
    /// The assumption.
    pub cause: AbiExceptionCause,
}

/// Kinds of [`AbiException`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AbiExceptionCause {
    /// Less alignment than the type has, in bytes.
    Lowered(u64),
    /// More alignment than the type has, in bytes.
    Raised(u64),
    /// So many bits that belong to nothing, explained by unnamed bit-fields only.
    Gap(u64),
    /// The member begins before the one declared before it ends, or the struct ends before its members do.
    Overlap,
}

/// Where [`place_members`] and debug info differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacementMismatch {
    /// The member, or `None` for the struct's size.
    pub member: Option<usize>,
    /// Declared bit offset (or size in bits).
    pub declared: u64,
    /// Computed bit offset (or size in bits).
    pub placed: u64,
}

impl AbiStruct {
    /// Alignment of the struct in bytes.
    pub fn align(&self) -> u64 {
        self.members.iter().map(|slot| slot.align).fold(self.struct_align.max(1), u64::max)
    }

    /// Whether natural alignments are ignored (`__packed`).
    pub fn is_packed(&self) -> bool {
        self.cap == 1
    }

    /// Places the members in declared order.
    pub fn place(&self) -> Placement {
        let mut placement = if self.is_union {
            place_union_members(&self.members, self.struct_align)
        } else {
            place_members(&self.members, self.struct_align)
        };
        let ends = placement.bit_offsets.iter().zip(&self.members);
        let end = ends.map(|(offset, slot)| offset.saturating_add(slot.bit_size)).max();
        placement.size = round_size(end.unwrap_or(0).saturating_add(self.tail_bits), placement.align);
        placement
    }
}

/// The alignments that reproduce a layout.
pub fn infer_abi(layout: &Layout) -> AbiStruct {
    let shape = AbiShape {
        members: &layout.members,
        base: 0,
        size: layout.size,
        is_union: layout.is_union(),
        explicit_align: layout.explicit_align.unwrap_or(1),
    };
    shape.infer(u64::MAX, 0)
}

/// The first place where the C placement rules and the declared layout differ; `None` if they agree. What had
/// to be assumed to make them agree stands in [`AbiStruct::exceptions`].
pub fn find_mismatch(layout: &Layout) -> Option<PlacementMismatch> {
    let placed = infer_abi(layout).place();
    let pairs = layout.members.iter().zip(&placed.bit_offsets);
    let moved = pairs.enumerate().find(|(_, (member, placed))| member.bit_offset != **placed);
    let moved = moved.map(|(index, (member, placed))| PlacementMismatch {
        member: Some(index),
        declared: member.bit_offset,
        placed: *placed,
    });
    let resized = (placed.size != layout.size).then(|| PlacementMismatch {
        member: None,
        declared: layout.size.saturating_mul(8),
        placed: placed.size.saturating_mul(8),
    });
    moved.or(resized)
}

/// An aggregate to explain: the struct itself or one it holds by value.
pub(super) struct AbiShape<'a> {
    pub(super) members: &'a [Member],
    /// Bit offset of its start; members count from the outermost struct.
    pub(super) base: u64,
    /// Size in bytes.
    pub(super) size: u64,
    pub(super) is_union: bool,
    /// Alignment in bytes debug info gives the aggregate itself.
    pub(super) explicit_align: u64,
}

impl<'a> AbiShape<'a> {
    /// The aggregate a member holds, if it holds one.
    pub(super) fn of_member(member: &'a Member) -> Option<Self> {
        let has_members = !member.members.is_empty() && !member.is_bit_field();
        has_members.then(|| Self {
            members: &member.members,
            base: member.bit_offset,
            size: member.bit_size / 8,
            is_union: member.is_union,
            explicit_align: 1,
        })
    }

    /// The alignments under the cap that needs the fewest exceptions, at most `limit`.
    pub(super) fn infer(&self, limit: u64, depth: u32) -> AbiStruct {
        let mut best: Option<AbiStruct> = None;
        for cap in CAPS.into_iter().filter(|cap| *cap <= limit) {
            let inferred = self.infer_with_cap(cap, depth);
            let is_last = inferred.exceptions.is_empty() || depth >= SEARCH_DEPTH;
            if best.as_ref().is_none_or(|best| inferred.exceptions.len() < best.exceptions.len()) {
                best = Some(inferred);
            }
            if is_last {
                break;
            }
        }
        best.unwrap_or_else(|| self.infer_with_cap(1, depth))
    }

    fn infer_with_cap(&self, cap: u64, depth: u32) -> AbiStruct {
        let struct_align = self.explicit_align.max(1);
        let mut inferred = AbiStruct { struct_align, is_union: self.is_union, cap, ..AbiStruct::default() };
        let mut end = 0;
        for (index, member) in self.members.iter().enumerate() {
            let natural = self.own_bits(index, natural_abi(member, cap, depth));
            let offset = member.bit_offset.saturating_sub(self.base);
            let previous_end = if self.is_union { 0 } else { end };
            let (member_abi, cause) = explain_offset(natural, previous_end, offset);
            let stop = offset.saturating_add(member_abi.bit_size);
            inferred.members.push(member_abi);
            inferred.exceptions.extend(cause.map(|cause| AbiException { member: Some(index), cause }));
            end = if self.is_union { end.max(stop) } else { stop };
        }
        prefer_common_alignment(&mut inferred, self.members, self.base);
        self.explain_size(&mut inferred, end);
        inferred
    }

    /// A base class with the bits that are its own: in its padding, and in one without members, others begin.
    fn own_bits(&self, index: usize, natural: AbiMember) -> AbiMember {
        let own = self.members.get(index).filter(|member| member.is_inherited());
        let next = self.members.get(index + 1).map(|next| next.bit_offset);
        let Some((own, next)) = own.zip(next) else { return natural };
        AbiMember { bit_size: natural.bit_size.min(next.saturating_sub(own.bit_offset)), ..natural }
    }

    /// Raises the struct's own alignment, or assumes a tail, if the members don't explain the size.
    fn explain_size(&self, inferred: &mut AbiStruct, end: u64) {
        let align = inferred.align();
        if round_size(end, align) == self.size {
            return;
        }
        let bits = self.size.saturating_mul(8);
        let cause = if bits < end || round_size(end, align) > self.size {
            AbiExceptionCause::Overlap
        } else if let Some(raised) = raise_align(end, bits, align) {
            inferred.struct_align = prefer_align(raised, bits, end, USUAL_LINE);
            AbiExceptionCause::Raised(inferred.struct_align)
        } else {
            inferred.tail_bits = bits - end;
            AbiExceptionCause::Gap(inferred.tail_bits)
        };
        inferred.exceptions.push(AbiException { member: None, cause });
    }
}

/// A member's placement if nothing but its type and its known attributes counts.
pub(super) fn natural_abi(member: &Member, cap: u64, depth: u32) -> AbiMember {
    let is_packed = cap == 1 && member.explicit_align.is_none();
    AbiMember {
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
    let inner = AbiShape::of_member(member).filter(|_| depth < MAX_DEPTH);
    let own = inner.map_or(own, |inner| {
        let inferred = inner.infer(cap, depth + 1);
        let lowered = |exception: &AbiException| matches!(exception.cause, AbiExceptionCause::Lowered(_));
        // An offset or the size proves less alignment than types ask for.
        let shows_less = inferred.cap < cap || inferred.exceptions.iter().any(lowered);
        if shows_less { inferred.align() } else { own.max(inferred.align()) }
    });
    own.max(explicit)
}

/// Adapts a member so that it is placed at its declared offset behind `end`, all in bits.
fn explain_offset(natural: AbiMember, end: u64, offset: u64) -> (AbiMember, Option<AbiExceptionCause>) {
    if next_offset(&natural, end) == offset {
        return (natural, None);
    }
    if offset < end {
        return (natural, Some(AbiExceptionCause::Overlap));
    }
    if natural.bit_field_storage.is_none() {
        if let Some(align) = lower_align(end, offset, natural.align) {
            return (AbiMember { align, ..natural }, Some(AbiExceptionCause::Lowered(align)));
        }
        if let Some(align) = raise_align(end, offset, natural.align) {
            return (AbiMember { align, ..natural }, Some(AbiExceptionCause::Raised(align)));
        }
    }
    // Unnamed bits before the member, and less alignment where its offset shows it.
    let mut explained = AbiMember { skip: offset - end, ..natural };
    if next_offset(&explained, end) != offset {
        explained.align = match explained.bit_field_storage {
            Some(_) => 1,
            None => lower_align(offset, offset, natural.align).unwrap_or(1),
        };
        explained.bit_field_storage = explained.bit_field_storage.map(|_| u64::MAX);
    }
    (explained, Some(AbiExceptionCause::Gap(offset - end)))
}

/// The largest alignment below `align` (bytes) that takes bit `end` to bit `offset`.
fn lower_align(end: u64, offset: u64, align: u64) -> Option<u64> {
    let halves = std::iter::successors(Some(align / 2), |align| Some(align / 2));
    halves.take_while(|align| *align > 0).find(|align| round_up(end, align * 8) == offset)
}

/// The smallest power of two above `align` (bytes) that takes bit `end` to bit `offset`.
fn raise_align(end: u64, offset: u64, align: u64) -> Option<u64> {
    let least = align.checked_add(1)?.checked_next_power_of_two()?;
    let powers = std::iter::successors(Some(least), |align| align.checked_mul(2));
    let mut fitting = powers.take_while(|align| align.checked_mul(8).is_some_and(|bits| bits <= offset));
    fitting.find(|align| round_up(end, align * 8) == offset)
}

/// `usual` if it takes bit `end` to bit `offset` as `align` does and is stricter, else `align`.
fn prefer_align(align: u64, offset: u64, end: u64, usual: u64) -> u64 {
    if usual > align && round_up(end, usual.saturating_mul(8)) == offset { usual } else { align }
}

/// Offsets leave a range of alignments open. Within it the one that another member of the struct needs, or
/// the usual line size, is likelier than the smallest: programs write one alignment many times.
fn prefer_common_alignment(inferred: &mut AbiStruct, members: &[Member], base: u64) {
    let raised = |exception: &AbiException| match exception.cause {
        AbiExceptionCause::Raised(align) => Some(align),
        _ => None,
    };
    let needed = inferred.exceptions.iter().filter_map(raised).max().unwrap_or(0);
    for exception in &mut inferred.exceptions {
        let (Some(index), AbiExceptionCause::Raised(align)) = (exception.member, exception.cause) else {
            continue;
        };
        let end = match index.checked_sub(1) {
            Some(before) => members[before].bit_end().min(members[index].bit_offset).saturating_sub(base),
            None => 0,
        };
        let offset = members[index].bit_offset.saturating_sub(base);
        let chosen = prefer_align(prefer_align(align, offset, end, USUAL_LINE), offset, end, needed);
        exception.cause = AbiExceptionCause::Raised(chosen);
        inferred.members[index].align = chosen;
    }
}
