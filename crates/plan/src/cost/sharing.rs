//! How CPUs take lines from each other.
//!
//! CPU `k` touches a line at rate `r` and the others write it at rate `v`. If both streams are independent,
//! `k` finds the line written by another `r·v / (r + v)` times: the rate at which runs of its accesses begin
//! behind a foreign write. The sum over CPUs, less the cost of each range on a line of its own, is the cost
//! of sharing the line. It is scaled by how often CPUs really work on one object, as hits on modified lines
//! show.

use crate::visits::TouchedRanges;
use fieldline_access::access::{Access, CpuAccess, TypeProfile};
use std::collections::{BTreeMap, BTreeSet};

/// CPUs summed at once, so that a processor keeps them in registers.
const LANES: usize = 8;
/// Losses of a touched range alone are kept in steps of this, so that sums don't depend on their order.
const LOSS_STEP: f64 = 1.0 / 1_048_576.0;

/// Accesses of some CPUs to one touched range, in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct CpuRates {
    loads: [f64; LANES],
    stores: [f64; LANES],
}

/// How often samples show that a CPU found a line taken by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampledLosses {
    /// Loads that hit a line which another CPU had modified.
    ModifiedHits(u64),
    /// Turns of CPUs on lines, if samples don't say where accesses were served.
    Turns(u64),
}

impl SampledLosses {
    /// Those of a struct, on lines of `line` bytes: turns, or else the hits of its `accesses`.
    pub fn new(profile: Option<&TypeProfile>, accesses: &[Access], line: u64) -> Self {
        match profile.and_then(|profile| profile.turns_on(line)) {
            Some(turns) => Self::Turns(turns.turns()),
            None => Self::ModifiedHits(accesses.iter().filter_map(|access| access.levels.get("HITM")).sum()),
        }
    }
}

/// Rates by touched range and CPU, and the cost of a lost line. By default nothing is shared.
#[derive(Clone, Debug, Default)]
pub struct LineSharing {
    /// By some CPUs at a time and touched range.
    rates: Vec<CpuRates>,
    /// By touched range, stores of all CPUs.
    written: Vec<f64>,
    /// By range, its losses on a line of its own.
    floors: Vec<f64>,
    scale: f64,
}

/// Nothing shared.
pub(crate) static NO_SHARING: LineSharing =
    LineSharing { rates: Vec::new(), written: Vec::new(), floors: Vec::new(), scale: 0.0 };

impl LineSharing {
    /// Rates of the touched ranges from accesses by CPU. One lost line costs `unit`, times the share of
    /// alternations that samples show as `losses` in the declared layout, of which `lines` names the touched
    /// ranges line by line.
    pub fn new(
        ranges: &TouchedRanges,
        by_cpu: &[CpuAccess],
        losses: SampledLosses,
        lines: &[Vec<u32>],
        unit: f64,
    ) -> Self {
        let cpus: BTreeSet<u32> = by_cpu.iter().map(|access| access.cpu).collect();
        let number: BTreeMap<u32, usize> = cpus.into_iter().zip(0..).collect();
        let mut sharing = Self::zero(ranges.len(), number.len());
        for access in by_cpu {
            let Some(cpu) = number.get(&access.cpu) else { continue };
            for range in ranges.touched(access.offset, 1) {
                sharing.add(range, *cpu, access.loads as f64, access.stores as f64);
            }
        }
        sharing.set_floors();
        sharing.scale = unit * sharing.observed_share(losses, lines);
        sharing
    }

    fn zero(ranges: usize, cpus: usize) -> Self {
        let rates = vec![CpuRates::default(); ranges * cpus.div_ceil(LANES)];
        Self { rates, written: vec![0.0; ranges], floors: vec![0.0; ranges], scale: 0.0 }
    }

    fn add(&mut self, range: usize, cpu: usize, loads: f64, stores: f64) {
        let rates = &mut self.rates[cpu / LANES * self.written.len() + range];
        rates.loads[cpu % LANES] += loads;
        rates.stores[cpu % LANES] += stores;
        self.written[range] += stores;
    }

    fn set_floors(&mut self) {
        let floors = (0..self.written.len() as u32).map(|range| self.losses(&[range], true));
        self.floors = floors.map(|floor| (floor / LOSS_STEP).round() * LOSS_STEP).collect();
    }

    /// Share of the losses that alternation predicts which samples show, at most 1.
    fn observed_share(&self, losses: SampledLosses, lines: &[Vec<u32>]) -> f64 {
        let (observed, with_stores) = match losses {
            SampledLosses::ModifiedHits(loads) => (loads, false),
            SampledLosses::Turns(turns) => (turns, true),
        };
        let predicted: f64 = lines.iter().map(|ranges| self.losses(ranges, with_stores)).sum();
        if predicted > 0.0 { (observed as f64 / predicted).min(1.0) } else { 0.0 }
    }

    /// Cost of the lines lost because these ranges share one.
    pub fn excess(&self, ranges: &[u32]) -> u64 {
        if self.scale <= 0.0 || ranges.len() < 2 {
            return 0;
        }
        let floor: f64 = ranges.iter().map(|range| self.floors[*range as usize]).sum();
        let excess = (self.losses(ranges, true) - floor).max(0.0);
        (excess * self.scale) as u64
    }

    /// How often any CPU finds a line with these touched ranges written by another: of its loads, or of all
    /// its accesses.
    fn losses(&self, ranges: &[u32], with_stores: bool) -> f64 {
        let written: f64 = ranges.iter().map(|range| self.written[*range as usize]).sum();
        let share = if with_stores { 1.0 } else { 0.0 };
        let losses = self.rates.chunks_exact(self.written.len().max(1)).map(|rates| {
            let sum = sum(rates, ranges);
            let losses: [f64; LANES] = std::array::from_fn(|cpu| {
                let own = sum.loads[cpu] + share * sum.stores[cpu];
                let foreign = written - sum.stores[cpu];
                // Where both are 0, so is the product.
                own * foreign / (own + foreign).max(f64::MIN_POSITIVE)
            });
            losses.iter().sum::<f64>()
        });
        losses.sum()
    }
}

/// Rates of several touched ranges together. Counts of samples are whole numbers, so their order doesn't
/// matter.
#[inline]
fn sum(rates: &[CpuRates], ranges: &[u32]) -> CpuRates {
    let mut sum = CpuRates::default();
    for rates in ranges.iter().filter_map(|range| rates.get(*range as usize)) {
        for cpu in 0..LANES {
            sum.loads[cpu] += rates.loads[cpu];
            sum.stores[cpu] += rates.stores[cpu];
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads and stores by touched range and CPU.
    fn sharing(ranges: &[&[(f64, f64)]]) -> LineSharing {
        let cpus = ranges.iter().map(|range| range.len()).max().unwrap_or(0);
        let mut sharing = LineSharing::zero(ranges.len(), cpus);
        for (number, range) in ranges.iter().enumerate() {
            for (cpu, (loads, stores)) in range.iter().enumerate() {
                sharing.add(number, cpu, *loads, *stores);
            }
        }
        sharing.set_floors();
        LineSharing { scale: 1.0, ..sharing }
    }

    #[test]
    fn a_line_that_one_cpu_touches_is_never_lost() {
        assert_eq!(sharing(&[&[(50.0, 70.0), (0.0, 0.0)]]).losses(&[0], true), 0.0);
    }

    #[test]
    fn reading_next_to_a_foreign_writer_costs_and_reading_next_to_readers_does_not() {
        let reader: &[(f64, f64)] = &[(40.0, 0.0), (40.0, 0.0)];
        let shared = sharing(&[reader, &[(0.0, 0.0), (0.0, 40.0)], reader]);
        assert_eq!(shared.excess(&[0, 1]), 20);
        assert_eq!(shared.excess(&[0, 2]), 0);
        assert_eq!(shared.excess(&[1]), 0);
    }

    #[test]
    fn cpus_beyond_the_first_lanes_count_as_well() {
        let mut reader = vec![(0.0, 0.0); 20];
        let mut writer = reader.clone();
        (reader[2], writer[19]) = ((40.0, 0.0), (0.0, 40.0));
        assert_eq!(sharing(&[&reader, &writer]).excess(&[0, 1]), 20);
        (reader[2], reader[19]) = (reader[19], reader[2]);
        assert_eq!(sharing(&[&reader, &writer]).excess(&[0, 1]), 0);
    }

    #[test]
    fn what_is_written_by_all_anyway_is_true_sharing() {
        let both: &[(f64, f64)] = &[(0.0, 30.0), (0.0, 30.0)];
        let shared = sharing(&[both, both]);
        // Together each CPU alternates twice as often as with one range, as often as with both apart.
        assert_eq!(shared.excess(&[0, 1]), 0);
    }
}
