//! Visits as sets of chunks: bytes that lie on one line in every order.

use crate::cost::{LineConfig, Problem};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that lie on one line in every order, or several such of one unit that the same visits touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Bits of all of it.
    pub bits: u64,
    /// Bits that are sure to be on one line.
    pub line_bits: u64,
}

/// Visits as sets of chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunks {
    /// The chunks that are touched.
    pub chunks: Vec<Chunk>,
    /// Sets of them, sorted, with weights; no set twice.
    pub visits: Vec<(Vec<usize>, u64)>,
    /// Bits of a line.
    pub line_size: u64,
}

pub(super) fn split_visits(problem: &Problem<'_>, config: &LineConfig) -> Chunks {
    let mut found = Chunks { line_size: config.line() * 8, ..Chunks::default() };
    let mut chunks_of_range: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for unit in 0..problem.constraints.units.len() {
        for (chunk, ranges) in unit_chunks(problem, config, unit) {
            for range in ranges {
                chunks_of_range.entry(range as usize).or_default().push(found.chunks.len());
            }
            found.chunks.push(chunk);
        }
    }
    let mut visits: BTreeMap<BTreeSet<usize>, u64> = BTreeMap::new();
    for (set, weight) in problem.visits.sets() {
        let chunks: BTreeSet<usize> =
            set.iter().filter_map(|range| chunks_of_range.get(range)).flatten().copied().collect();
        if !chunks.is_empty() {
            *visits.entry(chunks).or_default() += weight;
        }
    }
    found.visits = visits.into_iter().map(|(set, weight)| (set.into_iter().collect(), weight)).collect();
    found
}

/// The touched chunks of a unit, with the touched ranges on each.
fn unit_chunks(problem: &Problem<'_>, config: &LineConfig, unit: usize) -> Vec<(Chunk, BTreeSet<u32>)> {
    let touched_bits = &problem.touched_bits[config.build][unit];
    let Some(build) = problem.builds.get(config.build).filter(|_| !touched_bits.is_empty()) else {
        return Vec::new();
    };
    let bits = build.unit_bits(unit);
    let Some(granule) = build.granule(unit) else {
        // Where members begin in the unit depends on its offset; only that they don't overlap is sure.
        let clamp_bits = |start: u64, end: u64| end.min(bits).saturating_sub(start.min(bits));
        let chunk =
            |start, end| Chunk { bits: clamp_bits(start, end), line_bits: clamp_bits(start, end).min(8) };
        return touched_bits
            .iter()
            .map(|touch| (chunk(touch.start, touch.end), BTreeSet::from([touch.range])))
            .collect();
    };
    let granule = config.line_granule(granule);
    let mut by_granule: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for touch in touched_bits.iter().filter(|touch| touch.end > touch.start) {
        for number in touch.start / granule..=(touch.end - 1) / granule {
            by_granule.entry(number).or_default().insert(touch.range);
        }
    }
    let mut chunks: Vec<(Chunk, BTreeSet<u32>)> = Vec::new();
    for (number, ranges) in by_granule {
        let held = granule.min(bits.saturating_sub(number * granule));
        match chunks.last_mut().filter(|(_, last)| *last == ranges) {
            Some((chunk, _)) => chunk.bits += held,
            None => chunks.push((Chunk { bits: held, line_bits: held }, ranges)),
        }
    }
    chunks
}
