//! Memory that pointers to pointers lead to: an address that is written through one of them is read through others.

use super::super::facts::{Place, State};
use super::super::follow::{Follower, leads_to_addresses};
use super::super::names;
use super::super::shapes::wrappers::unwrapped;
use super::reader::{Reader, levels};
use crate::clang::{Cursor, Identity, Kind, TypeKind};
use crate::tree::Index;
use std::collections::BTreeMap;

/// Most pointers that lead to one another to the memory that is written.
const DEEPEST: u8 = 2;

impl<'u> Reader<'_, '_, '_, 'u> {
    /// Members and variables of all units: what they point to is what their values point to.
    pub(crate) fn written_behind(&mut self) {
        let view = self.unit.view;
        let mut all: BTreeMap<Place, Vec<Identity>> = BTreeMap::new();
        for nodes in self.unit.named() {
            let named = nodes.first().and_then(|node| view.cursor(*node)?.referenced());
            if let Some((place, declared)) = named.and_then(|named| Some((shared_place(named)?, named))) {
                all.entry(place).or_default().push(declared.identity());
            }
        }
        for (place, declared) in all {
            let values = declared.iter().flat_map(|own| view.flow.given(*own)).copied();
            let values = values.filter(|value| leads_to_addresses(view, *value)).collect::<Vec<_>>();
            self.memory_of(&place, &values);
        }
    }

    /// Writes behind the values of a place what is written behind it.
    fn memory_of(&mut self, place: &Place, values: &[Index]) {
        let deepest = values.iter().map(|value| self.depth(*value)).max().unwrap_or(0);
        for level in 1..=deepest {
            let mut follower = Follower::new(self.unit);
            for value in values.iter().filter(|value| self.depth(**value) >= level) {
                follower.store(*value, State { level, ..State::PLAIN });
            }
            let outcome = follower.run();
            self.passage(place.clone(), level, outcome);
        }
    }

    /// How many times memory must be read to get at the addresses that a pointer to pointers leads to.
    pub(crate) fn depth(&self, value: Index) -> u8 {
        let view = self.unit.view;
        let own = [value, view.peeled(value)].into_iter().filter_map(|own| view.cursor(own));
        own.map(|own| levels(own.ty())).max().unwrap_or(0).clamp(1, DEEPEST)
    }

    /// Joins what a result points to with what the returned values point to.
    pub(crate) fn returned_memory(&mut self, index: Index) {
        let view = self.unit.view;
        let mut holders = std::iter::successors(view.tree.parent(index), |holder| view.tree.parent(*holder));
        let function = holders
            .find(|holder| matches!(view.tree.kind(*holder), Kind::Function | Kind::Template | Kind::Lambda));
        let function = function.and_then(|function| view.cursor(function));
        let value = view.tree.values(index).next().filter(|value| leads_to_addresses(view, *value));
        if let Some((function, value)) = function.zip(value) {
            self.memory_of(&names::result(function), &[value]);
        }
    }

    /// `(struct item **)slot`: what is written there by its type is read without it.
    pub(crate) fn typed_memory(&mut self, index: Index) {
        let view = self.unit.view;
        let Some(inner) = view.tree.only(index) else { return };
        let (Some(from), Some(to)) = (view.cursor(inner).map(Cursor::ty), view.cursor(index).map(Cursor::ty))
        else {
            return;
        };
        let open = from.pointee().or_else(|| from.element()).and_then(|held| held.pointee());
        let is_open = open.is_some_and(|open| {
            matches!(open.kind(), TypeKind::Void | TypeKind::Byte | TypeKind::Number | TypeKind::Pointer)
        });
        let record = to.pointee().and_then(|held| held.pointee());
        let Some(record) = record.filter(|record| is_open && record.kind() == TypeKind::Record) else {
            return;
        };
        let mut follower = Follower::new(self.unit);
        follower.store(inner, State { level: 1, ..State::PLAIN });
        let (origin, outcome) = (self.origin(record), follower.run());
        self.depart(index, origin, outcome);
    }
}

/// The place of a pointer that may be one to pointers and that other units, or other functions, may know.
fn shared_place(declared: Cursor<'_>) -> Option<Place> {
    let is_shared = match declared.kind() {
        Kind::Member => true,
        Kind::Variable => declared.holder().is_none_or(|holder| holder.kind() != Kind::Function),
        _ => false,
    };
    let is_open = declared
        .ty()
        .pointee()
        .map(unwrapped)
        .is_some_and(|held| matches!(held.kind(), TypeKind::Pointer | TypeKind::Number | TypeKind::Void));
    (is_shared && is_open).then(|| names::variable(declared))
}
