//! An order with its raw figures.

use crate::search::ChangeSize;

/// An order, and the lines that visits touch in it by configuration, of both kinds of visits.
#[derive(Clone, Debug)]
pub(crate) struct OrderEvaluation {
    pub(crate) order: Vec<usize>,
    pub(crate) together: Vec<u64>,
    pub(crate) alone: Vec<u64>,
    pub(crate) sizes: Vec<u64>,
    /// Lines that CPUs lose to each other by configuration, in lines touched by visits of both kinds.
    pub(crate) lost_together: Vec<u64>,
    pub(crate) lost_alone: Vec<u64>,
    /// Weighted pairs of adjacent lines that they lose to each other.
    pub(crate) lost_pairs: u64,
    /// Lines that visits touch by configuration, each visit as often as it misses; empty where that isn't known.
    pub(crate) missing: Vec<u64>,
    /// Its size for a reviewer.
    pub(crate) size: ChangeSize,
    pub(crate) cost: u64,
}

impl OrderEvaluation {
    /// Whether in no configuration visits fetch more lines, to touch them or because another CPU took them, and
    /// no build takes more room.
    pub(crate) fn is_no_worse_than(&self, other: &Self) -> bool {
        let fetched = |order: &Self| {
            let together = order.together.iter().zip(&order.lost_together);
            let both = together.chain(order.alone.iter().zip(&order.lost_alone));
            both.map(|(touched, lost)| touched.saturating_add(*lost)).collect::<Vec<u64>>()
        };
        let (this, before) = (fetched(self), fetched(other));
        this.iter().zip(&before).chain(self.sizes.iter().zip(&other.sizes)).all(|(this, other)| this <= other)
    }

    /// Lines that CPUs lose to each other in the first configuration.
    pub(crate) fn lost(&self) -> u64 {
        self.lost_together.first().copied().unwrap_or(0)
    }
}
