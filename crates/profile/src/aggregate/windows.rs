//! Samples of one CPU close in time: what was worked on in one go.

use super::blocks::Blocks;
use super::rounds::{ByCpu, Rounds, Timed};
use fieldline_access::access::Window;
use fieldline_access::blocks::count_windows_in_block;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Longest window in samples. Operations rarely fill more, and idle loops would.
const MAX_SAMPLES: usize = 8;

/// Gap that ends a window, in multiples of the median gap between samples of one CPU.
const GAP_IN_MEDIANS: u64 = 3;

/// What a sample is in a window: its type or -1, and its function.
pub(crate) type Word = (i32, u32);

/// One sample: when, and the number of its word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Time in nanoseconds.
    pub time: u64,
    /// Index of its word among those given.
    pub word: u32,
    /// Functions that the sample shows besides its own.
    pub context: Option<Box<[u32]>>,
}

impl Timed for Moment {
    fn order(&self) -> (u64, u32) {
        (self.time, self.word)
    }
}

/// Cuts moments into windows as they come; equal windows are counted together. A window belongs to the block it begins in.
#[derive(Debug)]
pub(crate) struct Windows {
    rounds: Rounds<Moment>,
    cut: Cut,
}

/// Windows that were cut, and those that may go on.
#[derive(Debug)]
struct Cut {
    longest: u64,
    blocks: Blocks,
    /// In order.
    words: Vec<Word>,
    open: ByCpu<Open>,
    /// Windows by numbers of their words, in order; with [`NO_WORD`] behind the last.
    sums: FxHashMap<[u32; MAX_SAMPLES], Sum>,
    /// Those taken as a whole, by numbers of their words.
    whole: FxHashMap<Box<[u32]>, Sum>,
    /// Those with other functions besides.
    with_context: FxHashMap<Vec<Word>, Sum>,
}

const NO_WORD: u32 = u32::MAX;

/// How often a window was seen, in all and by block.
#[derive(Debug, Default)]
struct Sum {
    count: u64,
    blocks: Vec<(u32, u64)>,
}

impl Sum {
    fn note(&mut self, block: Option<u32>) {
        self.count += 1;
        if let Some(block) = block {
            count_windows_in_block(&mut self.blocks, block, 1);
        }
    }
}

impl Windows {
    /// For a recording whose samples of one CPU are apart by `median_gap` nanoseconds as a rule. `words`, in order, are all
    /// that samples have.
    pub(crate) fn new(median_gap: u64, blocks: Blocks, words: Vec<Word>) -> Self {
        let longest = GAP_IN_MEDIANS.saturating_mul(median_gap);
        let (open, sums, whole, with_context) = Default::default();
        let cut = Cut { longest, blocks, words, open, sums, whole, with_context };
        Self { rounds: Rounds::default(), cut }
    }

    #[inline]
    pub(crate) fn push(&mut self, cpu: u32, moment: Moment) {
        self.rounds.push(cpu, moment);
    }

    /// Takes what was seen in one go, and is a window of its own: numbers of words, in order, and functions besides.
    pub(crate) fn push_whole(&mut self, block: Option<u32>, words: &[u32], context: &[u32]) {
        let cut = &mut self.cut;
        if !cut.has_struct(words) {
            return;
        }
        match (context.is_empty(), cut.whole.get_mut(words)) {
            (true, Some(known)) => known.note(block),
            (true, None) => cut.whole.entry(words.into()).or_default().note(block),
            (false, _) => cut.keep_with_context(block, words, &context.iter().copied().collect()),
        }
    }

    /// A round of the recorder is over.
    pub(crate) fn end_round(&mut self) {
        let Self { rounds, cut } = self;
        rounds.end_round(&mut |cpu, moment| cut.take(cpu, &moment));
    }

    /// All windows. `rename` gives each type its index in the profile.
    pub(crate) fn finish(self, rename: impl Fn(i32) -> i32) -> Vec<Window> {
        let Self { rounds, mut cut } = self;
        rounds.finish(&mut |cpu, moment| cut.take(cpu, &moment));
        for (_, open) in std::mem::take(&mut cut.open).iter_mut() {
            cut.close(open);
        }
        let mut sums: BTreeMap<Vec<Word>, Window> = BTreeMap::new();
        let Cut { words: all, sums: by_number, whole, with_context, .. } = cut;
        let spelled = |numbers: &[u32]| -> Vec<Word> {
            numbers.iter().filter_map(|number| all.get(*number as usize).copied()).collect()
        };
        let by_number = by_number.into_iter().map(|(numbers, sum)| (spelled(&numbers), sum));
        let whole = whole.into_iter().map(|(numbers, sum)| (spelled(&numbers), sum));
        for (mut words, sum) in by_number.chain(whole).chain(with_context) {
            words.iter_mut().for_each(|word| word.0 = rename(word.0));
            words.sort_unstable();
            let window = sums.entry(words).or_default();
            window.count += sum.count;
            for (block, count) in sum.blocks {
                count_windows_in_block(&mut window.blocks, block, count);
            }
        }
        sums.into_iter().map(|(words, sum)| Window { words, ..sum }).collect()
    }
}

/// A window that may go on.
#[derive(Debug, Default)]
struct Open {
    /// Numbers of words, as many as there are samples.
    samples: [u32; MAX_SAMPLES],
    count: usize,
    context: BTreeSet<u32>,
    block: Option<u32>,
    last: u64,
}

impl Cut {
    #[inline]
    fn take(&mut self, cpu: u32, moment: &Moment) {
        let open = self.open.of(cpu);
        let is_near = moment.time.saturating_sub(open.last) <= self.longest;
        if !is_near || open.count >= MAX_SAMPLES {
            let closed = std::mem::take(open);
            self.close(&closed);
        }
        let open = self.open.of(cpu);
        if open.count == 0 {
            open.block = self.blocks.at(Some(moment.time));
        }
        if let Some(place) = open.samples.get_mut(open.count) {
            *place = moment.word;
            open.count += 1;
        }
        if let Some(context) = &moment.context {
            open.context.extend(context);
        }
        open.last = moment.time;
    }

    /// Keeps a window that says something: one that holds a struct. What was sampled itself is no context.
    fn close(&mut self, open: &Open) {
        let mut samples = open.samples;
        samples.iter_mut().skip(open.count).for_each(|place| *place = NO_WORD);
        if !self.has_struct(&samples) {
            return;
        }
        samples.sort_unstable();
        match open.context.is_empty() {
            true => self.sums.entry(samples).or_default().note(open.block),
            false => self.keep_with_context(open.block, &samples, &open.context),
        }
    }

    fn has_struct(&self, words: &[u32]) -> bool {
        words.iter().any(|word| self.words.get(*word as usize).is_some_and(|word| word.0 >= 0))
    }

    fn keep_with_context(&mut self, block: Option<u32>, samples: &[u32], context: &BTreeSet<u32>) {
        let sampled = samples.iter().filter_map(|number| self.words.get(*number as usize).copied());
        let mut words: Vec<Word> = sampled.collect();
        let sampled: Vec<u32> = words.iter().map(|word| word.1).collect();
        let others = context.iter().filter(|function| !sampled.contains(function));
        words.extend(others.map(|function| (-1, *function)));
        words.sort_unstable();
        self.with_context.entry(words).or_default().note(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::gaps::Gaps;

    /// Words of all tests: those of types -1 to 6 in one function.
    fn words() -> Vec<Word> {
        (-1..7).map(|target| (target, 0)).collect()
    }

    fn moment(cpu: u32, time: u64, target: i32) -> (u32, Moment) {
        (cpu, Moment { time, word: (target + 1) as u32, context: None })
    }

    fn windows(moments: Vec<(u32, Moment)>) -> Vec<Window> {
        let mut gaps = Gaps::default();
        moments.iter().for_each(|(cpu, moment)| gaps.push(*cpu, moment.time));
        let mut windows = Windows::new(gaps.median(), Blocks::default(), words());
        moments.into_iter().for_each(|(cpu, moment)| windows.push(cpu, moment));
        windows.finish(|target| target)
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
        let found = windows(moments);
        let sizes: Vec<(usize, u64)> =
            found.iter().map(|window| (window.words.len(), window.count)).collect();
        assert_eq!(sizes, [(3, 1), (1, 1), (2, 1)]);
    }

    #[test]
    fn the_order_of_samples_does_not_matter() {
        let moments: Vec<(u32, Moment)> =
            (0..100).map(|at| moment(at % 3, u64::from(at * 7 % 64), (at % 5) as i32)).collect();
        let mut reversed = moments.clone();
        reversed.reverse();
        assert_eq!(windows(moments), windows(reversed));
    }

    #[test]
    fn callers_join_a_window_once() {
        let with = |time, context: &[u32]| {
            let (cpu, moment) = moment(0, time, 5);
            (cpu, Moment { context: Some(context.into()), ..moment })
        };
        let found = windows(vec![with(10, &[7, 8]), with(20, &[7, 0])]);
        assert_eq!(
            found,
            [Window { words: vec![(-1, 7), (-1, 8), (5, 0), (5, 0)], count: 1, blocks: vec![] }]
        );
    }

    #[test]
    fn no_samples_make_no_windows() {
        assert!(windows(Vec::new()).is_empty());
    }

    #[test]
    fn rounds_change_nothing_where_samples_keep_to_them() {
        let moments: Vec<(u32, Moment)> =
            (0..1000).map(|at| moment(at % 3, u64::from(at * at % 91 + at * 4), (at % 5) as i32)).collect();
        let mut in_rounds = Windows::new(4, Blocks::default(), words());
        for (at, (cpu, moment)) in moments.iter().enumerate() {
            in_rounds.push(*cpu, moment.clone());
            if at % 50 == 49 {
                in_rounds.end_round();
            }
        }
        let mut at_once = Windows::new(4, Blocks::default(), words());
        moments.into_iter().for_each(|(cpu, moment)| at_once.push(cpu, moment));
        let in_rounds = in_rounds.finish(|target| target);
        assert!(in_rounds.len() > 20 && in_rounds == at_once.finish(|target| target));
    }
}
