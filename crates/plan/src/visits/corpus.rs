//! Windows of consecutive samples with their words numbered, as mixtures are learnt from.
//!
//! Windows have much in common: locks, the scheduler's tick. They are kept as trees in which windows that begin alike share
//! a branch (Morrison, 1968), frequent words first, so that what they share is worked out once.

use crate::visits::{Names, WindowWord, names};
use fieldline_access::access::Window;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Trees of windows, looked at side by side.
const TREES: usize = 4;

/// Windows with their words numbered.
#[derive(Clone, Debug)]
pub struct Corpus {
    pub(crate) words: Vec<WindowWord>,
    /// Samples by number of the word.
    pub(crate) counts: Vec<f32>,
    /// Numbers of the words of all windows, those of each together.
    text: Vec<u32>,
    /// Where each window's words are, and how often there is one like it.
    windows: Vec<(Span, f32)>,
    /// The windows in parts that don't depend on the number of threads, the branches of each in depth-first order.
    pub(crate) trees: Vec<Vec<Branch>>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn of<T>(self, text: &[T]) -> &[T] {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    fn len(self) -> u32 {
        self.end - self.start
    }
}

/// Words that windows share behind others that they share too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    /// How many words are in front of them.
    pub(crate) depth: u32,
    words: Span,
    /// Windows that end with them.
    pub(crate) count: f32,
}

impl Corpus {
    /// Numbers the words of the windows that hold one of `targets`, whatever the order of windows and of words.
    pub fn new(windows: &[Window], names: &Names, targets: &[WindowWord]) -> Self {
        let (named, mut windows) = telling(windows, names, targets);
        let mut words = named.clone();
        words.sort_unstable();
        words.dedup();
        let number: FxHashMap<WindowWord, u32> = words.iter().copied().zip(0..).collect();
        let mut text: Vec<u32> = named.into_iter().filter_map(|word| number.get(&word).copied()).collect();
        let mut counts = vec![0.0; words.len()];
        for (span, count) in &windows {
            span.of(&text).iter().for_each(|word| counts[*word as usize] += count);
        }
        // By number of a word, its place among those with most samples.
        let mut order: Vec<u32> = (0..counts.len() as u32).collect();
        order.sort_by_key(|word| Reverse(counts[*word as usize] as u64));
        let ranks = names::ranks(&order);
        for (span, _) in &windows {
            let words = text.get_mut(span.start as usize..span.end as usize).unwrap_or_default();
            words.sort_unstable_by_key(|word| ranks[*word as usize]);
        }
        let by_rank = |span: Span| span.of(&text).iter().map(|word| ranks[*word as usize]);
        windows.sort_unstable_by(|one, other| by_rank(one.0).cmp(by_rank(other.0)));
        windows.dedup_by(|next, first| {
            let is_same = next.0.of(&text) == first.0.of(&text);
            first.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        let trees = windows.chunks(windows.len().div_ceil(TREES).max(1)).map(|part| tree(part, &text));
        Self { trees: trees.collect(), words, counts, text, windows }
    }

    /// Windows with more than one sample: only they tell what runs together.
    pub fn joint_windows(&self) -> f32 {
        self.windows.iter().filter(|(span, _)| span.len() > 1).map(|(_, count)| count).sum()
    }

    /// Number of a word.
    pub fn number(&self, word: WindowWord) -> Option<usize> {
        self.words.binary_search(&word).ok()
    }

    /// Numbers of each window's words, and how often there is one like it.
    pub(crate) fn windows(&self) -> impl Iterator<Item = (&[u32], f32)> {
        self.windows.iter().map(|(span, count)| (span.of(&self.text), *count))
    }

    /// Numbers of the words of a branch.
    pub(crate) fn words_of(&self, branch: &Branch) -> &[u32] {
        branch.words.of(&self.text)
    }
}

/// The words of the windows that hold one of `targets`, those of each together; where those are and how often.
fn telling(windows: &[Window], names: &Names, targets: &[WindowWord]) -> (Vec<WindowWord>, Vec<(Span, f32)>) {
    let targets: FxHashSet<WindowWord> = targets.iter().copied().collect();
    let (mut named, mut spans) = (Vec::new(), Vec::new());
    for window in windows {
        let start = named.len();
        named.extend(window.words.iter().map(|word| names.word(*word)));
        let span = (u32::try_from(start), u32::try_from(named.len()));
        let tells = named.iter().skip(start).any(|word| targets.contains(word));
        match span {
            (Ok(start), Ok(end)) if tells => spans.push((Span { start, end }, window.count as f32)),
            _ => named.truncate(start),
        }
    }
    (named, spans)
}

/// The tree of windows in order: each has its branches with the one before in common, cut where one behind leaves it.
fn tree(windows: &[(Span, f32)], text: &[u32]) -> Vec<Branch> {
    // How many words two windows begin with alike.
    let in_common = |one: usize, other: usize| match (windows.get(one), windows.get(other)) {
        (Some(one), Some(other)) => {
            let words = one.0.of(text).iter().zip(other.0.of(text));
            words.take_while(|(one, other)| one == other).count() as u32
        }
        _ => 0,
    };
    let mut branches = Vec::with_capacity(windows.len());
    // Depths at which windows behind leave this one, the deepest last.
    let mut cuts: Vec<u32> = Vec::new();
    for (place, (span, count)) in windows.iter().enumerate().rev() {
        let after = in_common(place, place + 1);
        while cuts.last().is_some_and(|cut| *cut >= after) {
            cuts.pop();
        }
        cuts.push(after);
        let first = if place > 0 { in_common(place - 1, place) } else { 0 };
        let (mut end, mut count) = (span.len(), *count);
        for depth in cuts.iter().rev().copied().filter(|cut| *cut > first).chain([first]) {
            if depth < end {
                let words = Span { start: span.start + depth, end: span.start + end };
                branches.push(Branch { depth, words, count });
                (end, count) = (depth, 0.0);
            }
        }
    }
    branches.reverse();
    branches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(windows: &[(&[u32], u64)]) -> Corpus {
        let windows = windows.iter().map(|(words, count)| Window {
            words: words.iter().map(|word| (0, *word)).collect(),
            count: *count,
            blocks: vec![],
        });
        let targets: Vec<WindowWord> = (0..50).map(|function| (0, function)).collect();
        Corpus::new(&windows.collect::<Vec<_>>(), &Names::in_given_order(1, 500), &targets)
    }

    /// Windows of a tree with their counts, by walking it.
    fn walked(corpus: &Corpus, tree: &[Branch]) -> Vec<(Vec<u32>, f32)> {
        let (mut path, mut found) = (Vec::new(), Vec::new());
        for branch in tree {
            path.truncate(branch.depth as usize);
            path.extend_from_slice(corpus.words_of(branch));
            if branch.count > 0.0 {
                found.push((path.clone(), branch.count));
            }
        }
        found
    }

    #[test]
    fn a_walk_meets_each_window_once() {
        let windows: [(&[u32], u64); 9] = [
            (&[1, 2, 3, 4], 2),
            (&[2, 1, 3, 5], 3),
            (&[1, 2], 5),
            (&[1], 70),
            (&[1, 7, 8], 1),
            (&[4, 3, 2, 1], 4),
            (&[9, 9, 9], 1),
            (&[9, 9], 2),
            (&[60, 61], 100),
        ];
        let corpus = corpus(&windows);
        let found: Vec<_> = corpus.trees.iter().flat_map(|tree| walked(&corpus, tree)).collect();
        let kept: Vec<_> = corpus.windows().map(|(words, count)| (words.to_vec(), count)).collect();
        assert_eq!(found, kept);
        assert_eq!(found.len(), 7, "equal windows are one, others than targets' none: {found:?}");
        let all = |words: &[u32]| -> Vec<u32> {
            let words = words.iter().map(|word| corpus.number((0, *word)).unwrap() as u32);
            words.collect()
        };
        assert!(found.contains(&(all(&[1, 2, 3, 4]), 6.0)), "{found:?}");
        assert_eq!(corpus.counts[corpus.number((0, 9)).unwrap()], 3.0 + 4.0);
        assert!((corpus.joint_windows() - 18.0).abs() < 1e-6);
    }

    #[test]
    fn what_windows_share_is_there_once() {
        // Of 16 windows in four trees, each tree's four begin with the same three words and end with another.
        let words: Vec<[u32; 4]> = (0..16).map(|last| [1, 2, 3, 10 + last]).collect();
        let windows: Vec<(&[u32], u64)> = words.iter().map(|words| (words.as_slice(), 1)).collect();
        let corpus = corpus(&windows);
        for tree in &corpus.trees {
            let lengths: Vec<usize> = tree.iter().map(|branch| corpus.words_of(branch).len()).collect();
            assert_eq!(lengths, [3, 1, 1, 1, 1]);
        }
    }
}
