//! How CPUs take lines from each other.
//!
//! CPU `k` touches a line at rate `r` and the others write it at rate `v`. If both streams are independent, `k` finds
//! the line written by another `r·v / (r + v)` times: the rate at which runs of its accesses begin behind a foreign
//! write. The sum over CPUs, less what each cell would cost on a line of its own, is what sharing the line adds. It
//! is scaled by how often CPUs really work on one object, which hits on modified lines tell.

use crate::cells::Cells;
use fieldline_layout::access::{Access, CpuAccess};
use std::collections::{BTreeMap, BTreeSet};

/// Accesses of one CPU to one cell, in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rate {
    loads: f64,
    stores: f64,
}

/// Rates by cell and CPU, and what a lost line costs.
#[derive(Clone, Debug, Default)]
pub struct Sharing {
    rates: Vec<Vec<Rate>>,
    floors: Vec<f64>,
    scale: f64,
}

impl Sharing {
    /// No sharing at all.
    pub fn none() -> Self {
        Self::default()
    }

    /// Rates of the cells from accesses by CPU. One lost line costs `unit`, times the share of alternations that
    /// `accesses` show as hits on modified lines in the declared layout, of which `lines` names the cells line by line.
    pub fn new(
        cells: &Cells,
        by_cpu: &[CpuAccess],
        accesses: &[&Access],
        lines: &[Vec<u32>],
        unit: f64,
    ) -> Self {
        let cpus: BTreeSet<u32> = by_cpu.iter().map(|access| access.cpu).collect();
        let number: BTreeMap<u32, usize> = cpus.into_iter().zip(0..).collect();
        let mut rates = vec![vec![Rate::default(); number.len()]; cells.len()];
        for access in by_cpu {
            let Some(cpu) = number.get(&access.cpu) else { continue };
            for cell in cells.touched(access.offset, 1) {
                rates[cell][*cpu].loads += access.loads as f64;
                rates[cell][*cpu].stores += access.stores as f64;
            }
        }
        let floors = rates.iter().map(|rates| losses(rates, true)).collect();
        let mut sharing = Self { rates, floors, scale: 0.0 };
        sharing.scale = unit * sharing.seen(accesses, lines);
        sharing
    }

    /// Share of the load losses that alternation predicts which samples show, at most 1.
    fn seen(&self, accesses: &[&Access], lines: &[Vec<u32>]) -> f64 {
        let modified = accesses.iter().filter_map(|access| access.levels.get("HITM"));
        let modified: u64 = modified.sum();
        let predicted: f64 = lines.iter().map(|cells| losses(&self.sum(cells), false)).sum();
        if predicted > 0.0 { (modified as f64 / predicted).min(1.0) } else { 0.0 }
    }

    fn sum(&self, cells: &[u32]) -> Vec<Rate> {
        let cpus = self.rates.first().map_or(0, Vec::len);
        let mut sum = vec![Rate::default(); cpus];
        for cell in cells {
            for (sum, rate) in sum.iter_mut().zip(&self.rates[*cell as usize]) {
                sum.loads += rate.loads;
                sum.stores += rate.stores;
            }
        }
        sum
    }

    /// Cost of the lines lost because these cells share one.
    pub fn excess(&self, cells: &[u32]) -> u64 {
        if self.scale <= 0.0 || cells.len() < 2 {
            return 0;
        }
        let floor: f64 = cells.iter().map(|cell| self.floors[*cell as usize]).sum();
        let excess = (losses(&self.sum(cells), true) - floor).max(0.0);
        (excess * self.scale) as u64
    }
}

/// How often any CPU finds the line written by another: of its loads, or of all its accesses.
fn losses(rates: &[Rate], with_stores: bool) -> f64 {
    let written: f64 = rates.iter().map(|rate| rate.stores).sum();
    let losses = rates.iter().map(|rate| {
        let own = rate.loads + if with_stores { rate.stores } else { 0.0 };
        let foreign = written - rate.stores;
        if own > 0.0 && foreign > 0.0 { own * foreign / (own + foreign) } else { 0.0 }
    });
    losses.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(rates: &[(f64, f64)]) -> Vec<Rate> {
        rates.iter().map(|(loads, stores)| Rate { loads: *loads, stores: *stores }).collect()
    }

    fn sharing(cells: Vec<Vec<Rate>>) -> Sharing {
        Sharing { floors: cells.iter().map(|rates| losses(rates, true)).collect(), rates: cells, scale: 1.0 }
    }

    #[test]
    fn a_line_that_one_cpu_touches_is_never_lost() {
        assert_eq!(losses(&rates(&[(50.0, 70.0), (0.0, 0.0)]), true), 0.0);
    }

    #[test]
    fn reading_next_to_a_foreign_writer_costs_and_reading_next_to_readers_does_not() {
        let reader = rates(&[(40.0, 0.0), (40.0, 0.0)]);
        let writer = rates(&[(0.0, 0.0), (0.0, 40.0)]);
        let shared = sharing(vec![reader.clone(), writer, reader]);
        assert_eq!(shared.excess(&[0, 1]), 20);
        assert_eq!(shared.excess(&[0, 2]), 0);
        assert_eq!(shared.excess(&[1]), 0);
    }

    #[test]
    fn what_is_written_by_all_anyway_is_true_sharing() {
        let both = rates(&[(0.0, 30.0), (0.0, 30.0)]);
        let shared = sharing(vec![both.clone(), both]);
        // Together each CPU alternates twice as often as with one cell, as often as with both apart.
        assert_eq!(shared.excess(&[0, 1]), 0);
    }
}
