//! Which functions run in one go: a mixture of multinomials over windows of consecutive samples.
//!
//! A class is an operation of the program (an enqueue, a walk over a tree): a distribution over words, a word being a
//! data type, or none, in a function. Samples that touch no struct of interest take part; they tell operations apart.
//! Learnt by expectation and maximisation (Dempster, Laird and Rubin, 1977) with nothing but sums, products and
//! quotients, so that every machine learns the same.

use crate::random::Random;
use crate::visits::corpus::Branch;
use crate::visits::{Corpus, WindowWord};
use rayon::prelude::*;

/// Most classes. With fewer, operations share a class and all they touch looks like one visit; with many more, each sees
/// too few windows and what runs in one go falls apart. Of the two, the first errs less (planned orders scored on known
/// visits).
const CLASSES: usize = 32; // a multiple of the lanes in `sum_of`
/// Rounds of expectation and maximisation.
const ROUNDS: usize = 30;
/// Rounds from a mixture of much the same windows on.
const AGAIN: usize = 4;
/// Weight of the background distribution in each class, in samples per word of the vocabulary.
const SMOOTHING: f32 = 0.3;
/// Words after which probabilities are scaled so that they can't underflow, as those of several operations would.
const RESCALE_EVERY: usize = 8;

type Row = [f32; CLASSES];

/// A learnt mixture.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// Words of the corpus it was learnt from.
    words: Vec<WindowWord>,
    /// Expected samples of each word of the corpus in windows of each class.
    pub(crate) expected: Vec<Row>,
    /// Expected windows of each class, and those with several samples.
    pub(crate) windows: Row,
    pub(crate) joint: Row,
}

impl Corpus {
    /// Learns a mixture whose classes begin around a target each, drawn by weight; none alike, for they stay so.
    pub fn learn(&self, targets: &[WindowWord], random: &mut Random) -> Mixture {
        self.refine(self.start(targets, random), ROUNDS)
    }

    /// Learns a mixture that begins as one learnt from much the same windows: few rounds settle what differs.
    pub fn learn_from(&self, known: &Mixture) -> Mixture {
        let none = [0.0; CLASSES];
        let row = |word| known.words.binary_search(word).ok().and_then(|number| known.expected.get(number));
        let expected: Vec<Row> = self.words.iter().map(|word| *row(word).unwrap_or(&none)).collect();
        let mut model = Model { share: [1.0; CLASSES], theta: vec![none; self.words.len()] };
        model.maximise(&expected, &self.counts);
        self.refine(model, AGAIN)
    }

    fn refine(&self, mut model: Model, rounds: usize) -> Mixture {
        for _ in 0..rounds {
            let expected = self.expect(&model);
            model.maximise(&expected.words, &self.counts);
        }
        let last = self.expect(&model);
        Mixture { words: self.words.clone(), expected: last.words, windows: last.windows, joint: last.joint }
    }

    fn start(&self, targets: &[WindowWord], random: &mut Random) -> Model {
        let chosen = self.draw(targets, random);
        let mut expected = vec![[0.0; CLASSES]; self.words.len()];
        for (words, count) in self.windows() {
            for (class, _) in chosen.iter().enumerate().filter(|(_, word)| words.contains(word)) {
                for word in words {
                    expected[*word as usize][class] += count;
                }
            }
        }
        let mut model = Model { share: [1.0; CLASSES], theta: vec![[0.0; CLASSES]; self.words.len()] };
        model.maximise(&expected, &self.counts);
        for (class, share) in model.share.iter_mut().enumerate() {
            *share = f32::from(class < chosen.len());
        }
        scale_to(&mut model.share, 1.0);
        model
    }

    /// A word for each class, until there are no more.
    fn draw(&self, targets: &[WindowWord], random: &mut Random) -> Vec<u32> {
        let mut numbers: Vec<usize> = targets.iter().filter_map(|word| self.number(*word)).collect();
        let mut chosen = Vec::new();
        while chosen.len() < CLASSES && !numbers.is_empty() {
            let total: f32 = numbers.iter().map(|number| self.counts[*number]).sum();
            let mut left = random.unit() as f32 * total;
            let place = numbers.iter().position(|number| {
                left -= self.counts[*number];
                left < 0.0
            });
            chosen.push(numbers.remove(place.unwrap_or(numbers.len() - 1)) as u32);
        }
        chosen
    }

    /// What a model makes of the windows. Their parts are summed in order, so that the number of threads doesn't matter.
    fn expect(&self, model: &Model) -> Expected {
        let parts = self.trees.par_iter().map(|tree| Walk::new(self, model).through(tree));
        let parts: Vec<Expected> = parts.collect();
        let mut expected = Expected::none(self.words.len());
        parts.iter().for_each(|part| expected.add(part));
        expected
    }
}

/// A walk through a tree of windows, depth first: probabilities on the way down, expected numbers on the way up.
struct Walk<'c> {
    corpus: &'c Corpus,
    model: &'c Model,
    /// From the root to where the walk is.
    path: Vec<Step<'c>>,
    expected: Expected,
}

struct Step<'c> {
    words: &'c [u32],
    /// Words up to its end.
    depth: u32,
    /// How likely each class makes a window with them, relative to the others.
    p: Row,
    /// Expected windows that hold them, as far as they were met.
    windows: Row,
}

impl<'c> Walk<'c> {
    fn new(corpus: &'c Corpus, model: &'c Model) -> Self {
        let root = Step { words: &[], depth: 0, p: model.share, windows: [0.0; CLASSES] };
        Self { corpus, model, path: vec![root], expected: Expected::none(corpus.words.len()) }
    }

    fn through(mut self, tree: &[Branch]) -> Expected {
        for branch in tree {
            self.back_to(branch.depth);
            self.enter(branch);
        }
        self.back_to(0);
        if let Some(root) = self.path.pop() {
            self.expected.windows = root.windows;
        }
        self.expected
    }

    fn enter(&mut self, branch: &Branch) {
        let Some(parent) = self.path.last() else { return };
        let words = self.corpus.words_of(branch);
        let mut p = parent.p;
        self.model.weigh(&mut p, words, branch.depth as usize);
        let depth = branch.depth + words.len() as u32;
        let mut windows = [0.0; CLASSES];
        if branch.count > 0.0 {
            windows = p;
            scale_to(&mut windows, branch.count);
            if depth > 1 {
                add_to(&mut self.expected.joint, &windows);
            }
        }
        self.path.push(Step { words, depth, p, windows });
    }

    fn back_to(&mut self, depth: u32) {
        while self.path.last().is_some_and(|step| step.depth > depth) {
            let Some(Step { words, windows, .. }) = self.path.pop() else { return };
            words.iter().for_each(|word| add_to(&mut self.expected.words[*word as usize], &windows));
            if let Some(parent) = self.path.last_mut() {
                add_to(&mut parent.windows, &windows);
            }
        }
    }
}

struct Expected {
    words: Vec<Row>,
    windows: Row,
    /// Windows with several samples.
    joint: Row,
}

impl Expected {
    fn none(words: usize) -> Self {
        let none = [0.0; CLASSES];
        Self { words: vec![none; words], windows: none, joint: none }
    }

    fn add(&mut self, other: &Self) {
        self.words.iter_mut().zip(&other.words).for_each(|(row, more)| add_to(row, more));
        add_to(&mut self.windows, &other.windows);
        add_to(&mut self.joint, &other.joint);
    }
}

/// Shares of classes and, by word, its probability in each class relative to the class where it is likeliest.
struct Model {
    share: Row,
    theta: Vec<Row>,
}

impl Model {
    /// Makes probabilities those of windows that go on with words, `depth` words being in front of them.
    fn weigh(&self, p: &mut Row, words: &[u32], depth: usize) {
        for (number, word) in (depth..).zip(words) {
            if number > 0 && number.is_multiple_of(RESCALE_EVERY) {
                scale_to(p, 1.0);
            }
            let row = &self.theta[*word as usize];
            for class in 0..CLASSES {
                p[class] *= row[class];
            }
        }
    }

    fn maximise(&mut self, expected: &[Row], counts: &[f32]) {
        let mut sums = [0.0; CLASSES];
        expected.iter().for_each(|row| add_to(&mut sums, row));
        let extra = SMOOTHING * counts.len() as f32;
        let total: f32 = counts.iter().sum();
        for ((theta, row), count) in self.theta.iter_mut().zip(expected).zip(counts) {
            let background = extra * count / total;
            for class in 0..CLASSES {
                theta[class] = (row[class] + background) / (sums[class] + extra);
            }
            let most = theta.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
            theta.iter_mut().for_each(|probability| *probability /= most);
        }
        // A class that never began stays empty.
        self.share = sums.map(|sum| if sum > 0.0 { sum + 1.0 } else { 0.0 });
        scale_to(&mut self.share, 1.0);
    }
}

fn add_to(row: &mut Row, more: &Row) {
    for class in 0..CLASSES {
        row[class] += more[class];
    }
}

fn scale_to(row: &mut Row, sum: f32) {
    let now = sum_of(row);
    if now > 0.0 {
        let factor = sum / now;
        for value in row.iter_mut() {
            *value *= factor;
        }
    } else {
        *row = [sum / CLASSES as f32; CLASSES];
    }
}

/// The sum of a row, in lanes that a processor adds at once.
fn sum_of(row: &Row) -> f32 {
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
    use crate::visits::Names;
    use fieldline_access::access::Window;

    fn window(words: &[(i32, u32)], count: u64) -> Window {
        Window { words: words.to_vec(), count, blocks: vec![] }
    }

    fn corpus(windows: &[Window]) -> Corpus {
        let targets: Vec<WindowWord> = (0..500).map(|function| (0, function)).collect();
        Corpus::new(windows, &Names::in_given_order(1, 500), &targets)
    }

    #[test]
    fn operations_that_never_meet_get_classes_of_their_own() {
        let windows = [window(&[(0, 1), (0, 2), (-1, 9)], 50), window(&[(0, 3), (0, 4), (-1, 9)], 50)];
        let corpus = corpus(&windows);
        let mixture = corpus.learn(&[(0, 1), (0, 2), (0, 3), (0, 4)], &mut Random::new(3));
        let row = |function| mixture.expected[corpus.number((0, function)).unwrap()];
        let apart: f32 = row(1).iter().zip(row(3)).map(|(a, b)| a.min(b)).sum();
        let joint: f32 = row(1).iter().zip(row(2)).map(|(a, b)| a.min(b)).sum();
        assert!(apart < 5.0, "{apart}");
        assert!(joint > 45.0, "{joint}");
    }

    #[test]
    fn samples_are_shared_out_completely() {
        let windows = [window(&[(0, 1), (0, 1), (-1, 2)], 7), window(&[(0, 1)], 2)];
        let corpus = corpus(&windows);
        let mixture = corpus.learn(&[(0, 1)], &mut Random::new(1));
        let sum: f32 = mixture.expected[corpus.number((0, 1)).unwrap()].iter().sum();
        assert!((sum - 16.0).abs() < 1e-4, "{sum}");
        assert!((corpus.joint_windows() - 7.0).abs() < 1e-6);
    }

    #[test]
    fn a_window_of_many_words_does_not_underflow() {
        let words: Vec<(i32, u32)> = (0..500).map(|function| (0, function)).collect();
        let corpus = corpus(&[window(&words, 1)]);
        let mixture = corpus.learn(&words, &mut Random::new(1));
        let sum: f32 = mixture.expected[0].iter().sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }
}
