//! Visits as sets of what lies on one line in every order.

use crate::cost::{Problem, View};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that lie on one line in every order, or several such of one unit that the same visits touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Bits of all of it.
    pub bits: u64,
    /// Bits that are sure to be on one line.
    pub piece: u64,
}

/// Visits as sets of chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chunks {
    /// The chunks that are touched.
    pub chunks: Vec<Chunk>,
    /// Sets of them, sorted, with weights; no set twice.
    pub visits: Vec<(Vec<usize>, u64)>,
    /// Bits of a line.
    pub line: u64,
}

pub(super) fn chunks(problem: &Problem<'_>, view: &View) -> Chunks {
    let mut found = Chunks { line: view.line() * 8, ..Chunks::default() };
    let mut of_cell: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for unit in 0..problem.constraints.units.len() {
        for (chunk, cells) in unit_chunks(problem, view, unit) {
            for cell in cells {
                of_cell.entry(cell as usize).or_default().push(found.chunks.len());
            }
            found.chunks.push(chunk);
        }
    }
    let mut visits: BTreeMap<BTreeSet<usize>, u64> = BTreeMap::new();
    for (set, weight) in problem.visits.sets() {
        let chunks: BTreeSet<usize> =
            set.iter().filter_map(|cell| of_cell.get(cell)).flatten().copied().collect();
        if !chunks.is_empty() {
            *visits.entry(chunks).or_default() += weight;
        }
    }
    found.visits = visits.into_iter().map(|(set, weight)| (set.into_iter().collect(), weight)).collect();
    found
}

/// The touched chunks of a unit, with the cells on each.
fn unit_chunks(problem: &Problem<'_>, view: &View, unit: usize) -> Vec<(Chunk, BTreeSet<u32>)> {
    let parts = &problem.parts_in[view.build][unit];
    let Some(build) = problem.builds.get(view.build).filter(|_| !parts.is_empty()) else {
        return Vec::new();
    };
    let bits = build.bits(unit);
    let Some(granule) = build.granule(unit) else {
        // Where members begin in the unit depends on its place; only that they don't overlap is sure.
        let part = |start: u64, end: u64| end.min(bits).saturating_sub(start.min(bits));
        let chunk = |start, end| Chunk { bits: part(start, end), piece: part(start, end).min(8) };
        return parts.iter().map(|of| (chunk(of.start, of.end), BTreeSet::from([of.cell]))).collect();
    };
    let granule = view.granule(granule);
    let mut by_granule: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.end > part.start) {
        for number in part.start / granule..=(part.end - 1) / granule {
            by_granule.entry(number).or_default().insert(part.cell);
        }
    }
    let mut chunks: Vec<(Chunk, BTreeSet<u32>)> = Vec::new();
    for (number, cells) in by_granule {
        let held = granule.min(bits.saturating_sub(number * granule));
        match chunks.last_mut().filter(|(_, last)| *last == cells) {
            Some((chunk, _)) => chunk.bits += held,
            None => chunks.push((Chunk { bits: held, piece: held }, cells)),
        }
    }
    chunks
}
