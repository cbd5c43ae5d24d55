//! The size of a change for a reviewer: members that move, preprocessor blocks that are split, families that are parted.

use super::reduce_moves::patience_sort;
use fieldline_layout::constraint::Constraints;

/// Prices, in halves of a moved member. A split block costs an `#ifdef`, an `#endif` and a reader's thought.
const MOVED_PRICE: u64 = 2;
const BLOCK_PRICE: u64 = 6;
const FAMILY_PRICE: u64 = 2;

/// The size of a change against the declared order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangeSize {
    /// Members that move among the others.
    pub moved: usize,
    /// Places where neighbours stand under different `#if` conditions, beyond those of the declared order.
    pub blocks: usize,
    /// Pairs of declared neighbours of one family that are neighbours no more.
    pub parted: usize,
}

impl ChangeSize {
    /// Of an order of units.
    pub fn new(constraints: &Constraints, order: &[usize]) -> Self {
        ChangeMeasure::new(constraints).measure(order)
    }

    /// Price in halves of a moved member.
    pub fn price(self) -> u64 {
        MOVED_PRICE * self.moved as u64 + BLOCK_PRICE * self.blocks as u64 + FAMILY_PRICE * self.parted as u64
    }

    /// Whether no part of it is larger than another's.
    pub fn is_within(self, other: Self) -> bool {
        self.moved <= other.moved && self.blocks <= other.blocks && self.parted <= other.parted
    }
}

/// Measures changes of one struct, without allocations.
#[derive(Clone, Debug)]
pub(super) struct ChangeMeasure {
    /// By unit: its members, the condition around it, and whether the next one is of its family.
    units: Vec<(usize, Option<u32>, bool)>,
    /// Places where neighbours stand under different conditions in the declared order, and pairs of one family.
    declared_blocks: usize,
    families: usize,
    stays: LongestRun,
}

impl ChangeMeasure {
    pub(super) fn new(constraints: &Constraints) -> Self {
        let units = constraints.units.as_slice();
        let is_family =
            |index: usize| units.get(index + 1).is_some_and(|next| next.family == units[index].family);
        let facts = units.iter().enumerate();
        let facts: Vec<_> =
            facts.map(|(index, unit)| (unit.members.len(), unit.guard, is_family(index))).collect();
        Self {
            declared_blocks: units.windows(2).filter(|pair| pair[0].guard != pair[1].guard).count(),
            families: facts.iter().filter(|unit| unit.2).count(),
            units: facts,
            stays: LongestRun::default(),
        }
    }

    pub(super) fn measure(&mut self, order: &[usize]) -> ChangeSize {
        let (mut blocks, mut kept) = (0, 0);
        for pair in order.windows(2) {
            let (this, next) = (self.units[pair[0]], self.units[pair[1]]);
            blocks += usize::from(this.1 != next.1);
            kept += usize::from(this.2 && pair[0] + 1 == pair[1]);
        }
        ChangeSize {
            moved: self.stays.moved_members(order, |unit| self.units[unit].0),
            blocks: blocks.saturating_sub(self.declared_blocks),
            parted: self.families - kept,
        }
    }
}

/// Buffers to find the units that stay: the longest run in declared order, as [`super::moved_units`] finds it.
#[derive(Clone, Debug, Default)]
struct LongestRun {
    tops: Vec<usize>,
    before: Vec<Option<usize>>,
}

impl LongestRun {
    fn moved_members(&mut self, order: &[usize], members: impl Fn(usize) -> usize) -> usize {
        patience_sort(order, &mut self.tops, &mut self.before);
        let stays = std::iter::successors(self.tops.last().copied(), |unit| self.before[*unit]);
        let stay: usize = stays.map(&members).sum();
        order.iter().map(|unit| members(*unit)).sum::<usize>() - stay
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::constraint::{MemberNote, PlacementRequests, constraints};
    use fieldline_layout::testing::numbered;

    #[test]
    fn a_change_is_measured_by_what_moves_is_split_and_parted() {
        let mut layout = numbered("s", &[(8, 8); 5]);
        let names = ["nr_a", "nr_b", "c", "d", "e"];
        layout.members.iter_mut().zip(names).for_each(|(member, name)| member.name = Some(name.to_owned()));
        let note = |guard| MemberNote { guard: Some(guard), ..MemberNote::default() };
        let requests =
            PlacementRequests { notes: [0, 0, 0, 1, 1].map(note).to_vec(), ..PlacementRequests::default() };
        let constraints = constraints(&layout, &requests).unwrap();
        let size = |order: &[usize]| ChangeSize::new(&constraints, order);
        assert_eq!(size(&[0, 1, 2, 3, 4]), ChangeSize::default());
        assert_eq!(size(&[0, 3, 1, 2, 4]), ChangeSize { moved: 1, blocks: 2, parted: 1 });
        assert_eq!(size(&[3, 4, 0, 1, 2]), ChangeSize { moved: 2, blocks: 0, parted: 0 });
        assert!(size(&[3, 4, 0, 1, 2]).price() < size(&[0, 3, 1, 2, 4]).price());
    }
}
