//! What an order costs: weighted distinct cachelines per visit, over all views of the struct.
//!
//! A view is a line size, a build (what the compiler was told the line size is) and a phase (where objects begin
//! within a line). Costs are integers, so that sums don't depend on their order.

use crate::cost::counter::Counter;
use crate::cost::neighbours::Neighbours;
use crate::cost::view::{Part, Whole};
use crate::cost::wish::Terms;
use crate::cost::{BuildSlots, Sharing, View};
use crate::random::Random;
use crate::visits::{Cells, Visits};
use fieldline_layout::abi::Slot;
use fieldline_layout::constraint::Constraints;

/// Cost of a line of struct size, as a share of a line in every visit: of nearly equal structs the smaller is better.
const SIZE_SHARE: u64 = 200;
/// Cost of a line above the size limit, likewise. No result exceeds it, but a way to one may.
const OVER_SHARE: u64 = 8;
/// Everything that doesn't change during a search.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// Limits.
    pub constraints: &'a Constraints,
    /// Compilers' views of the units.
    pub builds: Vec<BuildSlots>,
    /// What is counted.
    pub views: Vec<View>,
    /// Visits.
    pub visits: &'a Visits,
    /// How CPUs take lines from each other.
    pub sharing: &'a Sharing,
    /// Cost of one line more touched in every visit, in all views.
    pub scale: u64,
    /// What may stand next to what.
    pub(crate) neighbours: Neighbours<'a>,
    /// Units that must keep an offset, with that offset in bytes.
    pub(crate) kept: Vec<(usize, u64)>,
    counter: Counter,
    terms: Terms,
    /// By build and unit.
    pub(crate) parts_in: Vec<Vec<Vec<Part>>>,
    pub(crate) wholes: Vec<Vec<Whole>>,
}

impl<'a> Problem<'a> {
    /// A problem.
    pub fn new(
        constraints: &'a Constraints,
        cells: &Cells,
        visits: &'a Visits,
        sharing: &'a Sharing,
        builds: Vec<BuildSlots>,
        views: Vec<View>,
    ) -> Self {
        let mut parts = vec![vec![Vec::new(); constraints.units.len()]; builds.len()];
        let mut random = Random::new(cells.len() as u64);
        let counter = Counter::new(visits);
        let touched = (0..).zip(cells.iter()).filter(|(number, _)| counter.is_touched(*number as usize));
        for (number, cell) in touched {
            let key = random.bits();
            for (build, parts) in builds.iter().zip(&mut parts) {
                let bits = build.cell_bits(number as usize, cell);
                parts[cell.unit].extend(bits.map(|(start, end)| Part { cell: number, start, end, key }));
            }
        }
        let mut wished = vec![Vec::new(); constraints.units.len()];
        let terms = Terms::new(constraints, cells.len(), visits.total(), &mut wished, &mut random);
        for parts in builds.iter().zip(&mut parts).filter(|(build, _)| build.is_recorded()).map(|of| of.1) {
            for (parts, wished) in parts.iter_mut().zip(&wished) {
                parts.extend_from_slice(wished);
            }
        }
        let units = constraints.units.iter().enumerate();
        let kept = units.filter_map(|(index, unit)| Some((index, unit.kept_offset()?))).collect();
        let scale = visits.total().saturating_mul(views.iter().map(|view| view.weight).sum());
        Self {
            constraints,
            builds,
            views,
            visits,
            sharing,
            scale,
            neighbours: Neighbours::new(constraints, scale),
            kept,
            counter,
            terms,
            wholes: parts.iter().map(|units| units.iter().map(|parts| Whole::new(parts)).collect()).collect(),
            parts_in: parts,
        }
    }

    /// What a line with these cells costs in a view of weight 1.
    pub(crate) fn line_cost(&self, cells: &[u32]) -> u64 {
        let visited = self.terms.visited(cells);
        self.counter.touching(&visited) + self.sharing.excess(&visited) + self.terms.cost(cells)
    }

    pub(crate) fn touching(&self, cells: &[u32]) -> u64 {
        self.counter.touching(&self.terms.visited(cells))
    }

    /// Cost of what CPUs lose to each other because these cells share a line.
    pub(crate) fn excess(&self, cells: &[u32]) -> u64 {
        self.sharing.excess(&self.terms.visited(cells))
    }

    /// The touched parts of a unit in the first build.
    #[inline]
    pub(crate) fn parts(&self, unit: usize) -> &[Part] {
        self.parts_in.first().map_or(&[], |units| &units[unit])
    }

    /// Size in bits of a unit's members in the first build.
    pub fn unit_bits(&self, unit: usize) -> u64 {
        self.builds.first().map_or(0, |build| build.bits(unit))
    }

    /// What compilers are asked for a unit, in numbers: units with equal ones can exchange their places.
    pub(crate) fn slots_of(&self, unit: usize) -> Vec<(u64, u64, u64, Option<u64>)> {
        let numbers = |slot: &Slot| (slot.bit_size, slot.align, slot.skip, slot.bit_field_storage);
        // A slot no member has, so that a member that one build lacks isn't taken for one that another lacks.
        let end = || std::iter::once((u64::MAX, 0, 0, None));
        self.builds.iter().flat_map(|build| build.unit_slots(unit).iter().map(numbers).chain(end())).collect()
    }

    /// Alignment in bytes of a unit in the first build.
    pub fn unit_align(&self, unit: usize) -> u64 {
        self.builds.first().map_or(1, |build| build.align_of(unit))
    }

    /// Whether an order keeps the constraints, and leaves all kept units at their offsets.
    pub(crate) fn is_legal(&self, order: &[usize]) -> bool {
        let keeps = |build: &BuildSlots| {
            order.iter().zip(build.spans(order)).all(|(unit, (start, _))| {
                let kept = self.constraints.units[*unit].kept_offset();
                kept.is_none_or(|kept| start / 8 == kept)
            })
        };
        self.constraints.check(order).is_ok() && self.builds.first().is_none_or(keeps)
    }

    pub(crate) fn size_cost(&self, build: &BuildSlots, size: u64) -> u64 {
        let over = size.saturating_sub(build.size_limit).div_ceil(build.line);
        size.div_ceil(build.line) * (self.scale / SIZE_SHARE) + over * (self.scale / OVER_SHARE)
    }
}
