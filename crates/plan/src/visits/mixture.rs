//! Which functions run together: a mixture of multinomials over windows of consecutive samples.
//!
//! A component is an access pattern of the program (an enqueue, a walk over a tree): a distribution over
//! window entries (data type or none, function). Samples that touch no struct of interest take part; they
//! separate operations. Learnt by expectation and maximisation (Dempster, Laird and Rubin, 1977) with nothing
//! but sums, products and quotients, so that every machine learns the same.

use crate::random::Random;
use crate::visits::window_corpus::TrieBranch;
use crate::visits::{WindowCorpus, WindowEntry};

/// Most patterns. With fewer, operations share a pattern and all they touch looks like one visit; with many
/// more, each has too few windows and visits fall apart. The first errs less (planned orders scored on known
/// visits).
const PATTERNS: usize = 32; // a multiple of the lanes in `sum_of`
/// Iterations of expectation and maximisation.
const EM_ITERATIONS: usize = 30;
/// Iterations with a warm start from a mixture of much the same windows.
const WARM_START_ITERATIONS: usize = 4;
/// Weight of the background distribution in each pattern, in samples per distinct entry.
const SMOOTHING: f32 = 0.3;
/// Entries after which probabilities are scaled so that they can't underflow, as those of several operations
/// would.
const RESCALE_EVERY: usize = 8;

type PatternRow = [f32; PATTERNS];

/// A learnt mixture.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// Entries of the corpus it was learnt from.
    entries: Vec<WindowEntry>,
    /// Expected samples of each entry of the corpus in windows of each pattern.
    pub(crate) expected: Vec<PatternRow>,
    /// Expected windows of each pattern, and those with several samples.
    pub(crate) windows: PatternRow,
    pub(crate) joint: PatternRow,
}

impl WindowCorpus<'_> {
    /// Learns a mixture whose patterns begin around a target each, drawn by weight without replacement: equal
    /// ones would stay equal.
    pub fn learn(&self, targets: &[WindowEntry], random: &mut Random) -> Mixture {
        self.refine(self.initial_parameters(targets, random), EM_ITERATIONS)
    }

    /// Learns a mixture with a warm start from one of much the same windows: few iterations converge.
    pub fn learn_warm(&self, known: &Mixture) -> Mixture {
        let none = [0.0; PATTERNS];
        let row = |entry| known.expected.get(known.entries.binary_search(entry).ok()?);
        let expected: Vec<_> = self.entries.iter().map(|entry| *row(entry).unwrap_or(&none)).collect();
        let mut model = MixtureParameters { share: [1.0; PATTERNS], theta: vec![none; self.entries.len()] };
        model.maximise(&expected, &self.counts);
        self.refine(model, WARM_START_ITERATIONS)
    }

    fn refine(&self, mut model: MixtureParameters, iterations: usize) -> Mixture {
        for _ in 0..iterations {
            let expected = self.expect(&model);
            model.maximise(&expected.entries, &self.counts);
        }
        let last = self.expect(&model);
        let (windows, joint) = (last.windows, last.joint);
        Mixture { entries: self.entries.to_vec(), expected: last.entries, windows, joint }
    }

    fn initial_parameters(&self, targets: &[WindowEntry], random: &mut Random) -> MixtureParameters {
        let chosen = self.draw_seeds(targets, random);
        let mut expected = vec![[0.0; PATTERNS]; self.entries.len()];
        for (entries, count) in self.windows() {
            for (pattern, _) in chosen.iter().enumerate().filter(|(_, entry)| entries.contains(entry)) {
                for entry in entries {
                    expected[*entry as usize][pattern] += count;
                }
            }
        }
        let mut model =
            MixtureParameters { share: [1.0; PATTERNS], theta: vec![[0.0; PATTERNS]; self.entries.len()] };
        model.maximise(&expected, &self.counts);
        for (pattern, share) in model.share.iter_mut().enumerate() {
            *share = f32::from(pattern < chosen.len());
        }
        scale_row(&mut model.share, 1.0);
        model
    }

    /// An entry for each pattern, until there are no more.
    fn draw_seeds(&self, targets: &[WindowEntry], random: &mut Random) -> Vec<u32> {
        let mut numbers: Vec<usize> = targets.iter().filter_map(|entry| self.entry_number(*entry)).collect();
        let mut chosen = Vec::new();
        while chosen.len() < PATTERNS && !numbers.is_empty() {
            let total: f32 = numbers.iter().map(|number| self.counts[*number]).sum();
            let mut left = random.unit() as f32 * total;
            let index = numbers.iter().position(|number| {
                left -= self.counts[*number];
                left < 0.0
            });
            chosen.push(numbers.remove(index.unwrap_or(numbers.len() - 1)) as u32);
        }
        chosen
    }

    /// The expectation step. Tries are summed in order, so that the number of threads doesn't matter.
    fn expect(&self, model: &MixtureParameters) -> ExpectedCounts {
        let parts = fieldline_parallel::map(&self.tries, |trie| TrieWalk::new(self, model).run(trie));
        let mut expected = ExpectedCounts::none(self.entries.len());
        parts.iter().for_each(|part| expected.add(part));
        expected
    }
}

/// Depth-first traversal of a trie: likelihoods on the way down, expected counts on the way up.
struct TrieWalk<'c> {
    corpus: &'c WindowCorpus<'c>,
    model: &'c MixtureParameters,
    /// From the root to the current branch.
    path: Vec<TriePathNode<'c>>,
    expected: ExpectedCounts,
}

struct TriePathNode<'c> {
    entries: &'c [u32],
    /// Words up to its end.
    depth: u32,
    /// Likelihood of the prefix in each pattern, relative to the others.
    p: PatternRow,
    /// Expected windows with this prefix, so far.
    windows: PatternRow,
}

impl<'c> TrieWalk<'c> {
    fn new(corpus: &'c WindowCorpus<'c>, model: &'c MixtureParameters) -> Self {
        let root = TriePathNode { entries: &[], depth: 0, p: model.share, windows: [0.0; PATTERNS] };
        Self { corpus, model, path: vec![root], expected: ExpectedCounts::none(corpus.entries.len()) }
    }

    fn run(mut self, trie: &[TrieBranch]) -> ExpectedCounts {
        for branch in trie {
            self.pop_to(branch.depth);
            self.push(branch);
        }
        self.pop_to(0);
        if let Some(root) = self.path.pop() {
            self.expected.windows = root.windows;
        }
        self.expected
    }

    fn push(&mut self, branch: &TrieBranch) {
        let Some(parent) = self.path.last() else { return };
        let entries = self.corpus.branch_entries(branch);
        let mut p = parent.p;
        self.model.multiply_likelihoods(&mut p, entries, branch.depth as usize);
        let depth = branch.depth + entries.len() as u32;
        let mut windows = [0.0; PATTERNS];
        if branch.count > 0.0 {
            windows = p;
            scale_row(&mut windows, branch.count);
            if depth > 1 {
                add_row(&mut self.expected.joint, &windows);
            }
        }
        self.path.push(TriePathNode { entries, depth, p, windows });
    }

    fn pop_to(&mut self, depth: u32) {
        while self.path.last().is_some_and(|node| node.depth > depth) {
            let Some(TriePathNode { entries, windows, .. }) = self.path.pop() else { return };
            entries.iter().for_each(|entry| add_row(&mut self.expected.entries[*entry as usize], &windows));
            if let Some(parent) = self.path.last_mut() {
                add_row(&mut parent.windows, &windows);
            }
        }
    }
}

struct ExpectedCounts {
    entries: Vec<PatternRow>,
    windows: PatternRow,
    /// Windows with several samples.
    joint: PatternRow,
}

impl ExpectedCounts {
    fn none(entries: usize) -> Self {
        let none = [0.0; PATTERNS];
        Self { entries: vec![none; entries], windows: none, joint: none }
    }

    fn add(&mut self, other: &Self) {
        self.entries.iter_mut().zip(&other.entries).for_each(|(row, more)| add_row(row, more));
        add_row(&mut self.windows, &other.windows);
        add_row(&mut self.joint, &other.joint);
    }
}

/// Shares of patterns and, by entry, its probability in each pattern relative to the largest.
struct MixtureParameters {
    share: PatternRow,
    theta: Vec<PatternRow>,
}

impl MixtureParameters {
    /// Multiplies likelihoods by those of entries that follow `depth` others.
    fn multiply_likelihoods(&self, p: &mut PatternRow, entries: &[u32], depth: usize) {
        for (number, entry) in (depth..).zip(entries) {
            if number > 0 && number.is_multiple_of(RESCALE_EVERY) {
                scale_row(p, 1.0);
            }
            let row = &self.theta[*entry as usize];
            for pattern in 0..PATTERNS {
                p[pattern] *= row[pattern];
            }
        }
    }

    fn maximise(&mut self, expected: &[PatternRow], counts: &[f32]) {
        let mut sums = [0.0; PATTERNS];
        expected.iter().for_each(|row| add_row(&mut sums, row));
        let extra = SMOOTHING * counts.iter().filter(|count| **count > 0.0).count() as f32;
        let total: f32 = counts.iter().sum();
        for ((theta, row), count) in self.theta.iter_mut().zip(expected).zip(counts) {
            let background = extra * count / total;
            for pattern in 0..PATTERNS {
                theta[pattern] = (row[pattern] + background) / (sums[pattern] + extra);
            }
            let most = theta.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            theta.iter_mut().for_each(|probability| *probability /= most);
        }
        // A pattern that never began stays empty.
        self.share = sums.map(|sum| if sum > 0.0 { sum + 1.0 } else { 0.0 });
        scale_row(&mut self.share, 1.0);
    }
}

fn add_row(row: &mut PatternRow, more: &PatternRow) {
    for pattern in 0..PATTERNS {
        row[pattern] += more[pattern];
    }
}

fn scale_row(row: &mut PatternRow, sum: f32) {
    let now = sum_row(row);
    if now > 0.0 {
        let factor = sum / now;
        for value in row.iter_mut() {
            *value *= factor;
        }
    } else {
        *row = [sum / PATTERNS as f32; PATTERNS];
    }
}

/// The sum of a row, in SIMD lanes.
fn sum_row(row: &PatternRow) -> f32 {
    let mut lanes = [0.0; 8];
    for chunk in row.chunks_exact(lanes.len()) {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += value;
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visits::NameRanks;
    use crate::visits::WindowTable;
    use fieldline_access::access::Window;

    fn windows(windows: &[(&[WindowEntry], u64)]) -> Vec<Window> {
        let window = |(entries, count): &(&[WindowEntry], u64)| Window {
            entries: entries.to_vec(),
            count: *count,
            blocks: Vec::new(),
        };
        windows.iter().map(window).collect()
    }

    fn table(windows: &[Window]) -> WindowTable<'_> {
        let targets: Vec<WindowEntry> = (0..500).map(|function| (0, function)).collect();
        WindowTable::new(windows, &NameRanks::in_given_order(1, 500), &targets)
    }

    #[test]
    fn operations_that_never_meet_get_separate_patterns() {
        let windows = windows(&[(&[(0, 1), (0, 2), (-1, 9)], 50), (&[(0, 3), (0, 4), (-1, 9)], 50)]);
        let table = table(&windows);
        let corpus = table.corpus(|window| window.count);
        let mixture = corpus.learn(&[(0, 1), (0, 2), (0, 3), (0, 4)], &mut Random::new(3));
        let row = |function| mixture.expected[corpus.entry_number((0, function)).unwrap()];
        let separate: f32 = row(1).iter().zip(row(3)).map(|(a, b)| a.min(b)).sum();
        let joint: f32 = row(1).iter().zip(row(2)).map(|(a, b)| a.min(b)).sum();
        assert!(separate < 5.0, "{separate}");
        assert!(joint > 45.0, "{joint}");
    }

    #[test]
    fn samples_are_shared_out_completely() {
        let windows = windows(&[(&[(0, 1), (0, 1), (-1, 2)], 7), (&[(0, 1)], 2)]);
        let table = table(&windows);
        let corpus = table.corpus(|window| window.count);
        let mixture = corpus.learn(&[(0, 1)], &mut Random::new(1));
        let sum: f32 = mixture.expected[corpus.entry_number((0, 1)).unwrap()].iter().sum();
        assert!((sum - 16.0).abs() < 1e-4, "{sum}");
        assert!((corpus.joint_windows() - 7.0).abs() < 1e-6);
    }

    #[test]
    fn a_window_of_many_entries_does_not_underflow() {
        let entries: Vec<(i32, u32)> = (0..500).map(|function| (0, function)).collect();
        let windows = windows(&[(entries.as_slice(), 1)]);
        let table = table(&windows);
        let corpus = table.corpus(|window| window.count);
        let mixture = corpus.learn(&entries, &mut Random::new(1));
        let sum: f32 = mixture.expected[0].iter().sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }
}
