//! An address at a place.

use super::super::facts::{End, State};

/// An address at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Visit<'f> {
    pub(super) place: &'f str,
    pub(super) state: State,
    /// Whether it was kept in a member or a variable on its way, where others are kept too.
    pub(super) is_kept: bool,
    /// Bytes that the caller says there are.
    pub(super) count: Option<u64>,
}

impl Visit<'_> {
    /// An end, no farther than the caller says.
    pub(super) fn bounded(&self, state: State, end: &End) -> (State, End) {
        match (self.count, end) {
            (Some(count), End::Bytes { count: own, by }) if state.moved.is_none() || own.is_none() => (
                State { moved: Some(0), least: Some(0), ..state },
                End::Bytes { count: Some(count), by: by.clone() },
            ),
            (Some(count), End::Sets { count: own, by, is_fixed })
                if state.moved.is_none() || own.is_none() =>
            {
                let end = End::Sets { count: Some(count), by: by.clone(), is_fixed: *is_fixed };
                (State { moved: Some(0), least: Some(0), ..state }, end)
            }
            _ => (state, end.clone()),
        }
    }
}

/// A length that a caller gives, as far as it is one. One byte is what any text has.
pub(super) fn length(otherwise: &Option<End>) -> Option<u64> {
    match otherwise {
        Some(End::Bytes { count: Some(count), .. }) if *count > 1 => Some(*count),
        _ => None,
    }
}
