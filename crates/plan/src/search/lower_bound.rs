//! A lower bound of the cost of all orders.
//!
//! An order on true offsets is relaxed to chunks on lines: a chunk is as much of a unit as its alignment
//! keeps on one line at any offset. Chunks keep their bytes, touched or not, so what shares a line with them
//! must fit beside them. Each configuration is bounded for itself, by the best of:
//!
//! * volume: the bytes a visit touches, rounded up to lines.
//! * shares: a line's cost for a visit is split among the bytes that the visit touches on it. A chunk pays
//!   least on the line that suits it best, alone of all chunks; what all pay on their best lines is a bound.
//!   That line is relaxed to a fraction of each chunk, which makes the share convex; its tangents are bounds
//!   (Frank and Wolfe, 1956).
//! * branch and bound over which line each chunk is on, for as long as its budget lasts (`branch`).

use super::chunks::{Chunks, split_visits};
use crate::cost::adjacency::GUARD;
use crate::cost::{OrderState, Problem};
use crate::search::branch::{self, BranchProblem};
use std::collections::BTreeSet;

/// Iterations that tighten a chunk's share. More than these gain less than a thousandth.
const ITERATIONS: usize = 8;
/// Steps of visits that tightening may take in one configuration; structs of very many touched members get
/// fewer iterations.
const SHARE_STEPS: usize = 16_000_000;
/// Rounding error of floating-point sums, as a share.
const ROUNDING: f64 = 1e-9;

/// A lower bound of the cost of all orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LowerBound {
    /// Lines that all visits touch together, by configuration.
    pub touched: Vec<u64>,
    /// Cost.
    pub cost: u64,
}

/// Share of a cost above its bound, to four digits, rounded up.
pub fn gap(cost: u64, bound: u64) -> f64 {
    let above = u128::from(cost.saturating_sub(bound)) * 10_000;
    above.div_ceil(u128::from(cost.max(1))) as f64 / 10_000.0
}

/// Bounds the cost of all orders. A good order known beforehand makes it faster, not different.
pub fn lower_bound(problem: &Problem<'_>, known: Option<&[usize]>) -> LowerBound {
    let known = known.map(|order| OrderState::evaluate(problem, order).touched_lines());
    let configs: Vec<(usize, Chunks)> =
        problem.configs.iter().map(|config| split_visits(problem, config)).enumerate().collect();
    let bounds = fieldline_parallel::map(&configs, |(index, chunks)| {
        let known = known.as_ref().and_then(|known| known.get(*index)).copied();
        bound_touched_lines(chunks, known.unwrap_or(u64::MAX))
    });
    let lines = problem.configs.iter().zip(&bounds).map(|(config, bound)| config.weight * bound);
    let cost = lines.sum::<u64>() + least_size_and_guards(problem);
    LowerBound { touched: bounds, cost }
}

/// Lines that visits touch at least. `known` is what they touch in some order.
pub fn bound_touched_lines(chunks: &Chunks, known: u64) -> u64 {
    let simple = volume_bound(chunks).max(share_bound(chunks));
    if simple >= known {
        return simple.min(known);
    }
    simple.max(branch::branch_and_bound(&BranchProblem::new(chunks), known))
}

/// Each visit's bits, rounded up to lines.
fn volume_bound(chunks: &Chunks) -> u64 {
    let visits = chunks.visits.iter().map(|(set, weight)| {
        let bits: u64 = set.iter().filter_map(|at| chunks.chunks.get(*at)).map(|chunk| chunk.bits).sum();
        bits.div_ceil(chunks.line_size.max(1)).max(1) * weight
    });
    visits.sum()
}

/// The least that all chunks pay, each on its best line.
fn share_bound(chunks: &Chunks) -> u64 {
    let mut visits_of = vec![Vec::new(); chunks.chunks.len()];
    for (visit, (set, _)) in chunks.visits.iter().enumerate() {
        set.iter().for_each(|chunk| visits_of[*chunk].push(visit));
    }
    let steps: usize = chunks.visits.iter().map(|(set, _)| set.len() * set.len()).sum();
    let iterations = (SHARE_STEPS / steps.max(1)).clamp(1, ITERATIONS);
    let least = (0..chunks.chunks.len())
        .map(|index| BestLine::new(chunks, index, &visits_of[index]).least_share(iterations));
    (least.sum::<f64>() * (1.0 - ROUNDING)).max(0.0) as u64
}

/// A line that suits one chunk best.
struct BestLine<'c> {
    chunks: &'c Chunks,
    index: usize,
    visits: Vec<LineVisit>,
    /// Chunks that these touch, those of one visit behind those of another.
    touched: Vec<u32>,
    /// By chunk, the gain of a bit of it on the line.
    gains: Vec<f64>,
    /// By chunk, bits of it on the line that minimises the tangent.
    chosen: Vec<f64>,
}

struct LineVisit {
    /// Where its chunks end in [`BestLine::touched`].
    end: usize,
    weight: f64,
    /// Bits that it touches on the line.
    bits: f64,
}

impl<'c> BestLine<'c> {
    fn new(chunks: &'c Chunks, index: usize, visits: &[usize]) -> Self {
        let bits = line_bits(chunks, index).max(1.0);
        let mut touched = Vec::new();
        let visits = visits.iter().filter_map(|visit| chunks.visits.get(*visit)).map(|(set, weight)| {
            touched.extend(set.iter().map(|chunk| *chunk as u32));
            LineVisit { end: touched.len(), weight: *weight as f64, bits }
        });
        Self {
            visits: visits.collect(),
            chunks,
            index,
            touched,
            gains: vec![0.0; chunks.chunks.len()],
            chosen: vec![0.0; chunks.chunks.len()],
        }
    }

    /// The least that the chunk pays on any line: its bits times the sum over its visits of weight / bits
    /// they touch.
    fn least_share(mut self, iterations: usize) -> f64 {
        let own = self.chunks.chunks.get(self.index).map_or(0, |chunk| chunk.bits) as f64;
        if own <= 0.0 || self.visits.is_empty() {
            return 0.0;
        }
        let mut best = 0.0_f64;
        for iteration in 0..iterations {
            self.choose();
            let mut tangent = 0.0;
            let step = 2.0 / (iteration as f64 + 2.0);
            let mut first = 0;
            for visit in &mut self.visits {
                let set = &self.touched[first..visit.end];
                first = visit.end;
                let there: f64 = set.iter().map(|chunk| self.chosen[*chunk as usize]).sum();
                // 1/b is convex: it lies above its tangent at `at`.
                let at = visit.bits;
                tangent += visit.weight * (2.0 / at - there / (at * at));
                visit.bits = at + step * (there - at);
            }
            best = best.max(tangent);
        }
        own * best
    }

    /// Fills the line that minimises the tangent: chunks that gain most first, until it is full.
    fn choose(&mut self) {
        self.gains.fill(0.0);
        self.chosen.fill(0.0);
        let mut first = 0;
        for visit in &self.visits {
            let gain = visit.weight / (visit.bits * visit.bits);
            for chunk in &self.touched[first..visit.end] {
                self.gains[*chunk as usize] += gain;
            }
            first = visit.end;
        }
        let own = line_bits(self.chunks, self.index);
        let mut room = self.chunks.line_size as f64 - own;
        self.chosen[self.index] = own;
        let mut others: Vec<usize> =
            (0..self.gains.len()).filter(|chunk| *chunk != self.index && self.gains[*chunk] > 0.0).collect();
        others.sort_by(|this, other| self.gains[*other].total_cmp(&self.gains[*this]).then(this.cmp(other)));
        for chunk in others {
            let taken = line_bits(self.chunks, chunk).min(room);
            if taken <= 0.0 {
                break;
            }
            self.chosen[chunk] = taken;
            room -= taken;
        }
    }
}

/// Bits of a chunk that one line can hold.
fn line_bits(chunks: &Chunks, index: usize) -> f64 {
    chunks.chunks.get(index).map_or(0, |chunk| chunk.bits.min(chunks.line_size)) as f64
}

/// The cost of sizes without padding, and of `#if` conditions: each but the first is entered from another
/// one.
fn least_size_and_guards(problem: &Problem<'_>) -> u64 {
    let sizes = problem.builds.iter().map(|build| problem.size_cost(build, build.size(build.all_bits())));
    let guards: BTreeSet<Option<u32>> = problem.constraints.units.iter().map(|unit| unit.guard).collect();
    sizes.sum::<u64>() + problem.adjacency.weight(GUARD) * (guards.len() as u64).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::chunks::Chunk;

    fn chunks(sizes: &[u64], visits: &[(&[usize], u64)]) -> Chunks {
        Chunks {
            chunks: sizes.iter().map(|size| Chunk { bits: size * 8, line_bits: size * 8 }).collect(),
            visits: visits.iter().map(|(set, weight)| (set.to_vec(), *weight)).collect(),
            line_size: 512,
        }
    }

    #[test]
    fn a_member_that_cannot_share_a_line_with_all_others_pays_for_it() {
        // Nine members of 32 bytes; each visit touches the first and one other. Volume says one line each,
        // but only one other fits beside the first.
        let visits: Vec<Vec<usize>> = (1..9).map(|other| vec![0, other]).collect();
        let visits: Vec<(&[usize], u64)> = visits.iter().map(|set| (set.as_slice(), 1000)).collect();
        let chunks = chunks(&[32; 9], &visits);
        assert_eq!(volume_bound(&chunks), 8_000);
        assert!(share_bound(&chunks) > 10_000, "{}", share_bound(&chunks));
        assert_eq!(bound_touched_lines(&chunks, u64::MAX), 15_000);
    }

    #[test]
    fn gaps_are_rounded_up() {
        assert_eq!((gap(1_000_000, 1_000_000), gap(1_000_000, 999_999)), (0.0, 0.0001));
        assert_eq!(gap(200, 150), 0.25);
    }
}
