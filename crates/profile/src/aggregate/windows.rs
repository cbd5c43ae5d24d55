//! Windows: samples of one CPU, each close in time to the one before.

use super::blocks::TimeBlocks;
use super::finished_rounds::{ByCpu, FinishedRoundQueue, TimeOrdered};
use fieldline_access::access::Window;
use fieldline_access::time_blocks::add_windows_to_block;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Longest window in samples. Operations rarely fill more, and idle loops would.
const MAX_SAMPLES: usize = 8;

/// Gap that ends a window, in multiples of the median gap between samples of one CPU.
const GAP_IN_MEDIANS: u64 = 3;

/// A window entry: type or -1, and function.
pub(crate) type TypeAndFunction = (i32, u32);

/// Time and entry of one sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WindowSample {
    /// Time in nanoseconds.
    pub time: u64,
    /// Index of its entry.
    pub entry: u32,
    /// Context functions of the sample.
    pub context: Option<Box<[u32]>>,
}

impl TimeOrdered for WindowSample {
    fn time_key(&self) -> (u64, u32) {
        (self.time, self.entry)
    }
}

/// Cuts samples into windows as they come; equal windows are counted together. A window belongs to the block
/// it begins in.
#[derive(Debug)]
pub(crate) struct Windows {
    queue: FinishedRoundQueue<WindowSample>,
    builder: WindowBuilder,
}

/// Finished and open windows.
#[derive(Debug)]
struct WindowBuilder {
    max_gap: u64,
    blocks: TimeBlocks,
    /// In order.
    entries: Vec<TypeAndFunction>,
    open: ByCpu<OpenWindow>,
    /// Windows by numbers of their entries, in order; padded with [`NO_ENTRY`].
    sums: FxHashMap<[u32; MAX_SAMPLES], WindowCount>,
    /// Windows of branch stacks, by numbers of their entries.
    complete: FxHashMap<Box<[u32]>, WindowCount>,
    /// Windows with context functions.
    with_context: FxHashMap<Vec<TypeAndFunction>, WindowCount>,
}

const NO_ENTRY: u32 = u32::MAX;

/// Occurrences of a window, in all and by block.
#[derive(Debug, Default)]
struct WindowCount {
    count: u64,
    blocks: Vec<(u32, u64)>,
}

impl WindowCount {
    fn add(&mut self, block: Option<u32>) {
        self.count += 1;
        if let Some(block) = block {
            add_windows_to_block(&mut self.blocks, block, 1);
        }
    }
}

impl Windows {
    /// For a recording with a median gap between samples of one CPU, in nanoseconds. `entries`, in order, are
    /// all that samples have.
    pub(crate) fn new(median_gap: u64, blocks: TimeBlocks, entries: Vec<TypeAndFunction>) -> Self {
        let max_gap = GAP_IN_MEDIANS.saturating_mul(median_gap);
        let (open, sums, complete, with_context) = Default::default();
        let builder = WindowBuilder { max_gap, blocks, entries, open, sums, complete, with_context };
        Self { queue: FinishedRoundQueue::default(), builder }
    }

    #[inline]
    pub(crate) fn push(&mut self, cpu: u32, moment: WindowSample) {
        self.queue.push(cpu, moment);
    }

    /// Adds a complete window: numbers of entries, in order, and context functions.
    pub(crate) fn push_window(&mut self, block: Option<u32>, entries: &[u32], context: &[u32]) {
        let builder = &mut self.builder;
        if !builder.has_struct(entries) {
            return;
        }
        match (context.is_empty(), builder.complete.get_mut(entries)) {
            (true, Some(known)) => known.add(block),
            (true, None) => builder.complete.entry(entries.into()).or_default().add(block),
            (false, _) => builder.keep_with_context(block, entries, &context.iter().copied().collect()),
        }
    }

    /// A round of the recorder is over.
    pub(crate) fn end_round(&mut self) {
        let Self { queue: rounds, builder: cut } = self;
        rounds.end_round(&mut |cpu, moment| cut.add_sample(cpu, &moment));
    }

    /// All windows. `rename` gives each type its index in the profile.
    pub(crate) fn finish(self, rename: impl Fn(i32) -> i32) -> Vec<Window> {
        let Self { queue: rounds, builder: mut cut } = self;
        rounds.finish(&mut |cpu, moment| cut.add_sample(cpu, &moment));
        for (_, open) in std::mem::take(&mut cut.open).iter_mut() {
            cut.close(open);
        }
        let mut sums: BTreeMap<Vec<TypeAndFunction>, Window> = BTreeMap::new();
        let WindowBuilder { entries: all, sums: by_number, complete: whole, with_context, .. } = cut;
        let resolve = |numbers: &[u32]| -> Vec<TypeAndFunction> {
            numbers.iter().filter_map(|number| all.get(*number as usize).copied()).collect()
        };
        let by_number = by_number.into_iter().map(|(numbers, sum)| (resolve(&numbers), sum));
        let complete = whole.into_iter().map(|(numbers, sum)| (resolve(&numbers), sum));
        for (mut entries, sum) in by_number.chain(complete).chain(with_context) {
            entries.iter_mut().for_each(|entry| entry.0 = rename(entry.0));
            entries.sort_unstable();
            let window = sums.entry(entries).or_default();
            window.count += sum.count;
            for (block, count) in sum.blocks {
                add_windows_to_block(&mut window.blocks, block, count);
            }
        }
        sums.into_iter().map(|(entries, sum)| Window { entries, ..sum }).collect()
    }
}

/// An open window.
#[derive(Debug, Default)]
struct OpenWindow {
    /// Numbers of entries, one a sample.
    samples: [u32; MAX_SAMPLES],
    count: usize,
    context: BTreeSet<u32>,
    block: Option<u32>,
    last: u64,
}

impl WindowBuilder {
    #[inline]
    fn add_sample(&mut self, cpu: u32, moment: &WindowSample) {
        let open = self.open.get_or_default(cpu);
        let is_within_gap = moment.time.saturating_sub(open.last) <= self.max_gap;
        if !is_within_gap || open.count >= MAX_SAMPLES {
            let closed = std::mem::take(open);
            self.close(&closed);
        }
        let open = self.open.get_or_default(cpu);
        if open.count == 0 {
            open.block = self.blocks.block_at(Some(moment.time));
        }
        if let Some(place) = open.samples.get_mut(open.count) {
            *place = moment.entry;
            open.count += 1;
        }
        if let Some(context) = &moment.context {
            open.context.extend(context);
        }
        open.last = moment.time;
    }

    /// Keeps a window if it holds a struct. Sampled functions are no context.
    fn close(&mut self, open: &OpenWindow) {
        let mut samples = open.samples;
        samples.iter_mut().skip(open.count).for_each(|place| *place = NO_ENTRY);
        if !self.has_struct(&samples) {
            return;
        }
        samples.sort_unstable();
        match open.context.is_empty() {
            true => self.sums.entry(samples).or_default().add(open.block),
            false => self.keep_with_context(open.block, &samples, &open.context),
        }
    }

    fn has_struct(&self, entries: &[u32]) -> bool {
        entries.iter().any(|number| self.entries.get(*number as usize).is_some_and(|word| word.0 >= 0))
    }

    fn keep_with_context(&mut self, block: Option<u32>, samples: &[u32], context: &BTreeSet<u32>) {
        let sampled = samples.iter().filter_map(|number| self.entries.get(*number as usize).copied());
        let mut entries: Vec<TypeAndFunction> = sampled.collect();
        let sampled: Vec<u32> = entries.iter().map(|entry| entry.1).collect();
        let others = context.iter().filter(|function| !sampled.contains(function));
        entries.extend(others.map(|function| (-1, *function)));
        entries.sort_unstable();
        self.with_context.entry(entries).or_default().add(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::sample_gaps::SampleGaps;

    /// Words of all tests: those of types -1 to 6 in one function.
    fn test_entries() -> Vec<TypeAndFunction> {
        (-1..7).map(|target| (target, 0)).collect()
    }

    fn window_sample(cpu: u32, time: u64, target: i32) -> (u32, WindowSample) {
        (cpu, WindowSample { time, entry: (target + 1) as u32, context: None })
    }

    fn windows(samples: Vec<(u32, WindowSample)>) -> Vec<Window> {
        let mut gaps = SampleGaps::default();
        samples.iter().for_each(|(cpu, moment)| gaps.push(*cpu, moment.time));
        let mut windows = Windows::new(gaps.median(), TimeBlocks::default(), test_entries());
        samples.into_iter().for_each(|(cpu, moment)| windows.push(cpu, moment));
        windows.finish(|target| target)
    }

    #[test]
    fn a_long_gap_or_another_cpu_begins_a_window() {
        let moments = vec![
            window_sample(0, 10, 5),
            window_sample(0, 20, -1),
            window_sample(0, 30, 5),
            window_sample(0, 1000, 5),
            window_sample(1, 1005, 5),
            window_sample(1, 1015, 5),
        ];
        let found = windows(moments);
        let sizes: Vec<(usize, u64)> =
            found.iter().map(|window| (window.entries.len(), window.count)).collect();
        assert_eq!(sizes, [(3, 1), (1, 1), (2, 1)]);
    }

    #[test]
    fn the_order_of_samples_does_not_matter() {
        let moments: Vec<(u32, WindowSample)> =
            (0..100).map(|at| window_sample(at % 3, u64::from(at * 7 % 64), (at % 5) as i32)).collect();
        let mut reversed = moments.clone();
        reversed.reverse();
        assert_eq!(windows(moments), windows(reversed));
    }

    #[test]
    fn callers_join_a_window_once() {
        let with = |time, context: &[u32]| {
            let (cpu, moment) = window_sample(0, time, 5);
            (cpu, WindowSample { context: Some(context.into()), ..moment })
        };
        let found = windows(vec![with(10, &[7, 8]), with(20, &[7, 0])]);
        assert_eq!(
            found,
            [Window { entries: vec![(-1, 7), (-1, 8), (5, 0), (5, 0)], count: 1, blocks: vec![] }]
        );
    }

    #[test]
    fn no_samples_make_no_windows() {
        assert!(windows(Vec::new()).is_empty());
    }

    #[test]
    fn finished_rounds_do_not_change_windows() {
        let moments: Vec<(u32, WindowSample)> = (0..1000)
            .map(|at| window_sample(at % 3, u64::from(at * at % 91 + at * 4), (at % 5) as i32))
            .collect();
        let mut in_rounds = Windows::new(4, TimeBlocks::default(), test_entries());
        for (at, (cpu, moment)) in moments.iter().enumerate() {
            in_rounds.push(*cpu, moment.clone());
            if at % 50 == 49 {
                in_rounds.end_round();
            }
        }
        let mut at_once = Windows::new(4, TimeBlocks::default(), test_entries());
        moments.into_iter().for_each(|(cpu, moment)| at_once.push(cpu, moment));
        let in_rounds = in_rounds.finish(|target| target);
        assert!(in_rounds.len() > 20 && in_rounds == at_once.finish(|target| target));
    }
}
