//! Patterns weighted by how often what they touch comes from beyond the CPU's own caches.
//!
//! Lines of a hot object are in the cache already; those of an object that was left alone for long are not. Which
//! functions run on such objects shows in the levels that samples name.

use crate::visits::{AccessPattern, FunctionTouch};

/// Samples by which the share of a pattern is drawn to that of all: fewer say nothing.
const PRIOR: f64 = 10.0;

/// How often accesses of each pattern miss, relative to the mean; 1 if the recording names no levels.
pub fn relative_misses(patterns: &[AccessPattern], touches: &[FunctionTouch]) -> Vec<f64> {
    let sum = |count: fn(&FunctionTouch) -> u64| touches.iter().map(count).sum::<u64>() as f64;
    let mean = sum(|touch| touch.far) / sum(|touch| touch.samples).max(1.0);
    let relative = |pattern: &AccessPattern| {
        let (mut missed, mut expected) = (PRIOR, PRIOR);
        for (touch, share) in
            pattern.functions.iter().filter_map(|(index, share)| Some((touches.get(*index)?, share)))
        {
            let part = share * pattern.weight / touch.runs;
            missed += part * touch.far as f64;
            expected += part * touch.samples as f64 * mean;
        }
        missed / expected
    };
    patterns.iter().map(relative).collect()
}

/// Patterns with their weights times what `factor` says of each.
pub fn reweighted(patterns: &[AccessPattern], factor: impl Fn(usize) -> f64) -> Vec<AccessPattern> {
    let patterns = patterns.iter().enumerate();
    let reweighted = patterns
        .map(|(index, pattern)| AccessPattern { weight: pattern.weight * factor(index), ..pattern.clone() });
    reweighted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_functions_that_miss_more_count_more() {
        let touch = |samples, far| FunctionTouch { samples, far, runs: 100.0, ..FunctionTouch::default() };
        let pattern = |index| AccessPattern {
            weight: 100.0,
            functions: vec![(index, 1.0)],
            ..AccessPattern::default()
        };
        let patterns = [pattern(0), pattern(1), pattern(2)];
        let relative = relative_misses(&patterns, &[touch(1000, 10), touch(1000, 190), touch(10, 10)]);
        assert!(relative[0] < 0.25 && relative[1] > 1.7, "{relative:?}");
        assert!(relative[2] > 1.0 && relative[2] < 2.0, "few samples say little: {relative:?}");
        assert_eq!(relative_misses(&patterns, &[touch(9, 0), touch(9, 0), touch(9, 0)]), [1.0; 3]);
        assert_eq!(reweighted(&patterns, |index| index as f64)[2].weight, 200.0);
    }
}
