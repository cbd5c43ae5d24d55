//! Offsets of members as pahole computes them, and facts that debug info does not state: whether a struct is
//! packed and, in BTF, which alignments the source asked for.

use super::facts::{Facts, Placed, data_members, find_gaps, is_union};
use super::printer::Printer;
use fieldline_layout::types::{Aggregate, MemberDecl, PointerKind, Type, TypeId};
use std::rc::Rc;

/// How deep aggregates held by value are followed; deeper is corrupt debug info.
const MAX_DEPTH: u32 = 48;

impl<'t> Printer<'t> {
    /// The facts of an aggregate, worked out once.
    pub(super) fn facts(&mut self, id: TypeId, aggregate: &'t Aggregate) -> Rc<Facts> {
        if let Some(known) = self.facts.get(&id) {
            return Rc::clone(known);
        }
        let mut members: Vec<_> = aggregate.members.iter().map(|member| self.place_member(member)).collect();
        let align = match self.options.from_btf {
            true => self.infer_alignments(id, aggregate, &mut members),
            false => aggregate.align.filter(|align| *align > 0),
        };
        let mut facts = Facts { members, align, ..Facts::default() };
        if !is_union(aggregate) {
            find_gaps(&mut facts, aggregate);
        }
        let facts = Rc::new(facts);
        self.facts.insert(id, Rc::clone(&facts));
        facts
    }

    fn place_member(&self, member: &MemberDecl) -> Placed {
        let align = member.align.filter(|align| *align > 0);
        if member.is_static {
            return Placed { align, ..Placed::default() };
        }
        let (bit_offset, bits) = (member.bit_offset, member.bit_field.unwrap_or(0));
        let size = self.size(member.ty);
        let placed = Placed { bit_offset, offset: bit_offset / 8, size, bits, align, ..Placed::default() };
        let unit = size.saturating_mul(8);
        if bits == 0 || unit == 0 {
            return placed;
        }
        // The storage units of a bit-field are laid over the struct from its start, whatever its packing.
        Placed { offset: bit_offset / unit * size, bit_in_unit: bit_offset % unit, ..placed }
    }

    /// Size in bytes. A C++ class without members has one byte, which as a member or base it gives up.
    pub(super) fn size(&self, id: TypeId) -> u64 {
        match self.table.get(self.table.strip(id)) {
            Type::Aggregate(aggregate) if aggregate.size == 1 && data_members(aggregate) == 0 => 0,
            _ => self.table.size_of(id),
        }
    }

    /// Alignments inferred from gaps that the members' types do not explain. Sets those of the members and
    /// gives that of the struct.
    fn infer_alignments(&mut self, id: TypeId, held: &'t Aggregate, members: &mut [Placed]) -> Option<u64> {
        let mut end = 0;
        for (member, placed) in held.members.iter().zip(members.iter_mut()) {
            if placed.size == 0 {
                continue;
            }
            let natural = self.natural_alignment(member.ty);
            placed.align = self.alignment_at(placed.offset, natural, end);
            end = placed.offset.saturating_add(placed.size);
        }
        let natural = self.natural_alignment(id);
        self.alignment_at(held.size, natural, end)
    }

    /// The alignment that put something at `offset` although the room before it ended at `end`: the power of
    /// two above the gap, or a whole cacheline if the offset allows; none if `natural` explains it.
    fn alignment_at(&self, offset: u64, natural: u64, end: u64) -> Option<u64> {
        // pahole counts in 32 bits and lets a member that lies before the end of the last one wrap around.
        let gap = (offset as u32).wrapping_sub(end as u32);
        if gap == 0 || !offset.is_multiple_of(2) {
            return None;
        }
        let align = 1u64.checked_shl(u32::BITS - gap.leading_zeros()).unwrap_or(0) & u64::from(u32::MAX);
        let line = u64::from(self.options.cacheline_size);
        if align <= natural || align == 1 {
            return None;
        }
        let could_be_line = align < line && line.is_multiple_of(align) && offset.is_multiple_of(line);
        Some(if could_be_line { line } else { align })
    }

    /// Alignment of a type by its scalars alone, as if nothing were packed or aligned by hand. Each scalar
    /// counts with its size, whatever the ABI says.
    fn natural_alignment(&mut self, id: TypeId) -> u64 {
        self.natural_alignment_within(id, MAX_DEPTH)
    }

    fn natural_alignment_within(&mut self, id: TypeId, depth: u32) -> u64 {
        let table = self.table;
        let id = table.strip(id);
        let natural = match table.get(id) {
            Type::Pointer { kind: PointerKind::Pointer, size, .. } => *size,
            Type::Base(base) => base.size,
            Type::Enum(enumeration) => enumeration.size,
            Type::Array { element, .. } if depth > 0 => self.natural_alignment_within(*element, depth - 1),
            Type::Aggregate(held) if depth > 0 => self.natural_alignment_of_members(id, held, depth - 1),
            _ => 1,
        };
        natural.max(1)
    }

    fn natural_alignment_of_members(&mut self, id: TypeId, aggregate: &'t Aggregate, depth: u32) -> u64 {
        if let Some(known) = self.natural.get(&id) {
            return *known;
        }
        // A struct that holds itself by value is corrupt; it ends here.
        self.natural.insert(id, 1);
        let members = aggregate.members.iter().filter(|member| !member.is_static);
        let natural = members.map(|member| self.natural_alignment_within(member.ty, depth)).max();
        self.natural.insert(id, natural.unwrap_or(1));
        natural.unwrap_or(1)
    }

    /// Whether a struct is packed, as far as it shows: no holes, and a member or the size off its alignment.
    pub(super) fn is_packed(&mut self, id: TypeId, aggregate: &'t Aggregate) -> bool {
        if is_union(aggregate) {
            return false;
        }
        if let Some(known) = self.packed.get(&id) {
            return *known;
        }
        let facts = self.facts(id, aggregate);
        let has_gaps = facts.padding != 0 || facts.holes != 0;
        let packed = !has_gaps && self.is_visibly_packed(aggregate, &facts);
        if has_gaps {
            self.mark_displaced(aggregate, &facts.members);
        }
        // Marking may have reached the struct itself if debug info is corrupt; the first answer stays.
        *self.packed.entry(id).or_insert(packed)
    }

    fn is_visibly_packed(&mut self, aggregate: &'t Aggregate, facts: &Facts) -> bool {
        let mut strictest = 1;
        let pairs = aggregate.members.iter().zip(&facts.members);
        for (member, placed) in pairs.filter(|(member, _)| !member.is_static) {
            let natural = self.natural_alignment(member.ty);
            strictest = strictest.max(natural);
            if !placed.offset.is_multiple_of(natural) {
                return true;
            }
        }
        (strictest != 1 && facts.align == Some(1)) || !aggregate.size.is_multiple_of(strictest)
    }

    /// Structs held at an offset that is none for them can only be packed.
    fn mark_displaced(&mut self, aggregate: &'t Aggregate, members: &[Placed]) {
        for (member, placed) in aggregate.members.iter().zip(members) {
            let natural = self.natural_alignment(member.ty);
            if !placed.offset.is_multiple_of(natural) {
                self.mark_packed(member.ty);
            }
        }
    }

    /// Structs in a union whose size is none for an array of them can only be packed.
    pub(super) fn mark_in_union(&mut self, id: TypeId, aggregate: &'t Aggregate) {
        if !self.unions_seen.insert(id) {
            return;
        }
        for member in &aggregate.members {
            let natural = self.natural_alignment(member.ty);
            if !aggregate.size.is_multiple_of(natural) {
                self.mark_packed(member.ty);
            }
        }
    }

    fn mark_packed(&mut self, id: TypeId) {
        let id = self.table.strip(id);
        if matches!(self.table.get(id), Type::Aggregate(aggregate) if !is_union(aggregate)) {
            self.packed.insert(id, true);
        }
    }

    /// Whether a struct ends with `[]`.
    pub(super) fn ends_flexible(&self, aggregate: &Aggregate) -> bool {
        let last = aggregate.members.iter().rev().find(|member| !member.is_base);
        last.is_some_and(|member| match self.table.get(member.ty) {
            Type::Array { dimensions, .. } => matches!(dimensions[..], [] | [None | Some(0)]),
            _ => false,
        })
    }

    /// Whether a struct held by value, at any depth, ends with `[]`.
    pub(super) fn embeds_flexible(&mut self, id: TypeId, aggregate: &'t Aggregate) -> bool {
        self.embeds_flexible_within(id, aggregate, MAX_DEPTH)
    }

    fn embeds_flexible_within(&mut self, id: TypeId, aggregate: &'t Aggregate, depth: u32) -> bool {
        if let Some(known) = self.embedded.get(&id) {
            return *known;
        }
        self.embedded.insert(id, false);
        let table = self.table;
        let found = aggregate.members.iter().filter(|member| !member.is_static).any(|member| {
            let inner = table.strip(member.ty);
            match table.get(inner) {
                Type::Aggregate(held) if !is_union(held) && depth > 0 => {
                    self.ends_flexible(held) || self.embeds_flexible_within(inner, held, depth - 1)
                }
                _ => false,
            }
        });
        self.embedded.insert(id, found);
        found
    }
}
