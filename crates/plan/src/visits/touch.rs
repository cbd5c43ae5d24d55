//! How often a function touches each cell of a struct when it runs.
//!
//! A sample says that an instruction ran and what it touched. The hottest instruction of a function that touches the
//! struct stands for one run on one object; an instruction sampled half as often runs in half of the runs.

use crate::visits::{Cells, Names, WindowWord};
use fieldline_access::access::Access;
use std::collections::BTreeMap;

/// Deviations of a sample count that chance explains.
const DEVIATIONS: f64 = 2.0;
/// Rounds after which the most frequent instructions are found; each drops the level by less.
const ROUNDS: usize = 4;

/// How one function touches one struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touch {
    /// The function's rank by name, see [`Names`].
    pub function: u32,
    /// The words its samples have in windows.
    pub words: Vec<WindowWord>,
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

/// The touches of a struct, by functions' names; `words` are those of functions in windows. Accesses come in any order.
pub fn touches(
    accesses: &[Access],
    words: &BTreeMap<u32, Vec<WindowWord>>,
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

fn touch(function: u32, words: Vec<WindowWord>, accesses: &[&Access], cells: &Cells) -> Touch {
    let mut by_instruction: BTreeMap<u64, Count> = BTreeMap::new();
    let mut by_cell: BTreeMap<(usize, u64), Count> = BTreeMap::new();
    for access in accesses {
        by_instruction.entry(access.ip).or_default().add(access);
        for cell in cells.touched(access.offset, access.size) {
            by_cell.entry((cell, access.ip)).or_default().add(access);
        }
    }
    let runs = level(&by_instruction.into_values().collect::<Vec<_>>());
    let mut rates: BTreeMap<usize, f64> = BTreeMap::new();
    for ((cell, _), count) in by_cell {
        let rate = rates.entry(cell).or_default();
        // At most always, which is what chance explains: most code runs whenever its function does.
        *rate = rate.max(if count.is_within(runs) { 1.0 } else { count.events / runs });
    }
    let samples = accesses.iter().map(|access| access.samples()).sum();
    Touch { function, words, samples, runs, cells: rates.into_iter().collect() }
}

/// Samples and the events they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    samples: f64,
    events: f64,
}

impl Count {
    fn add(&mut self, access: &Access) {
        self.samples += access.samples() as f64;
        self.events += events(access);
    }

    /// Whether chance alone may have kept it below what happened so often: a count scatters by its root (Poisson).
    fn is_within(self, level: f64) -> bool {
        let expected = level * self.samples / self.events;
        self.samples >= expected - DEVIATIONS * expected.sqrt()
    }
}

/// How often the most frequent happen, in events. Equals scatter, so all that chance explains are averaged.
fn level(counts: &[Count]) -> f64 {
    let mut level = counts.iter().map(|count| count.events).fold(0.0, f64::max);
    for _ in 0..ROUNDS {
        let alike = counts.iter().filter(|count| count.events > 0.0 && count.is_within(level));
        let (number, sum) = alike.fold((0.0, 0.0), |(number, sum), count| (number + 1.0, sum + count.events));
        level = if number > 0.0 { sum / number } else { level };
    }
    level
}
