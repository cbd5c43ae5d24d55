//! An address on its way through a unit, from the node that has it to its ends.

use super::super::facts::{End, Outcome, Place, State};
use super::super::nodes::Unit;
use super::super::shapes::wrappers::unwrapped;
use crate::clang::{Cursor, Identity, Type, TypeKind};
use crate::tree::Index;
use rustc_hash::{FxHashMap, FxHashSet};

/// Most times an address is read from memory on its way.
const MOST_LEVELS: u8 = 4;

/// Most distances that an address is told apart by at one node.
const MOST_STATES: usize = 4;

/// One way.
pub(crate) struct Follower<'f, 'v, 's, 'u> {
    pub(crate) unit: &'f Unit<'v, 's, 'u>,
    pub(crate) outcome: Outcome,
    pub(crate) seen: FxHashSet<(Index, State)>,
    /// How many states each node was given, and the least distance of the first one.
    states: FxHashMap<Index, (usize, Option<i64>)>,
    pub(crate) open: Vec<(Index, State)>,
    /// Variables that addresses were written behind, and how far.
    pub(crate) behind: FxHashSet<(Identity, u8)>,
}

impl<'f, 'v, 's, 'u> Follower<'f, 'v, 's, 'u> {
    pub(crate) fn new(unit: &'f Unit<'v, 's, 'u>) -> Self {
        Self {
            unit,
            outcome: Outcome::default(),
            seen: FxHashSet::default(),
            states: FxHashMap::default(),
            open: Vec::new(),
            behind: FxHashSet::default(),
        }
    }

    /// The node has the address as its value.
    pub(crate) fn push(&mut self, index: Index, state: State) {
        if state.level > MOST_LEVELS || self.seen.contains(&(index, state)) {
            return;
        }
        let (count, least) = self.states.entry(index).or_insert((0, state.least));
        *count += 1;
        // What is moved on again and again is a walk.
        let state = if *count > MOST_STATES { state.walked(*least) } else { state };
        if self.seen.insert((index, state)) {
            self.open.push((index, state));
        }
    }

    pub(crate) fn end(&mut self, index: Index, state: State, end: End) {
        // Pointers read as bytes or as other pointers are no bytes of the object.
        if state.level == 0 {
            self.outcome.ends.push((state, end, self.unit.place(index)));
        }
    }

    pub(crate) fn hand(&mut self, index: Index, state: State, place: Place, otherwise: Option<End>) {
        self.outcome.places.push((
            state,
            place,
            otherwise.filter(|_| state.level == 0),
            self.unit.place(index),
        ));
    }

    pub(crate) fn ty(&self, index: Index) -> Option<Type<'u>> {
        self.unit.view.cursor(index).map(Cursor::ty)
    }

    /// An address that is read from memory so many times is of the record that the type of the memory says.
    pub(crate) fn read_as(&mut self, index: Index, memory: Type<'u>, state: State) {
        let mut ty = memory;
        for _ in 0..state.level {
            let held = unwrapped(ty);
            let Some(inner) = held.pointee().or_else(|| held.element()) else { return };
            ty = inner;
        }
        if let Some(record) = ty.pointee().filter(|record| record.kind() == TypeKind::Record) {
            let shape = self.unit.shape(record);
            self.end(index, State { level: 0, ..state }, End::Record(shape));
        }
    }

    /// All places that name a variable.
    pub(crate) fn follow(&mut self, variable: Identity, state: State) {
        let named = self.unit.names.get(&variable).cloned().unwrap_or_default();
        named.into_iter().for_each(|name| self.push(name, state));
    }

    pub(crate) fn not_understood(&mut self, index: Index, state: State) {
        // A number is no address until it is made one.
        if self.ty(index).is_some_and(|ty| ty.kind() != TypeKind::Number) {
            self.end(index, state, End::Unknown);
        }
    }
}
