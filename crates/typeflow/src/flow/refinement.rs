//! Types that a later use of a value shows, recorded at the instruction that made the value.
//!
//! A loop over a tree loads `struct rb_node *` and knows only further on, by a variable, that the node is
//! that of some struct. The type of the load must be refined.

use super::code::FunctionCode;
use super::state::{State, ValueLocation};
use super::transfer::{FIRST_ARGUMENT, argument_origin, instruction_origin, phi_location, phi_origin};
use super::unit_context::UnitContext;
use super::value::{Origin, Value};
use crate::types::{Ty, TypeOffset};
use fieldline_machinecode::machine::{Flow, Register};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A fact that is more specific than the value it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refinement {
    /// Where the value was made.
    pub origin: Origin,
    pub old: Value,
    /// The type and offset it points to.
    pub place: TypeOffset,
}

#[derive(Debug, Default)]
pub(crate) struct Refinements {
    /// Refinements, with the block of each.
    found: Vec<(u32, Refinement)>,
    /// For values by origin: the offset in their type where they were made.
    initial_offsets: FxHashMap<Origin, i64>,
    /// Joined values: origin of the phi, and the value that flows in.
    joined_values: Vec<(Origin, Value)>,
}

fn pointer_offset(value: Value) -> i64 {
    value.pointer().and_then(|pointer| pointer.offset).map_or(0, i64::from)
}

impl Refinements {
    /// Values that are joined at the start of a block.
    pub(crate) fn add_joined(&mut self, block: u32, state: &State) {
        for (location, value) in state.locations() {
            let origin = value.origin();
            if origin != 0 && origin == phi_origin(block, location) {
                self.initial_offsets.insert(origin, pointer_offset(value));
            }
        }
    }

    /// The state behind the instruction before: its results are seen here first.
    pub(crate) fn add_created(&mut self, code: &FunctionCode, index: usize, state: &State) {
        let architecture = code.facts.architecture;
        let Some(before) = index.checked_sub(1) else {
            for register in architecture.argument_registers().iter().copied() {
                self.initial_offsets
                    .insert(argument_origin(register), pointer_offset(state.register(register)));
            }
            return;
        };
        let origin = instruction_origin(before);
        let Some(instruction) = code.instructions.get(before).filter(|_| origin != 0) else { return };
        let mut written = instruction.written;
        if matches!(instruction.flow, Flow::Call(_)) {
            written.insert(architecture.result_register());
        }
        let mut values = written.iter().map(|register| state.register(register));
        if let Some(value) = values.find(|value| value.origin() == origin) {
            self.initial_offsets.entry(origin).or_insert_with(|| pointer_offset(value));
        }
    }

    /// Adds the refinements of a block.
    pub(crate) fn add_refinements(&mut self, block: u32, refinements: &[Refinement]) {
        self.found.extend(refinements.iter().map(|refinement| (block, *refinement)));
    }

    /// A state flows into another where values are joined. `zero`: a register that is zero on the edge.
    pub(crate) fn add_flow(&mut self, block: u32, from: &State, joined: &State, zero: Option<Register>) {
        for register in (0..Register::COUNT).filter_map(Register::new) {
            let phi = phi_origin(block, ValueLocation::Register(register));
            let value = from.register(register);
            let is_joined = joined.register(register).origin() == phi && zero != Some(register);
            if is_joined && ![0, value.origin()].contains(&phi) && value.origin() != 0 {
                self.joined_values.push((phi, value));
            }
        }
    }

    /// The type and offset of a value where it was made, by those of a later value of it.
    fn location_at_origin(&self, origin: Origin, later: Value, place: TypeOffset) -> Option<TypeOffset> {
        let initial_offset = *self.initial_offsets.get(&origin)?;
        let moved = pointer_offset(later).checked_sub(initial_offset)?;
        Some(TypeOffset { ty: place.ty, offset: place.offset.checked_sub(moved)? })
    }

    /// Adds refinements that hold at the origin to `refined`; whether that changed anything.
    pub(crate) fn apply(
        &self,
        world: &mut UnitContext<'_>,
        code: &FunctionCode,
        refined: &mut FxHashMap<Origin, TypeOffset>,
    ) -> bool {
        let mut by_origin: BTreeMap<Origin, Option<TypeOffset>> = BTreeMap::new();
        let mut queue: Vec<(Origin, TypeOffset, Ty)> = Vec::new();
        for (block, refinement) in &self.found {
            let generic = refinement.old.pointer().map_or(Ty::VOID, |pointer| pointer.ty);
            if !holds_at_origin(world, code, *block, refinement.origin, generic) {
                continue;
            }
            if let Some(place) = self.location_at_origin(refinement.origin, refinement.old, refinement.place)
            {
                queue.push((refinement.origin, place, generic));
            }
        }
        while let Some((origin, place, generic)) = queue.pop() {
            if !record_refinement(world, &mut by_origin, origin, place) || phi_location(origin).is_none() {
                continue;
            }
            for (_, value) in self.joined_values.iter().filter(|(phi, _)| *phi == origin) {
                // Pointers joined at different offsets can't be refined.
                let same = value.pointer().map_or(generic == Ty::VOID, |pointer| {
                    pointer.ty == generic
                        && self.initial_offsets.get(&origin) == Some(&pointer_offset(*value))
                });
                if let Some(place) = self.location_at_origin(value.origin(), *value, place).filter(|_| same) {
                    queue.push((value.origin(), place, generic));
                }
            }
        }
        let mut has_changed = false;
        for (origin, place) in by_origin {
            if let Some(place) = place.filter(|_| phi_location(origin).is_none()) {
                has_changed |= refined.insert(origin, place) != Some(place);
            }
        }
        has_changed
    }
}

/// Records a refinement of an origin; whether that changed anything. Of different ones the smaller container
/// is kept, none where neither is part of the other.
fn record_refinement(
    world: &mut UnitContext<'_>,
    by_origin: &mut BTreeMap<Origin, Option<TypeOffset>>,
    origin: Origin,
    place: TypeOffset,
) -> bool {
    let known = by_origin.get(&origin).copied();
    let merged = match known {
        None => Some(place),
        Some(Some(known)) if world.types.encloses(place, known) => Some(known),
        Some(Some(known)) if world.types.encloses(known, place) => Some(place),
        Some(_) => None,
    };
    by_origin.insert(origin, merged);
    merged.is_some() && known != Some(merged)
}

/// Whether a refinement holds wherever the value goes: found in the block that made it, or of a type that
/// only links what embeds it (`struct list_head`), unlike a `struct device *` that some branch knows to be
/// that of a PCI device.
fn holds_at_origin(world: &mut UnitContext<'_>, code: &FunctionCode, block: u32, at: Origin, ty: Ty) -> bool {
    let creating_block = match phi_location(at) {
        // A phi was made on several paths, of which the block knows nothing.
        Some(_) => None,
        None if at >= FIRST_ARGUMENT => code.graph.block_of(code.entry),
        None => at.checked_sub(1).and_then(|index| code.graph.block_of(index)),
    };
    creating_block == Some(block) || world.types.is_link(ty)
}
