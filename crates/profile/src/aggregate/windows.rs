//! Samples of one CPU close in time: what was worked on in one go.

use super::blocks::Blocks;
use fieldline_layout::access::Window;
use fieldline_layout::blocks::count_windows_in_block;
use std::collections::{BTreeMap, BTreeSet};

/// Longest window in samples. Operations rarely fill more, and idle loops would.
const MAX_SAMPLES: usize = 8;

/// Gap that ends a window, in multiples of the median gap between samples of one CPU.
const GAP_IN_MEDIANS: u64 = 3;

/// One sample: when, where, and its word (type or -1, function).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// CPU.
    pub cpu: u32,
    /// Time in nanoseconds.
    pub time: u64,
    /// Type or -1, and function.
    pub word: (i32, u32),
    /// Begin and end of its context among all contexts.
    pub context: (usize, usize),
}

/// Cuts the moments into windows; equal ones are counted together. `contexts` are functions that the moments' samples show
/// besides their own; `rename` gives each type its index in the profile. A window belongs to the block it begins in.
#[must_use]
pub fn windows(
    mut moments: Vec<Moment>,
    contexts: &[u32],
    blocks: &Blocks,
    rename: impl Fn(i32) -> i32,
) -> Vec<Window> {
    moments.sort_unstable();
    let longest = GAP_IN_MEDIANS.saturating_mul(median_gap(&moments));
    let mut sums = Sums::new();
    let mut open = Open::default();
    let mut last: Option<Moment> = None;
    for moment in moments {
        let goes_on = last.is_some_and(|last| {
            last.cpu == moment.cpu && moment.time - last.time <= longest && open.samples.len() < MAX_SAMPLES
        });
        if !goes_on {
            std::mem::take(&mut open).close(&mut sums);
            open.block = blocks.at(Some(moment.time));
        }
        open.samples.push((rename(moment.word.0), moment.word.1));
        open.context.extend(contexts.get(moment.context.0..moment.context.1).into_iter().flatten());
        last = Some(moment);
    }
    open.close(&mut sums);
    sums.into_iter().map(|(words, sum)| Window { words, ..sum }).collect()
}

/// Windows by their words.
type Sums = BTreeMap<Vec<(i32, u32)>, Window>;

/// A window that may go on.
#[derive(Debug, Default)]
struct Open {
    samples: Vec<(i32, u32)>,
    context: BTreeSet<u32>,
    block: Option<u32>,
}

impl Open {
    /// Keeps a window that says something: one that holds a struct. What was sampled itself is no context.
    fn close(self, sums: &mut Sums) {
        if self.samples.iter().any(|word| word.0 >= 0) {
            let sampled = |function: &u32| self.samples.iter().any(|word| word.1 == *function);
            let mut words = self.samples.clone();
            words.extend(
                self.context.iter().filter(|function| !sampled(function)).map(|function| (-1, *function)),
            );
            words.sort_unstable();
            let sum = sums.entry(words).or_default();
            sum.count += 1;
            if let Some(block) = self.block {
                count_windows_in_block(&mut sum.blocks, block, 1);
            }
        }
    }
}

/// Median time between consecutive samples of one CPU.
fn median_gap(sorted: &[Moment]) -> u64 {
    let pairs = sorted.windows(2).filter(|pair| pair[0].cpu == pair[1].cpu);
    let mut gaps: Vec<u64> = pairs.map(|pair| pair[1].time - pair[0].time).collect();
    let middle = gaps.len() / 2;
    if gaps.is_empty() {
        return 0;
    }
    *gaps.select_nth_unstable(middle).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(cpu: u32, time: u64, target: i32) -> Moment {
        Moment { cpu, time, word: (target, 0), context: (0, 0) }
    }

    #[test]
    fn a_long_gap_or_another_cpu_begins_a_window() {
        let moments = vec![
            moment(0, 10, 5),
            moment(0, 20, -1),
            moment(0, 30, 5),
            moment(0, 1000, 5),
            moment(1, 1005, 5),
            moment(1, 1015, 5),
        ];
        let found = windows(moments, &[], &Blocks::default(), |target| target);
        let sizes: Vec<(usize, u64)> =
            found.iter().map(|window| (window.words.len(), window.count)).collect();
        assert_eq!(sizes, [(3, 1), (1, 1), (2, 1)]);
    }

    #[test]
    fn the_order_of_samples_does_not_matter() {
        let moments: Vec<Moment> =
            (0..100).map(|at| moment(at % 3, u64::from(at * 7 % 64), (at % 5) as i32)).collect();
        let mut reversed = moments.clone();
        reversed.reverse();
        assert_eq!(
            windows(moments, &[], &Blocks::default(), |target| target),
            windows(reversed, &[], &Blocks::default(), |target| target)
        );
    }

    #[test]
    fn callers_join_a_window_once() {
        let contexts = [7, 8, 7, 0];
        let moments = vec![
            Moment { context: (0, 2), ..moment(0, 10, 5) },
            Moment { context: (2, 4), ..moment(0, 20, 5) },
        ];
        let found = windows(moments, &contexts, &Blocks::default(), |target| target);
        assert_eq!(
            found,
            [Window { words: vec![(-1, 7), (-1, 8), (5, 0), (5, 0)], count: 1, blocks: vec![] }]
        );
    }

    #[test]
    fn no_samples_make_no_windows() {
        assert!(windows(Vec::new(), &[], &Blocks::default(), |target| target).is_empty());
    }
}
