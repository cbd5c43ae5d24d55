//! How often a function touches each range of a struct when it runs.
//!
//! The hottest instruction of a function that touches the struct stands for one run on one object; an
//! instruction sampled half as often runs in half of the runs. One that touches many ranges (a copy, a walk over an
//! array) counts by the range it touches most: it touches all of them in a run.

use crate::visits::{NameRanks, TouchedRanges, WindowEntry};
use fieldline_access::access::Access;
use std::collections::BTreeMap;

/// Standard deviations within which a sample count is not significant.
const DEVIATIONS: f64 = 2.0;
/// Levels of a CPU's own caches, and what is no level but said beside one.
const NEAR_LEVELS: [&str; 7] = ["L1", "LFB", "L2", "L2 MHB", "n/a", "HITM", "TAKEN"];
/// Iterations after which the level has converged.
const ITERATIONS: usize = 4;

/// How one function touches one struct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FunctionTouch {
    /// The function's rank by name, see [`NameRanks`].
    pub function: u32,
    /// The entries its samples have in windows.
    pub entries: Vec<WindowEntry>,
    /// Samples of the struct in the function.
    pub samples: u64,
    /// Those that were served beyond the CPU's own caches.
    pub far: u64,
    /// Runs of the function on an object, in events.
    pub runs: f64,
    /// Ranges with the share of runs that touch them, in order of touched ranges.
    pub ranges: Vec<(usize, f64)>,
}

/// Events an access stands for: the sum of its samples' periods, or their number if the recording has none.
pub fn events(access: &Access) -> f64 {
    let period = access.loads.period.saturating_add(access.stores.period);
    if period > 0 { period as f64 } else { access.samples() as f64 }
}

/// The touches of a struct, by functions' names; `entries` are those of functions in windows. Accesses
/// come in any order.
pub fn collect_touches(
    accesses: &[Access],
    entries: &BTreeMap<u32, Vec<WindowEntry>>,
    ranges: &TouchedRanges,
    names: &NameRanks,
) -> Vec<FunctionTouch> {
    let mut by_function: BTreeMap<u32, Vec<&Access>> = BTreeMap::new();
    for access in accesses {
        by_function.entry(access.function).or_default().push(access);
    }
    let touches = by_function.into_iter().map(|(function, accesses)| {
        let entries = entries.get(&function).cloned().unwrap_or_default();
        build_touch(names.rank_entry((-1, function)).1, entries, &accesses, ranges)
    });
    let mut touches: Vec<FunctionTouch> =
        touches.filter(|touch| touch.runs > 0.0 && !touch.ranges.is_empty()).collect();
    touches.sort_by_key(|touch| touch.function);
    touches
}

fn build_touch(
    function: u32,
    entries: Vec<WindowEntry>,
    accesses: &[&Access],
    ranges: &TouchedRanges,
) -> FunctionTouch {
    let mut by_cell: BTreeMap<(usize, u64), EventCount> = BTreeMap::new();
    for access in accesses {
        for range in ranges.touched(access.offset, access.size) {
            by_cell.entry((range, access.ip)).or_default().add(access);
        }
    }
    let runs = peak_events(&by_cell.values().copied().collect::<Vec<_>>());
    let mut rates: BTreeMap<usize, f64> = BTreeMap::new();
    for ((range, _), count) in by_cell {
        let rate = rates.entry(range).or_default();
        // Rates not significantly below 1 become 1: most code runs whenever its function does.
        *rate = rate.max(if count.is_within(runs) { 1.0 } else { count.events / runs });
    }
    let samples = accesses.iter().map(|access| access.samples()).sum();
    let far = accesses.iter().map(|access| far_samples(access)).sum();
    FunctionTouch { function, entries, samples, far, runs, ranges: rates.into_iter().collect() }
}

/// Samples of an access that were served beyond the CPU's own caches, where the recording has levels.
fn far_samples(access: &Access) -> u64 {
    let levels = access.levels.iter().chain(&access.store_levels);
    levels.filter(|(level, _)| !NEAR_LEVELS.contains(&level.as_str())).map(|(_, samples)| samples).sum()
}

/// Samples and the events they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct EventCount {
    samples: f64,
    events: f64,
}

impl EventCount {
    fn add(&mut self, access: &Access) {
        self.samples += access.samples() as f64;
        self.events += events(access);
    }

    /// Whether the count is within sampling error of `level`: a count scatters by its root (Poisson).
    fn is_within(self, level: f64) -> bool {
        let expected = level * self.samples / self.events;
        self.samples >= expected - DEVIATIONS * expected.sqrt()
    }
}

/// Events of the most frequent counts: the mean of all within sampling error of each other.
fn peak_events(counts: &[EventCount]) -> f64 {
    let mut level = counts.iter().map(|count| count.events).fold(0.0, f64::max);
    for _ in 0..ITERATIONS {
        let comparable = counts.iter().filter(|count| count.events > 0.0 && count.is_within(level));
        let (number, sum) = comparable.fold((0.0, 0.0), |sums, count| (sums.0 + 1.0, sums.1 + count.events));
        level = if number > 0.0 { sum / number } else { level };
    }
    level
}
