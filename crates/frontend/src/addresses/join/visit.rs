//! An address at a place.

use super::super::facts::{End, State};
use super::places::{PlaceFacts, PlaceNumber};
use std::borrow::Cow;

/// An address at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Visit {
    pub(super) place: PlaceNumber,
    pub(super) state: State,
    /// Whether it was kept in a member or a variable on its way, where others are kept too.
    pub(super) is_kept: bool,
    /// Bytes that the caller says there are.
    pub(super) count: Option<u64>,
    /// How often it was kept since it may be any number, see [`Visit::come_to`].
    pub(super) lost: u8,
}

impl Visit {
    /// The visit, come from another place. An address may be any number from where it was moved forth or back by a number of
    /// bytes that nobody knows and is kept like that, and from where it was among numbers of all kinds. Such a
    /// number gets less likely where it meets others: where it is kept, and where functions write what they were handed. One
    /// that is put together of parts is least likely.
    pub(super) fn come_to(self, place: &PlaceFacts<'_>) -> Self {
        let is_anywhere = self.state.moved.is_none() && self.state.least.is_none();
        let is_further = self.lost > 0 && (place.is_kept || place.is_written);
        let is_lost = place.is_of_numbers || place.is_kept && is_anywhere || is_further;
        let more = u8::from(is_lost) + u8::from(place.is_of_parts);
        Self { lost: self.lost.saturating_add(more), ..self }
    }

    /// An end, no farther than the caller says.
    pub(super) fn bounded<'e>(&self, state: State, end: &'e End) -> (State, Cow<'e, End>) {
        let at_begin = State { moved: Some(0), least: Some(0), ..state };
        let is_open = |own: &Option<u64>| state.moved.is_none() || own.is_none();
        match (self.count, end) {
            (Some(count), End::Bytes { count: own, by }) if is_open(own) => {
                (at_begin, Cow::Owned(End::Bytes { count: Some(count), by: by.clone() }))
            }
            (Some(count), End::Sets { count: own, by, is_fixed }) if is_open(own) => {
                let end = End::Sets { count: Some(count), by: by.clone(), is_fixed: *is_fixed };
                (at_begin, Cow::Owned(end))
            }
            // As many elements as the caller's bytes are.
            (Some(count), End::Elements { by } | End::Several { by }) => {
                (at_begin, Cow::Owned(End::Bytes { count: Some(count), by: by.clone() }))
            }
            _ => (state, Cow::Borrowed(end)),
        }
    }
}
