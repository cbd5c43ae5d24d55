//! Members at the places where pahole sees them.

use super::facts::{Facts, Gap, Placed, data_members, find_gaps, is_union};
use super::printer::Printer;
use fieldline_layout::types::{Aggregate, MemberDecl, Type, TypeId};
use std::rc::Rc;

impl<'t> Printer<'t> {
    /// The facts of an aggregate, worked out once.
    pub(super) fn facts(&mut self, id: TypeId, aggregate: &'t Aggregate) -> Rc<Facts> {
        if let Some(known) = self.facts.get(&id) {
            return Rc::clone(known);
        }
        let mut facts = self.place(id, aggregate);
        if !is_union(aggregate) {
            find_gaps(&mut facts, aggregate);
        }
        let facts = Rc::new(facts);
        self.facts.insert(id, Rc::clone(&facts));
        facts
    }

    fn place(&mut self, id: TypeId, aggregate: &'t Aggregate) -> Facts {
        let mut members: Vec<Placed> =
            aggregate.members.iter().map(|member| self.place_member(member)).collect();
        let align = if self.options.from_btf {
            self.infer_alignments(id, aggregate, &mut members)
        } else {
            aggregate.align.unwrap_or(0)
        };
        Facts { members, align, ..Facts::default() }
    }

    fn place_member(&mut self, member: &MemberDecl) -> Placed {
        if member.is_static {
            return Placed { align: member.align.unwrap_or(0), ..Placed::default() };
        }
        let size = self.size(member.ty);
        let placed = Placed {
            bit_offset: member.bit_offset,
            offset: member.bit_offset / 8,
            size,
            bit_in_unit: 0,
            bits: member.bit_field.unwrap_or(0),
            align: member.align.unwrap_or(0),
            after: Gap::default(),
        };
        let unit = size.saturating_mul(8);
        if placed.bits == 0 || unit == 0 {
            return placed;
        }
        // The storage units of a bit-field are laid over the struct from its start, whatever its packing.
        Placed { offset: member.bit_offset / unit * size, bit_in_unit: member.bit_offset % unit, ..placed }
    }

    /// Size in bytes. A C++ class without members has one byte, which as a member or base it gives up.
    pub(super) fn size(&self, id: TypeId) -> u64 {
        match self.table.get(self.table.strip(id)) {
            Type::Aggregate(aggregate) if aggregate.size == 1 && data_members(aggregate) == 0 => 0,
            _ => self.table.size_of(id),
        }
    }
}
