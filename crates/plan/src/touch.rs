//! How often a function touches each cell of a struct when it runs.
//!
//! A sample says that an instruction ran and what it touched. The hottest instruction of a function that touches the
//! struct stands for one run on one object; an instruction sampled half as often runs in half of the runs.

use crate::cells::Cells;
use crate::names::{Names, Word};
use fieldline_layout::access::Access;
use std::collections::BTreeMap;

/// How one function touches one struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touch {
    /// The function's rank by name, see [`Names`].
    pub function: u32,
    /// The words its samples have in windows.
    pub words: Vec<Word>,
    /// Samples of the struct in the function.
    pub samples: u64,
    /// Runs of the function on an object, in events.
    pub runs: f64,
    /// Cells with the share of runs that touch them, in order of cells.
    pub cells: Vec<(usize, f64)>,
}

/// Events an access stands for: the sum of its samples' periods, or their number if the recording has none.
pub fn events(access: &Access) -> f64 {
    let period = access.loads.period.saturating_add(access.stores.period);
    if period > 0 { period as f64 } else { access.samples() as f64 }
}

/// The touches of a struct by accesses to it, in order of functions' names. `words` are those of each function in
/// windows. The order of the accesses doesn't matter.
pub fn touches(
    accesses: &[Access],
    words: &BTreeMap<u32, Vec<Word>>,
    cells: &Cells,
    names: &Names,
) -> Vec<Touch> {
    let mut by_function: BTreeMap<u32, Vec<&Access>> = BTreeMap::new();
    for access in accesses {
        by_function.entry(access.function).or_default().push(access);
    }
    let touches = by_function.into_iter().map(|(function, accesses)| {
        let words = words.get(&function).cloned().unwrap_or_default();
        touch(names.word((-1, function)).1, words, &accesses, cells)
    });
    let mut touches: Vec<Touch> =
        touches.filter(|touch| touch.runs > 0.0 && !touch.cells.is_empty()).collect();
    touches.sort_by_key(|touch| touch.function);
    touches
}

fn touch(function: u32, words: Vec<Word>, accesses: &[&Access], cells: &Cells) -> Touch {
    let mut by_instruction: BTreeMap<u64, f64> = BTreeMap::new();
    let mut by_cell: BTreeMap<(usize, u64), f64> = BTreeMap::new();
    for access in accesses {
        let events = events(access);
        *by_instruction.entry(access.ip).or_default() += events;
        for cell in cells.touched(access.offset, access.size) {
            *by_cell.entry((cell, access.ip)).or_default() += events;
        }
    }
    let samples = accesses.iter().map(|access| access.samples()).sum();
    let runs = by_instruction.values().copied().fold(0.0, f64::max);
    let mut rates: BTreeMap<usize, f64> = BTreeMap::new();
    for ((cell, _), events) in by_cell {
        let rate = rates.entry(cell).or_default();
        *rate = rate.max(events / runs);
    }
    Touch { function, words, samples, runs, cells: rates.into_iter().collect() }
}
