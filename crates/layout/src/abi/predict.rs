//! The layout with another order of the members, or one more, also on a machine with another cacheline size.

use super::infer::{AbiShape, AbiStruct, infer_abi, natural_abi};
use super::rules::{AbiMember, place_members, round_size};
use crate::layout::{Layout, Member, inherited_part};

/// The layout with its members in `order` (declared indices). `None` if that is no permutation, the type is a union, or
/// it moves what stands in or before the padding of a base class.
pub fn reorder(layout: &Layout, order: &[usize]) -> Option<Layout> {
    build_layout(layout, &layout.members, &infer_abi(layout), order)
}

/// Like [`reorder`], for a machine whose cacheline has `line` bytes instead of `build_line`: alignments to
/// the line (`____cacheline_aligned`, include/linux/cache.h) follow it, and so do the sizes of types aligned
/// to it.
pub fn reorder_for_line(layout: &Layout, order: &[usize], build_line: u64, line: u64) -> Option<Layout> {
    let (inferred, members) = adapt_to_line(layout, build_line, line);
    let lines = LineSizes { build_line, line };
    build_layout(&lines.scale_layout(layout), &members, &inferred, order)
}

/// A member that isn't there yet.
#[derive(Clone, Copy, Debug)]
pub struct NewMember<'m> {
    /// Its type, size and alignments; the offset counts for nothing.
    pub member: &'m Member,
    /// Alignment in bytes that the program's ABI gives no scalar more than: 4 on i386 (System V i386 psABI,
    /// table 2.1, members of structs), `u64::MAX` where there is no such limit.
    pub align_limit: u64,
}

/// The layout with a new member behind the first `index` members, for a machine whose cacheline has `line`
/// bytes instead of `build_line`, see [`reorder_for_line`]. `None` if there are fewer, or the type is a
/// union.
pub fn insert_for_line(
    layout: &Layout,
    new: NewMember<'_>,
    index: usize,
    build_line: u64,
    line: u64,
) -> Option<Layout> {
    let (mut inferred, mut members) = adapt_to_line(layout, build_line, line);
    if index > members.len() {
        return None;
    }
    let mut own = AbiStruct {
        // A cap that the struct shows holds for the new member too, but not that of a packed struct's
        // bit-fields.
        members: vec![natural_abi(new.member, inferred.cap.min(new.align_limit).max(1), 1)],
        struct_align: 1,
        cap: inferred.cap,
        ..AbiStruct::default()
    };
    // `adapt` places nothing: it only scales what is aligned to lines.
    let lines = LineSizes { build_line, line };
    let adapted = match line == build_line {
        true => vec![new.member.clone()],
        false => lines.adapt_members(std::slice::from_ref(new.member), &mut own),
    };
    inferred.members.splice(index..index, own.members);
    members.splice(index..index, adapted);
    let order: Vec<usize> = (0..members.len()).collect();
    build_layout(&lines.scale_layout(layout), &members, &inferred, &order)
}

/// Alignments and members of a layout on a machine whose cacheline has `line` bytes, not `build_line`.
/// Members keep their declared offsets; only sizes, alignments and inner members are adapted.
pub fn adapt_to_line(layout: &Layout, build_line: u64, line: u64) -> (AbiStruct, Vec<Member>) {
    let mut inferred = infer_abi(layout);
    let members = if line == build_line || build_line == 0 || line == 0 {
        layout.members.clone()
    } else {
        let lines = LineSizes { build_line, line };
        lines.adapt_members(&layout.members, &mut inferred)
    };
    (inferred, members)
}

fn build_layout(template: &Layout, members: &[Member], rules: &AbiStruct, order: &[usize]) -> Option<Layout> {
    let kept = order.get(..inherited_part(members))?;
    let keeps_bases = kept.iter().enumerate().all(|(place, index)| place == *index);
    if rules.is_union || !keeps_bases || !is_permutation(order, members.len()) {
        return None;
    }
    let ordered: Vec<AbiMember> = order.iter().map(|index| rules.members[*index]).collect();
    let placement = place_members(&ordered, rules.struct_align);
    let moved = order.iter().zip(&placement.bit_offsets);
    let moved: Vec<Member> = moved.map(|(index, offset)| move_member(&members[*index], *offset)).collect();
    let end = moved.last().map_or(0, Member::bit_end).saturating_add(rules.tail_bits);
    let size = round_size(end, placement.align);
    Some(Layout { align: placement.align, ..Layout::from_members(template, moved, size) })
}

/// Whether an order has each of `count` indices once.
pub fn is_permutation(order: &[usize], count: usize) -> bool {
    let mut seen = vec![false; count];
    let is_new = |index: &usize| match seen.get_mut(*index) {
        Some(seen) => !std::mem::replace(seen, true),
        None => false,
    };
    order.len() == count && order.iter().all(is_new)
}

/// The member at another offset, and all inside it.
fn move_member(member: &Member, bit_offset: u64) -> Member {
    let inside = member.members.iter().map(|inner| {
        move_member(inner, bit_offset.saturating_add(inner.bit_offset.saturating_sub(member.bit_offset)))
    });
    Member { bit_offset, members: inside.collect(), ..member.clone() }
}

/// Two cacheline sizes.
struct LineSizes {
    build_line: u64,
    line: u64,
}

impl LineSizes {
    fn scale(&self, align: u64) -> u64 {
        if align == self.build_line { self.line } else { align }
    }

    /// The layout with its own alignments as on the other machine.
    fn scale_layout(&self, layout: &Layout) -> Layout {
        Layout {
            align: self.scale(layout.align),
            explicit_align: layout.explicit_align.map(|align| self.scale(align)),
            ..layout.clone()
        }
    }

    /// Adapts members and their alignments.
    fn adapt_members(&self, members: &[Member], inferred: &mut AbiStruct) -> Vec<Member> {
        inferred.struct_align = self.scale(inferred.struct_align);
        let adapted = members.iter().zip(&mut inferred.members).map(|(member, member_abi)| {
            let member = self.adapt_member(member, member_abi.align);
            member_abi.align = self.scale(member_abi.align);
            if !member.is_inherited() {
                member_abi.bit_size = member.bit_size;
            }
            Member {
                align: self.scale(member.align),
                explicit_align: member.explicit_align.map(|align| self.scale(align)),
                ..member
            }
        });
        adapted.collect()
    }

    /// A member with the size its type has on the other machine; its offset stays. `align` is what its offset
    /// shows.
    fn adapt_member(&self, member: &Member, align: u64) -> Member {
        let Some(shape) = AbiShape::of_member(member) else { return self.adapt_array(member, align) };
        let mut inferred = shape.infer(u64::MAX, 1);
        if self.type_is_aligned(member, align) {
            inferred.struct_align = inferred.struct_align.max(self.build_line);
        }
        let before = inferred.place();
        let inside = self.adapt_members(shape.members, &mut inferred);
        let after = inferred.place();
        if before.size != shape.size {
            return member.clone();
        }
        let start = member.bit_offset;
        let inside = inside.iter().zip(&after.bit_offsets);
        let inside = inside.map(|(inner, offset)| move_member(inner, start.saturating_add(*offset)));
        Member { bit_size: after.size.saturating_mul(8), members: inside.collect(), ..member.clone() }
    }

    /// An array of line-aligned elements, which are not opened: each is padded to the line.
    fn adapt_array(&self, member: &Member, align: u64) -> Member {
        let count = element_count(&member.type_name);
        let element = member.size().checked_div(count).unwrap_or(0);
        let is_padded = self.type_is_aligned(member, align) && element.is_multiple_of(self.build_line);
        if member.is_bit_field() || !is_padded {
            return member.clone();
        }
        let element = element.checked_next_multiple_of(self.line).unwrap_or(element);
        Member { bit_size: element.saturating_mul(count).saturating_mul(8), ..member.clone() }
    }

    /// Whether the member's alignment to the line comes from its type, which then is padded to it too. Debug
    /// info that gives no alignments leaves only its size to judge by.
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
