//! Notes made while addresses are followed, to be judged where all are known.

use super::compared::Comparisons;
use super::counterparts::Pairs;
use super::facts::{CodePlace, End, State};
use super::judge::Address;
use super::merged::Merged;

/// Comparisons, and records that are taken for one another.
#[derive(Debug, Default)]
pub(crate) struct Noted<'f> {
    pub(crate) compared: Comparisons<'f>,
    pub(crate) pairs: Pairs,
}

impl<'f> Noted<'f> {
    pub(crate) fn add(
        &mut self,
        merged: &Merged,
        (address, state): (Address, State),
        (unit, end, is_explained): (usize, &End, bool),
        at: &'f CodePlace,
    ) {
        self.compared.add(merged, address, state, end, at);
        self.pairs.add(merged, address, state, (unit, end), is_explained);
    }

    /// Adds what was noted elsewhere.
    pub(crate) fn add_all(&mut self, other: Self) {
        self.compared.add_all(other.compared);
        self.pairs.add_all(other.pairs);
    }
}
