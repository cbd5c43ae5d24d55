//! Windows of consecutive samples with their entries numbered: the input of the mixture model.
//!
//! Windows have much in common: locks, the scheduler's tick. They are kept as tries (Morrison, 1968) with
//! frequent entries first, so that shared prefixes are computed once.

use crate::visits::{NameRanks, WindowEntry, name_ranks};
use fieldline_access::access::Window;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// Tries of windows, computed in parallel.
const TREES: usize = 4;

/// The windows of a profile that hold an entry of a struct, with their entries numbered: the same for all
/// weights of time blocks.
#[derive(Clone, Debug)]
pub struct WindowTable<'p> {
    entries: Vec<WindowEntry>,
    /// Entry numbers of all windows, one window after the other.
    entry_numbers: Vec<u32>,
    /// Sorted by their entries, the most frequent first.
    windows: Vec<(EntrySpan, &'p Window)>,
}

/// Windows of some time blocks with their counts.
#[derive(Clone, Debug)]
pub struct WindowCorpus<'t> {
    pub(crate) entries: &'t [WindowEntry],
    /// Samples by entry number.
    pub(crate) counts: Vec<f32>,
    entry_numbers: &'t [u32],
    /// Span and count of each distinct window.
    windows: Vec<(EntrySpan, f32)>,
    /// The windows in parts that don't depend on the number of threads, the branches of each in depth-first
    /// order.
    pub(crate) tries: Vec<Vec<TrieBranch>>,
}

#[derive(Clone, Copy, Debug)]
struct EntrySpan {
    start: u32,
    end: u32,
}

impl EntrySpan {
    fn slice<T>(self, entry_numbers: &[T]) -> &[T] {
        entry_numbers.get(self.start as usize..self.end as usize).unwrap_or_default()
    }

    fn len(self) -> u32 {
        self.end - self.start
    }
}

/// Entries that windows share behind a shared prefix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrieBranch {
    /// Entries in front of them.
    pub(crate) depth: u32,
    entries: EntrySpan,
    /// Windows that end with them.
    pub(crate) count: f32,
}

impl<'p> WindowTable<'p> {
    /// Numbers the entries of the windows that hold one of `targets`, independent of the order of windows and
    /// of entries.
    pub fn new(windows: &'p [Window], names: &NameRanks, targets: &[WindowEntry]) -> Self {
        let (named, mut windows) = select_windows(windows, names, targets);
        let mut entries = named.clone();
        entries.sort_unstable();
        entries.dedup();
        let number: FxHashMap<WindowEntry, u32> = entries.iter().copied().zip(0..).collect();
        let mut entry_numbers: Vec<u32> =
            named.into_iter().filter_map(|entry| number.get(&entry).copied()).collect();
        let mut counts = vec![0_u64; entries.len()];
        for (span, window) in &windows {
            span.slice(&entry_numbers).iter().for_each(|entry| counts[*entry as usize] += window.count);
        }
        // By entry number, its rank by samples.
        let mut order: Vec<u32> = (0..counts.len() as u32).collect();
        order.sort_by_key(|entry| Reverse(counts[*entry as usize]));
        let ranks = name_ranks::ranks(&order);
        for (span, _) in &windows {
            let entries = entry_numbers.get_mut(span.start as usize..span.end as usize).unwrap_or_default();
            entries.sort_unstable_by_key(|entry| ranks[*entry as usize]);
        }
        let by_rank = |span: EntrySpan| span.slice(&entry_numbers).iter().map(|entry| ranks[*entry as usize]);
        windows.sort_by(|this, other| by_rank(this.0).cmp(by_rank(other.0)));
        Self { entries, entry_numbers, windows }
    }

    /// The windows, each counted as `count` says.
    pub fn corpus(&self, count: impl Fn(&Window) -> u64) -> WindowCorpus<'_> {
        let entry_numbers = &self.entry_numbers;
        let mut counts = vec![0.0; self.entries.len()];
        let mut windows: Vec<(EntrySpan, f32)> = Vec::with_capacity(self.windows.len());
        for (span, window) in &self.windows {
            let count = count(window) as f32;
            if count <= 0.0 {
                continue;
            }
            let entries = span.slice(entry_numbers);
            entries.iter().for_each(|entry| counts[*entry as usize] += count);
            match windows.last_mut().filter(|last| last.0.slice(entry_numbers) == entries) {
                Some(last) => last.1 += count,
                None => windows.push((*span, count)),
            }
        }
        let tries =
            windows.chunks(windows.len().div_ceil(TREES).max(1)).map(|part| build_trie(part, entry_numbers));
        WindowCorpus { tries: tries.collect(), entries: &self.entries, counts, entry_numbers, windows }
    }
}

impl WindowCorpus<'_> {
    /// Windows with more than one sample: only they show which functions run together.
    pub fn joint_windows(&self) -> f32 {
        self.windows.iter().filter(|(span, _)| span.len() > 1).map(|(_, count)| count).sum()
    }

    /// Number of an entry.
    pub fn entry_number(&self, entry: WindowEntry) -> Option<usize> {
        self.entries.binary_search(&entry).ok()
    }

    /// Entry numbers and count of each distinct window.
    pub(crate) fn windows(&self) -> impl Iterator<Item = (&[u32], f32)> {
        self.windows.iter().map(|(span, count)| (span.slice(self.entry_numbers), *count))
    }

    /// Entry numbers of a branch.
    pub(crate) fn branch_entries(&self, branch: &TrieBranch) -> &[u32] {
        branch.entries.slice(self.entry_numbers)
    }
}

/// Entries of the windows that hold one of `targets`, one window after the other, with their spans.
fn select_windows<'p>(
    windows: &'p [Window],
    names: &NameRanks,
    targets: &[WindowEntry],
) -> (Vec<WindowEntry>, Vec<(EntrySpan, &'p Window)>) {
    let targets: FxHashSet<WindowEntry> = targets.iter().copied().collect();
    let (mut named, mut spans) = (Vec::new(), Vec::new());
    for window in windows {
        let start = named.len();
        named.extend(window.entries.iter().map(|entry| names.rank_entry(*entry)));
        let span = (u32::try_from(start), u32::try_from(named.len()));
        let has_target = named.iter().skip(start).any(|entry| targets.contains(entry));
        match span {
            (Ok(start), Ok(end)) if has_target => spans.push((EntrySpan { start, end }, window)),
            _ => named.truncate(start),
        }
    }
    (named, spans)
}

/// The trie of sorted windows, cut into branches where a following window diverges.
fn build_trie(windows: &[(EntrySpan, f32)], entry_numbers: &[u32]) -> Vec<TrieBranch> {
    // Length of the common prefix of two windows.
    let in_common = |this: usize, other: usize| match (windows.get(this), windows.get(other)) {
        (Some(this), Some(other)) => {
            let entries = this.0.slice(entry_numbers).iter().zip(other.0.slice(entry_numbers));
            entries.take_while(|(this, other)| this == other).count() as u32
        }
        _ => 0,
    };
    let mut branches = Vec::with_capacity(windows.len());
    // Depths at which windows behind leave this one, the deepest last.
    let mut cuts: Vec<u32> = Vec::new();
    for (index, (span, count)) in windows.iter().enumerate().rev() {
        let shared_after = in_common(index, index + 1);
        while cuts.last().is_some_and(|cut| *cut >= shared_after) {
            cuts.pop();
        }
        cuts.push(shared_after);
        let first = if index > 0 { in_common(index - 1, index) } else { 0 };
        let (mut end, mut count) = (span.len(), *count);
        for depth in cuts.iter().rev().copied().filter(|cut| *cut > first).chain([first]) {
            if depth < end {
                let entries = EntrySpan { start: span.start + depth, end: span.start + end };
                branches.push(TrieBranch { depth, entries, count });
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

    fn windows(windows: &[(&[u32], u64)]) -> Vec<Window> {
        let window = |(entries, count): &(&[u32], u64)| Window {
            entries: entries.iter().map(|entry| (0, *entry)).collect(),
            count: *count,
            blocks: vec![(0, *count)],
        };
        windows.iter().map(window).collect()
    }

    fn table(windows: &[Window]) -> WindowTable<'_> {
        let targets: Vec<WindowEntry> = (0..50).map(|function| (0, function)).collect();
        WindowTable::new(windows, &NameRanks::in_given_order(1, 500), &targets)
    }

    /// Windows of a trie with their counts, by traversal.
    fn collect_windows(corpus: &WindowCorpus<'_>, trie: &[TrieBranch]) -> Vec<(Vec<u32>, f32)> {
        let (mut path, mut found) = (Vec::new(), Vec::new());
        for branch in trie {
            path.truncate(branch.depth as usize);
            path.extend_from_slice(corpus.branch_entries(branch));
            if branch.count > 0.0 {
                found.push((path.clone(), branch.count));
            }
        }
        found
    }

    #[test]
    fn a_traversal_meets_each_window_once() {
        let given: [(&[u32], u64); 9] = [
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
        let windows = windows(&given);
        let table = table(&windows);
        let corpus = table.corpus(|window| window.count);
        let found: Vec<_> = corpus.tries.iter().flat_map(|trie| collect_windows(&corpus, trie)).collect();
        let kept: Vec<_> = corpus.windows().map(|(entries, count)| (entries.to_vec(), count)).collect();
        assert_eq!(found, kept);
        assert_eq!(found.len(), 7, "equal windows are one, others than targets' none: {found:?}");
        let all = |entries: &[u32]| -> Vec<u32> {
            let entries = entries.iter().map(|entry| corpus.entry_number((0, *entry)).unwrap() as u32);
            entries.collect()
        };
        assert!(found.contains(&(all(&[1, 2, 3, 4]), 6.0)), "{found:?}");
        assert_eq!(corpus.counts[corpus.entry_number((0, 9)).unwrap()], 3.0 + 4.0);
        assert!((corpus.joint_windows() - 18.0).abs() < 1e-6);
    }

    #[test]
    fn shared_prefixes_are_stored_once() {
        // Of 16 windows in four tries, each trie's four begin with the same three entries and end with
        // another.
        let entries: Vec<[u32; 4]> = (0..16).map(|last| [1, 2, 3, 10 + last]).collect();
        let given: Vec<(&[u32], u64)> = entries.iter().map(|entries| (entries.as_slice(), 1)).collect();
        let windows = windows(&given);
        let table = table(&windows);
        let corpus = table.corpus(|window| window.count);
        for trie in &corpus.tries {
            let lengths: Vec<usize> = trie.iter().map(|branch| corpus.branch_entries(branch).len()).collect();
            assert_eq!(lengths, [3, 1, 1, 1, 1]);
        }
    }

    #[test]
    fn windows_without_a_count_are_left_out() {
        let windows = windows(&[(&[1, 2], 5), (&[2, 1], 7), (&[1, 3], 2)]);
        let table = table(&windows);
        let corpus = table.corpus(|window| if window.count == 5 { 0 } else { 2 * window.count });
        let found: Vec<_> = corpus.windows().map(|(_, count)| count).collect();
        assert_eq!(found.iter().sum::<f32>(), 18.0, "{found:?}");
        let count = |function| corpus.counts[corpus.entry_number((0, function)).unwrap()];
        assert_eq!([count(1), count(2), count(3)], [18.0, 14.0, 4.0]);
        assert_eq!(table.corpus(|_| 0).windows().count(), 0);
    }
}
