//! Purposes of groups of members: the work whose functions touch them.
//!
//! A stem is a word of a function's name. A group is called by the stem that most of its accesses have in their functions'
//! names, and that the rest of the struct's accesses have less: what all functions share says nothing.

use crate::result::rounded;
use std::collections::BTreeMap;

/// Letters that a stem has at least.
const LEAST_LETTERS: usize = 3;
/// Share of a group's accesses whose functions must have its stem.
const LEAST_SHARE: f64 = 0.25;
/// How many times the stem's share of the whole struct's accesses that must be.
const LEAST_LIFT: f64 = 1.25;
/// Most functions that are named.
const NAMED: usize = 6;

/// Accesses by function's name.
pub(super) type FunctionCounts<'f> = BTreeMap<&'f str, u64>;

/// The stem that says what a group is for, if any. `name` is the struct's: its words say nothing.
pub(super) fn find_stem(group: &FunctionCounts<'_>, all: &FunctionCounts<'_>, name: &str) -> Option<String> {
    let own: Vec<&str> = words(name).collect();
    let mut best: Option<(f64, &str)> = None;
    for stem in group.keys().flat_map(|function| words(function)) {
        if own.iter().any(|word| stem.contains(word) || word.contains(stem)) {
            continue;
        }
        let (here, everywhere) = (share_of(group, stem), share_of(all, stem));
        let score = here * (here - everywhere);
        let is_better = best.is_none_or(|(known, other)| score > known || score == known && stem < other);
        if here >= LEAST_SHARE && here >= LEAST_LIFT * everywhere && is_better {
            best = Some((score, stem));
        }
    }
    best.map(|(_, stem)| stem.to_owned())
}

/// The functions with most accesses to a group, and their shares.
pub(super) fn rank_functions(group: &FunctionCounts<'_>) -> Vec<(String, f64)> {
    let total = group.values().sum::<u64>().max(1) as f64;
    let mut ranked: Vec<(&&str, &u64)> = group.iter().collect();
    ranked.sort_by(|this, other| other.1.cmp(this.1).then_with(|| this.0.cmp(other.0)));
    let share = |count: &u64| rounded(*count as f64 / total, 1_000.0);
    ranked.into_iter().take(NAMED).map(|(name, count)| ((*name).to_owned(), share(count))).collect()
}

/// Words of a name without what compilers append.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let plain = name.split('.').next().unwrap_or_default();
    let is_word =
        |word: &&str| word.len() >= LEAST_LETTERS && word.bytes().all(|byte| byte.is_ascii_lowercase());
    plain.split(['_', ':', '<', '>']).filter(is_word)
}

/// Share of accesses whose functions have a word with the stem in it: `unthrottle` has `throttle`.
fn share_of(counts: &FunctionCounts<'_>, stem: &str) -> f64 {
    let with = counts.iter().filter(|(function, _)| words(function).any(|word| word.contains(stem)));
    with.map(|(_, count)| count).sum::<u64>() as f64 / counts.values().sum::<u64>().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_called_by_what_its_functions_share_and_others_do_not() {
        let group =
            FunctionCounts::from([("q_throttle", 50), ("q_unthrottle_up", 30), ("q_update_load", 20)]);
        let all = FunctionCounts::from([("q_throttle", 50), ("q_unthrottle_up", 30), ("q_update_load", 400)]);
        assert_eq!(find_stem(&group, &all, "queue"), Some("throttle".to_owned()));
        assert_eq!(find_stem(&all, &all, "queue"), None, "the whole struct has no purpose of its own");
        assert_eq!(find_stem(&group, &all, "throttle_state"), None, "the struct's own words say nothing");
    }

    #[test]
    fn the_functions_with_most_accesses_come_first() {
        let group = FunctionCounts::from([("a", 1), ("b", 5), ("c", 5), ("d", 9)]);
        let names: Vec<String> = rank_functions(&group).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["d", "b", "c", "a"]);
    }
}
