//! Names that files give to what is in them: what is left of their paths without the numbers of runs.
//!
//! `run-1/schbench/64-workers.txt` and `run-2/schbench/64-workers.txt` are two runs of `schbench 64-workers`.

use std::collections::{BTreeMap, BTreeSet};

/// Words before a number that say it counts runs.
const RUN_WORDS: [&str; 12] = [
    "run",
    "runs",
    "iter",
    "iteration",
    "rep",
    "repeat",
    "repetition",
    "round",
    "trial",
    "pass",
    "sample",
    "attempt",
];

/// Words beside a number that say it is a parameter.
const PARAMETER_WORDS: [&str; 14] = [
    "group", "client", "thread", "worker", "task", "proc", "process", "cpu", "pair", "job", "depth", "width",
    "node", "size",
];

/// A path below what the user named, cut at the slashes; the last part is the file.
pub type PathParts = Vec<String>;

/// A part of a path around its last number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Numbered {
    before: String,
    number: u64,
    after: String,
}

impl Numbered {
    fn parse(part: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit();
        let end = part.bytes().rposition(is_digit)? + 1;
        let start =
            part.as_bytes().get(..end)?.iter().rposition(|byte| !is_digit(*byte)).map_or(0, |at| at + 1);
        let number = part.get(start..end)?.parse().ok()?;
        Some(Self { before: part.get(..start)?.to_owned(), number, after: part.get(end..)?.to_owned() })
    }

    fn word_before(&self) -> String {
        self.before
            .trim_end_matches(['-', '_', '.', ' ', '='])
            .rsplit(['-', '_', '.', ' '])
            .next()
            .unwrap_or("")
            .to_ascii_lowercase()
    }

    fn counts_runs_by_name(&self) -> bool {
        let word = self.word_before();
        RUN_WORDS.contains(&word.as_str()) || word == "r" && self.before.len() == 1
    }

    fn is_parameter_by_name(&self) -> bool {
        let singular = |word: &str| word.trim_end_matches("es").trim_end_matches('s').to_owned();
        let after = self
            .after
            .trim_start_matches(['-', '_', '.', ' '])
            .split(['-', '_', '.', ' '])
            .next()
            .unwrap_or("");
        // In `64-workers.3` the word has a number of its own already.
        let before = self.before.trim_end_matches(['-', '_', '.', ' ', '=']);
        let mut words = before.rsplit(['-', '_', '.', ' ']).skip(1);
        let is_taken = words
            .next()
            .is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()));
        let word_before = if is_taken { String::new() } else { self.word_before() };
        [word_before, after.to_ascii_lowercase()].iter().any(|word| {
            PARAMETER_WORDS.iter().any(|known| word == known || singular(word) == singular(known))
        })
    }

    fn without_number(&self) -> String {
        let before = self.before.trim_end_matches(['-', '_', '.', ' ', '=']);
        let mut word = before.to_owned();
        if RUN_WORDS.contains(&self.word_before().as_str()) || self.counts_runs_by_name() {
            word.truncate(before.len() - self.word_before().len());
        }
        let after = self.after.trim_start_matches(['-', '_', '.', ' ']);
        let word = word.trim_end_matches(['-', '_', '.', ' ']);
        if word.is_empty() || after.is_empty() { format!("{word}{after}") } else { format!("{word}-{after}") }
    }
}

/// The labels of all files, in the order given; a file whose path says nothing has an empty one.
#[must_use]
pub fn label_files(variants: &[Vec<PathParts>]) -> Vec<Vec<String>> {
    let bare: Vec<Vec<PathParts>> =
        variants.iter().map(|files| files.iter().map(without_ending).collect()).collect();
    let families = Families::new(&bare);
    let stripped: Vec<Vec<PathParts>> =
        bare.iter().map(|files| files.iter().map(|parts| families.strip(parts)).collect()).collect();
    let all = || stripped.iter().flatten();
    // What all files have in common distinguishes nothing.
    let common = all().next().cloned().unwrap_or_default();
    let is_common =
        |at: usize| all().all(|parts| parts.get(at) == common.get(at) && parts.len() == common.len());
    let label = |parts: &PathParts| {
        let rest = parts.iter().enumerate().filter(|(at, part)| !is_common(*at) && !part.is_empty());
        rest.map(|(_, part)| part.as_str()).collect::<Vec<_>>().join("/")
    };
    let labels: Vec<Vec<String>> = stripped.iter().map(|files| files.iter().map(label).collect()).collect();
    agree(labels)
}

/// Labels by which variants can be compared: none where each variant has one only.
fn agree(labels: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let sets = |labels: &[Vec<String>]| -> Vec<BTreeSet<String>> {
        labels.iter().map(|files| files.iter().cloned().collect()).collect()
    };
    let distinct = sets(&labels);
    if distinct.iter().all(|set| set.len() <= 1) {
        return labels.into_iter().map(|files| files.into_iter().map(|_| String::new()).collect()).collect();
    }
    let is_shared = |set: &BTreeSet<String>| distinct.first().is_some_and(|first| !first.is_disjoint(set));
    if distinct.iter().all(is_shared) {
        return labels;
    }
    // Names of variants in names of files: `old-hackbench`, `old-tbench` against `new-hackbench`, `new-tbench`.
    let cut = |files: Vec<String>| {
        let common = common_beginning(&files);
        files.into_iter().map(|label| label.get(common..).unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    labels.into_iter().map(cut).collect()
}

/// Bytes that all begin with, up to a mark between words.
fn common_beginning(texts: &[String]) -> usize {
    let Some(first) = texts.first() else { return 0 };
    let is_common =
        |end: &usize| first.get(..*end).is_some_and(|begin| texts.iter().all(|text| text.starts_with(begin)));
    let ends = first.match_indices(['-', '_', '.', '/', ' ']).map(|(at, _)| at + 1);
    ends.take_while(is_common).last().unwrap_or(0)
}

/// The path without the ending of the file's name, if that is letters.
fn without_ending(parts: &PathParts) -> PathParts {
    let mut parts = parts.clone();
    let Some(file) = parts.last_mut() else { return parts };
    if let Some((stem, ending)) = file.rsplit_once('.') {
        let is_ending = !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_alphabetic());
        if is_ending && !stem.is_empty() {
            *file = stem.to_owned();
        }
    }
    parts
}

/// The rest of a path with a place for one part, and that part around its number.
type Family = (PathParts, usize, String, String);

/// Numbers that stand at the same place of paths that are equal otherwise, over all variants.
struct Families {
    numbers: BTreeMap<Family, BTreeSet<u64>>,
}

impl Families {
    fn new(variants: &[Vec<PathParts>]) -> Self {
        let mut numbers: BTreeMap<Family, BTreeSet<u64>> = BTreeMap::new();
        for parts in variants.iter().flatten() {
            for (at, part) in parts.iter().enumerate() {
                if let Some(numbered) = Numbered::parse(part) {
                    numbers.entry(family(parts, at, &numbered)).or_default().insert(numbered.number);
                }
            }
        }
        Self { numbers }
    }

    /// Whether the numbers are 0, 1, 2 … or 1, 2, 3 …: those of parameters double, or are round.
    fn count_up(&self, parts: &PathParts, at: usize, numbered: &Numbered) -> bool {
        let Some(numbers) = self.numbers.get(&family(parts, at, numbered)) else { return false };
        let first = numbers.first().copied().unwrap_or(u64::MAX);
        first <= 1 && numbers.iter().zip(first..).all(|(number, expected)| *number == expected)
    }

    /// The path without the number of the run.
    fn strip(&self, parts: &PathParts) -> PathParts {
        let numbered: Vec<(usize, Numbered)> =
            parts.iter().enumerate().filter_map(|(at, part)| Some((at, Numbered::parse(part)?))).collect();
        let by_name: Vec<&(usize, Numbered)> =
            numbered.iter().filter(|(_, numbered)| numbered.counts_runs_by_name()).collect();
        let counted = || {
            let counted = |(at, numbered): &&(usize, Numbered)| {
                !numbered.is_parameter_by_name() && self.count_up(parts, *at, numbered)
            };
            numbered.iter().rev().find(counted)
        };
        let chosen = if by_name.is_empty() { counted().into_iter().collect() } else { by_name };
        let mut stripped = parts.clone();
        for (at, numbered) in chosen {
            if let Some(part) = stripped.get_mut(*at) {
                *part = numbered.without_number();
            }
        }
        stripped
    }
}

fn family(parts: &PathParts, at: usize, numbered: &Numbered) -> Family {
    let mut rest = parts.clone();
    if let Some(part) = rest.get_mut(at) {
        part.clear();
    }
    (rest, at, numbered.before.clone(), numbered.after.clone())
}

/// Orders names as people count: `run-2` before `run-10`.
#[must_use]
pub fn natural_order(left: &str, right: &str) -> std::cmp::Ordering {
    let keys = |text: &str| -> Vec<(u8, u64, String)> {
        let mut found: Vec<(u8, u64, String)> = Vec::new();
        for letter in text.chars() {
            let is_digit = letter.is_ascii_digit();
            match found.last_mut().filter(|(kind, ..)| (*kind == 0) == is_digit) {
                Some((_, _, text)) => text.push(letter),
                None => found.push((u8::from(!is_digit), 0, letter.to_string())),
            }
        }
        for (kind, number, text) in &mut found {
            if *kind == 0 {
                *number = text.parse().unwrap_or(u64::MAX);
            }
        }
        found
    };
    keys(left).cmp(&keys(right)).then_with(|| left.cmp(right))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(variants: &[&[&str]]) -> Vec<Vec<String>> {
        let parts = |path: &&str| path.split('/').map(str::to_owned).collect();
        let variants: Vec<Vec<PathParts>> =
            variants.iter().map(|files| files.iter().map(parts).collect()).collect();
        label_files(&variants)
    }

    #[test]
    fn numbers_that_count_up_are_runs_and_others_name_cases() {
        assert_eq!(
            labels(&[&["a.1.txt", "a.2.txt", "b.txt"], &["a.1.txt", "b.txt"]]),
            [vec!["a", "a", "b"], vec!["a", "b"]]
        );
        assert_eq!(labels(&[&["1", "2", "4", "8"], &["1", "2", "4", "8"]])[0], ["1", "2", "4", "8"]);
        assert_eq!(
            labels(&[&["stream-10.log", "stream-100.log"], &["stream-10.log"]])[0],
            ["stream-10", "stream-100"]
        );
        assert_eq!(labels(&[&["run1/w2", "run1/w4", "run2/w2", "run2/w4"]])[0], ["w2", "w4", "w2", "w4"]);
        assert_eq!(labels(&[&["run3/x.txt", "run7/x.txt"]])[0], ["", ""]);
        assert_eq!(
            labels(&[&["1-clients", "2-clients"], &["1-clients", "2-clients"]])[0],
            ["1-clients", "2-clients"]
        );
        assert_eq!(
            labels(&[&["1/1", "1/2", "2/1", "2/2"]])[0],
            ["1", "1", "2", "2"],
            "one number counts runs"
        );
        let workers = ["1-workers.0.txt", "1-workers.1.txt", "8-workers.0.txt", "8-workers.1.txt"];
        assert_eq!(labels(&[&workers])[0], ["1-workers", "1-workers", "8-workers", "8-workers"]);
    }

    #[test]
    fn variants_agree_on_labels() {
        assert_eq!(labels(&[&["old-1"], &["new-1", "new-2"]]), [vec![""], vec!["", ""]]);
        assert_eq!(
            labels(&[&["old-hack", "old-pipe"], &["new-hack", "new-pipe"]]),
            [["hack", "pipe"], ["hack", "pipe"]]
        );
        assert_eq!(labels(&[&["logs/x/a", "logs/y/a"], &["logs/x/a"]])[0], ["x", "y"]);
    }

    #[test]
    fn names_are_ordered_as_people_count() {
        let mut names = ["run-10", "run-2", "a", "run-1b", "run-1"];
        names.sort_by(|left, right| natural_order(left, right));
        assert_eq!(names, ["a", "run-1", "run-1b", "run-2", "run-10"]);
    }
}
