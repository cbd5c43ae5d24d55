//! What is learned of a value late, told where it was made.
//!
//! A loop over a tree loads `struct rb_node *` and knows only further on, by a variable, that the node is that of some
//! struct. The load is what must know.

use super::code::Code;
use super::state::{Location, State};
use super::transfer::{FIRST_ARGUMENT, meeting_of, origin_of, origin_of_argument, origin_of_meeting};
use super::value::{Origin, Value};
use super::world::World;
use crate::types::{Place, Ty};
use fieldline_machinecode::machine::{Flow, Register};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// A fact knew more of a value than was known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lesson {
    /// Where the value was made.
    pub origin: Origin,
    pub old: Value,
    /// What it is a place of.
    pub place: Place,
}

#[derive(Debug, Default)]
pub(crate) struct Lessons {
    /// Block in which it was learned, and the lesson.
    lessons: Vec<(u32, Lesson)>,
    /// For values by origin: how far they pointed into their type where they were made.
    made: FxHashMap<Origin, i64>,
    /// Values that come together: origin of the meeting, and the value that comes.
    flows: Vec<(Origin, Value)>,
}

fn offset(value: Value) -> i64 {
    value.pointer().and_then(|pointer| pointer.offset).map_or(0, i64::from)
}

impl Lessons {
    /// Values as they come together at the start of a block.
    pub(crate) fn met(&mut self, block: u32, state: &State) {
        for (location, value) in state.locations() {
            let origin = value.origin();
            if origin != 0 && origin == origin_of_meeting(block, location) {
                self.made.insert(origin, offset(value));
            }
        }
    }

    /// The state behind the instruction before: what that made is seen here first.
    pub(crate) fn made_before(&mut self, code: &Code, index: usize, state: &State) {
        let architecture = code.facts.architecture;
        let Some(before) = index.checked_sub(1) else {
            for register in architecture.arguments().iter().copied() {
                self.made.insert(origin_of_argument(register), offset(state.register(register)));
            }
            return;
        };
        let origin = origin_of(before);
        let Some(instruction) = code.instructions.get(before).filter(|_| origin != 0) else { return };
        let mut written = instruction.written;
        if matches!(instruction.flow, Flow::Call(_)) {
            written.insert(architecture.result());
        }
        let mut values = written.iter().map(|register| state.register(register));
        if let Some(value) = values.find(|value| value.origin() == origin) {
            self.made.entry(origin).or_insert_with(|| offset(value));
        }
    }

    /// What facts taught in a block.
    pub(crate) fn learned(&mut self, block: u32, lessons: &[Lesson]) {
        self.lessons.extend(lessons.iter().map(|lesson| (block, *lesson)));
    }

    /// A state flows into another where values come together. `zero`: a register that is zero on the way.
    pub(crate) fn flows(&mut self, block: u32, from: &State, met: &State, zero: Option<Register>) {
        for register in (0..Register::COUNT).filter_map(Register::new) {
            let meeting = origin_of_meeting(block, Location::Register(register));
            let value = from.register(register);
            let comes_together = met.register(register).origin() == meeting && zero != Some(register);
            if comes_together && ![0, value.origin()].contains(&meeting) && value.origin() != 0 {
                self.flows.push((meeting, value));
            }
        }
    }

    /// The place a value was of where it was made, if a later value of it is of a place.
    fn at_origin(&self, origin: Origin, later: Value, place: Place) -> Option<Place> {
        let made = *self.made.get(&origin)?;
        let moved = offset(later).checked_sub(made)?;
        Some(Place { ty: place.ty, offset: place.offset.checked_sub(moved)? })
    }

    /// Adds what may be told to what is known by origin; whether that is news.
    pub(crate) fn apply(
        &self,
        world: &mut World<'_>,
        code: &Code,
        refined: &mut FxHashMap<Origin, Place>,
    ) -> bool {
        let mut told: BTreeMap<Origin, Option<Place>> = BTreeMap::new();
        let mut queue: Vec<(Origin, Place, Ty)> = Vec::new();
        for (block, lesson) in &self.lessons {
            let generic = lesson.old.pointer().map_or(Ty::VOID, |pointer| pointer.ty);
            if !may_tell(world, code, *block, lesson.origin, generic) {
                continue;
            }
            if let Some(place) = self.at_origin(lesson.origin, lesson.old, lesson.place) {
                queue.push((lesson.origin, place, generic));
            }
        }
        while let Some((origin, place, generic)) = queue.pop() {
            if !tell(world, &mut told, origin, place) || meeting_of(origin).is_none() {
                continue;
            }
            for (_, value) in self.flows.iter().filter(|(meeting, _)| *meeting == origin) {
                // Of pointers that came together as one to somewhere nothing can be told.
                let same = value.pointer().map_or(generic == Ty::VOID, |pointer| {
                    pointer.ty == generic && self.made.get(&origin) == Some(&offset(*value))
                });
                if let Some(place) = self.at_origin(value.origin(), *value, place).filter(|_| same) {
                    queue.push((value.origin(), place, generic));
                }
            }
        }
        let mut news = false;
        for (origin, place) in told {
            if let Some(place) = place.filter(|_| meeting_of(origin).is_none()) {
                news |= refined.insert(origin, place) != Some(place);
            }
        }
        news
    }
}

/// Notes a place for an origin; whether that is news. Where lessons differ the smaller whole is told, and nothing
/// where neither is part of the other.
fn tell(
    world: &mut World<'_>,
    told: &mut BTreeMap<Origin, Option<Place>>,
    origin: Origin,
    place: Place,
) -> bool {
    let known = told.get(&origin).copied();
    let both = match known {
        None => Some(place),
        Some(Some(known)) if world.types.encloses(place, known) => Some(known),
        Some(Some(known)) if world.types.encloses(known, place) => Some(place),
        Some(_) => None,
    };
    told.insert(origin, both);
    both.is_some() && known != Some(both)
}

/// Whether a lesson holds wherever the value goes: learned in the block that made it, or of a type that only links what
/// embeds it (`struct list_head`), unlike a `struct device *` that some branch knows to be that of a PCI device.
fn may_tell(world: &mut World<'_>, code: &Code, block: u32, origin: Origin, generic: Ty) -> bool {
    let made_in = match meeting_of(origin) {
        // What comes together was made on several ways, of which the block knows nothing.
        Some(_) => None,
        None if origin >= FIRST_ARGUMENT => code.graph.block_of(code.entry),
        None => origin.checked_sub(1).and_then(|index| code.graph.block_of(index)),
    };
    made_in == Some(block) || world.types.is_link(generic)
}
