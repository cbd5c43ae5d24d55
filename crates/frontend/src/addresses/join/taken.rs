//! The records that addresses are taken for, by the places that they come from.

use super::super::facts::CodePlace;
use super::super::merged::TypeNumber;
use super::places::PlaceNumber;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Most types that an address of one object is taken for: memory that becomes objects of more is nobody's.
const MOST_TAKEN: usize = 1;

/// The records that addresses at each place are taken for, here or where they are handed on to.
#[derive(Default)]
pub(super) struct Taken<'f> {
    types: FxHashMap<PlaceNumber, BTreeMap<TypeNumber, &'f CodePlace>>,
    /// Places that others hand addresses to.
    reached: FxHashSet<PlaceNumber>,
    direct: FxHashSet<PlaceNumber>,
    /// The places that hand addresses to one just as they are.
    handed: FxHashMap<PlaceNumber, Vec<PlaceNumber>>,
    open: Vec<(PlaceNumber, TypeNumber, &'f CodePlace)>,
}

impl<'f> Taken<'f> {
    /// An address from a place is taken for a record.
    pub(super) fn take(&mut self, place: PlaceNumber, ty: TypeNumber, at: &'f CodePlace) {
        self.direct.insert(place);
        self.open.push((place, ty, at));
    }

    /// A place hands its addresses to another one; `is_same`: as they are.
    pub(super) fn hand(&mut self, place: PlaceNumber, next: PlaceNumber, is_same: bool) {
        self.reached.insert(next);
        if is_same {
            self.handed.entry(next).or_default().push(place);
        }
    }

    /// Brings the records to all places whose addresses are handed on. `name` puts the places in an order that doesn't
    /// depend on the units'.
    pub(super) fn spread(mut self, name: impl Fn(PlaceNumber) -> &'f str) -> Self {
        let mut open = std::mem::take(&mut self.open);
        open.sort_unstable_by_key(|(place, ty, at)| (name(*place), *ty, *at));
        while let Some((place, ty, at)) = open.pop() {
            if self.types.entry(place).or_default().insert(ty, at).is_none() {
                open.extend(self.handed.get(&place).into_iter().flatten().map(|from| (*from, ty, at)));
            }
        }
        self
    }

    /// Places that no object of this program comes to: where addresses come in, and where they are taken for records.
    pub(super) fn first_places(&self, is_entered: impl Fn(PlaceNumber) -> bool) -> Vec<PlaceNumber> {
        let is_first = |place: &PlaceNumber| {
            !is_entered(*place) && (self.direct.contains(place) || !self.reached.contains(place))
        };
        self.types.keys().copied().filter(is_first).collect()
    }

    /// All places that addresses come from.
    pub(super) fn places(&self) -> impl Iterator<Item = PlaceNumber> + '_ {
        self.types.keys().copied()
    }

    /// All records.
    pub(super) fn all(&self, place: PlaceNumber) -> Option<&BTreeMap<TypeNumber, &'f CodePlace>> {
        self.types.get(&place)
    }

    /// The records, unless they are many.
    pub(super) fn types(&self, place: PlaceNumber) -> impl Iterator<Item = (TypeNumber, &'f CodePlace)> + '_ {
        let types = self.types.get(&place).filter(|types| types.len() <= MOST_TAKEN);
        types.into_iter().flatten().map(|(ty, at)| (*ty, *at))
    }
}
