//! The cost function: weighted distinct cachelines per visit, over all configurations.
//!
//! A configuration is a line size, a build (the line size it was compiled for) and a phase (where objects
//! begin within a line). Costs are integers, so that sums don't depend on their order.

use crate::cost::adjacency::AdjacencyCosts;
use crate::cost::configuration::{TouchedBits, TouchedHull};
use crate::cost::counter::VisitCounter;
use crate::cost::line_requests::RequestCosts;
use crate::cost::{BuildPlacement, LineConfig, LineSharing};
use crate::random::Random;
use crate::visits::{TouchedRanges, Visits};
use fieldline_layout::abi::AbiMember;
use fieldline_layout::constraint::Constraints;

/// Cost of a line of struct size, as a share of a line in every visit: of nearly equal structs the smaller is
/// better.
const SIZE_SHARE: u64 = 200;
/// Cost of a line above the size limit, likewise. No result exceeds it, but intermediate orders may.
const OVER_SHARE: u64 = 8;
/// Likewise, in a configuration of which only the size is known. Low, as there are many of these and a search has to
/// pass orders that exceed their limits: it finds smaller changes then (docs/METHOD.md).
const OVER_SHARE_ELSEWHERE: u64 = 100;
/// Everything that doesn't change during a search.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// Limits.
    pub constraints: &'a Constraints,
    /// Placement rules of the units, by build.
    pub builds: Vec<BuildPlacement>,
    /// Configurations by which lines are counted.
    pub configs: Vec<LineConfig>,
    /// Visits.
    pub visits: &'a Visits,
    /// How CPUs take lines from each other.
    pub sharing: &'a LineSharing,
    /// Cost of one line more touched in every visit, in all configurations.
    pub scale: u64,
    /// Which units may be neighbours.
    pub(crate) adjacency: AdjacencyCosts<'a>,
    /// Units that must keep an offset, with that offset in bytes.
    pub(crate) fixed_offsets: Vec<(usize, u64)>,
    counter: VisitCounter,
    requests: RequestCosts,
    /// By build and unit.
    pub(crate) touched_bits: Vec<Vec<Vec<TouchedBits>>>,
    pub(crate) hulls: Vec<Vec<TouchedHull>>,
}

impl<'a> Problem<'a> {
    /// A problem.
    pub fn new(
        constraints: &'a Constraints,
        ranges: &TouchedRanges,
        visits: &'a Visits,
        sharing: &'a LineSharing,
        builds: Vec<BuildPlacement>,
        configs: Vec<LineConfig>,
    ) -> Self {
        let mut touched_bits = vec![vec![Vec::new(); constraints.units.len()]; builds.len()];
        let mut random = Random::new(ranges.len() as u64);
        let counter = VisitCounter::new(visits);
        let touched = (0..).zip(ranges.iter()).filter(|(number, _)| counter.is_touched(*number as usize));
        for (number, range) in touched {
            let key = random.bits();
            for (build, touched_bits) in builds.iter().zip(&mut touched_bits) {
                let bits = build.range_bits(number as usize, range);
                let bits = bits.map(|(start, end)| TouchedBits { range: number, start, end, key });
                touched_bits[range.unit].extend(bits);
            }
        }
        let mut request_bits = vec![Vec::new(); constraints.units.len()];
        let total = visits.total();
        let requests = RequestCosts::new(constraints, ranges.len(), total, &mut request_bits, &mut random);
        for (_, units) in builds.iter().zip(&mut touched_bits).filter(|(build, _)| build.is_recorded()) {
            for (touched_bits, request_bits) in units.iter_mut().zip(&request_bits) {
                touched_bits.extend_from_slice(request_bits);
            }
        }
        let units = constraints.units.iter().enumerate();
        let fixed_offsets = units.filter_map(|(index, unit)| Some((index, unit.kept_offset()?))).collect();
        let hulls = |units: &Vec<Vec<_>>| units.iter().map(|bits| TouchedHull::new(bits)).collect();
        let scale = total.saturating_mul(configs.iter().map(|config| config.weight).sum());
        Self {
            constraints,
            builds,
            configs,
            visits,
            sharing,
            scale,
            adjacency: AdjacencyCosts::new(constraints, scale),
            fixed_offsets,
            counter,
            requests,
            hulls: touched_bits.iter().map(hulls).collect(),
            touched_bits,
        }
    }

    /// The cost of a line with these ranges in a configuration of weight 1.
    pub(crate) fn line_cost(&self, ranges: &[u32]) -> u64 {
        let visited = self.requests.visited_ranges(ranges);
        self.counter.touching_weight(&visited) + self.sharing.excess(&visited) + self.requests.cost(ranges)
    }

    pub(crate) fn touching_weight(&self, ranges: &[u32]) -> u64 {
        self.counter.touching_weight(&self.requests.visited_ranges(ranges))
    }

    /// Cost of the losses between CPUs because these ranges share a line.
    pub(crate) fn sharing_cost(&self, ranges: &[u32]) -> u64 {
        self.sharing.excess(&self.requests.visited_ranges(ranges))
    }

    /// The touched parts of a unit in the first build.
    #[inline]
    pub(crate) fn unit_touched_bits(&self, unit: usize) -> &[TouchedBits] {
        self.touched_bits.first().map_or(&[], |units| &units[unit])
    }

    /// Size in bits of a unit's members in the first build.
    pub fn unit_bits(&self, unit: usize) -> u64 {
        self.builds.first().map_or(0, |build| build.unit_bits(unit))
    }

    /// The placement rules of a unit as a key: units with equal keys can be exchanged where lines are counted.
    pub(crate) fn placement_key(&self, unit: usize) -> Vec<(u64, u64, u64, Option<u64>)> {
        let numbers = |slot: &AbiMember| (slot.bit_size, slot.align, slot.skip, slot.bit_field_storage);
        // A slot no member has, so that a member that one build lacks isn't taken for one that another lacks.
        let end = || std::iter::once((u64::MAX, 0, 0, None));
        let counted = self.builds.iter().filter(|build| !build.is_limit_only);
        counted.flat_map(|build| build.unit_slots(unit).iter().map(numbers).chain(end())).collect()
    }

    /// Alignment in bytes of a unit in the first build.
    pub fn unit_align(&self, unit: usize) -> u64 {
        self.builds.first().map_or(1, |build| build.unit_align(unit))
    }

    /// Whether an order keeps the constraints, and leaves all kept units at their offsets.
    pub(crate) fn is_legal(&self, order: &[usize]) -> bool {
        let keeps = |build: &BuildPlacement| {
            order.iter().zip(build.spans(order)).all(|(unit, (start, _))| {
                let offset = self.constraints.units[*unit].kept_offset();
                offset.is_none_or(|offset| start / 8 == offset)
            })
        };
        self.constraints.check(order).is_ok() && self.builds.first().is_none_or(keeps)
    }

    pub(crate) fn size_cost(&self, build: &BuildPlacement, size: u64) -> u64 {
        let over = size.saturating_sub(build.size_limit).div_ceil(build.line);
        if build.is_limit_only {
            return over * (self.scale / OVER_SHARE_ELSEWHERE);
        }
        size.div_ceil(build.line) * (self.scale / SIZE_SHARE) + over * (self.scale / OVER_SHARE)
    }
}
