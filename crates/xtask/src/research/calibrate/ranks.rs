//! Whether candidates rank by their predictions as they do in a replay.

use super::trial::{LINES, Replayed, read};
use anyhow::Result;
use std::cmp::Ordering;
use std::path::Path;

/// Candidates whose figures differ by less than this share rank equal.
const TIE: f64 = 0.005;

/// Rank agreement of candidates at one line size: of lines per visit, and of misses of the shared cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Agreement {
    line: u64,
    lines: f64,
    misses: f64,
}

/// By candidate and line size: predicted lines per visit, and lines weighted by how often they miss.
pub(super) fn predictions(plan: &Path) -> Result<Vec<Vec<(f64, f64)>>> {
    let plan = read(plan)?;
    let candidates = plan["structs"][0]["candidates"].as_array().cloned().unwrap_or_default();
    let of_candidate = |candidate: &serde_json::Value| {
        let at = |line: &u64| {
            let rows = candidate["kept"].as_array()?;
            let kept = rows.iter().find(|row| row["line"] == *line)?;
            Some((-kept["lines"].as_f64()?, -kept["misses"].as_f64()?))
        };
        LINES.iter().map(at).collect::<Option<Vec<_>>>()
    };
    Ok(candidates.iter().filter_map(of_candidate).collect())
}

/// The agreement of predictions and replays, by line size; nothing for fewer than three candidates.
pub(super) fn agreements(predicted: &[Vec<(f64, f64)>], replayed: &[Replayed]) -> Vec<Agreement> {
    if predicted.len() < 3 {
        return Vec::new();
    }
    let at = |(index, line): (usize, &u64)| {
        let pairs: Vec<_> = predicted
            .iter()
            .zip(replayed)
            .filter_map(|(predicted, replayed)| Some((predicted.get(index)?, replayed.get(index)?)))
            .collect();
        let lines: Vec<_> = pairs.iter().map(|(predicted, replayed)| (predicted.0, replayed.1)).collect();
        let misses: Vec<_> = pairs.iter().map(|(predicted, replayed)| (predicted.1, replayed.2)).collect();
        Agreement { line: *line, lines: kendall(&lines), misses: kendall(&misses) }
    };
    LINES.iter().enumerate().map(at).collect()
}

/// Kendall's tau-b (1945) of pairs, from -1 to 1; 0 if either side has one rank only.
fn kendall(pairs: &[(f64, f64)]) -> f64 {
    let compare = |this: f64, other: f64| match (this - other).abs() > TIE * this.abs().max(other.abs()) {
        true => this.total_cmp(&other),
        false => Ordering::Equal,
    };
    let (mut agree, mut left, mut right) = (0_i64, 0_i64, 0_i64);
    for (index, this) in pairs.iter().enumerate() {
        for other in pairs.iter().skip(index + 1) {
            let signs = [compare(this.0, other.0), compare(this.1, other.1)].map(|order| order as i64);
            agree += signs[0] * signs[1];
            left += signs[0].abs();
            right += signs[1].abs();
        }
    }
    if left == 0 || right == 0 { 0.0 } else { agree as f64 / (left as f64 * right as f64).sqrt() }
}

/// The median agreement by line size.
pub(super) fn text(agreements: &mut [Agreement]) -> String {
    let mut out = String::from("rank agreement of candidates (Kendall), median\n");
    for line in LINES {
        let of_line = || agreements.iter().filter(|found| found.line == line);
        let [lines, misses] = [
            super::summary::median(of_line().map(|found| found.lines)),
            super::summary::median(of_line().map(|found| found.misses)),
        ];
        out += &format!(
            "{line:>4} B: lines per visit {lines:.2}, misses of the shared cache {misses:.2}, of {} plans\n",
            of_line().count()
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_counts_pairs_in_order() {
        assert_eq!(kendall(&[(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)]), 1.0);
        assert_eq!(kendall(&[(1.0, 30.0), (2.0, 20.0), (3.0, 10.0)]), -1.0);
        let one_swapped = kendall(&[(1.0, 20.0), (2.0, 10.0), (3.0, 30.0)]);
        assert!((one_swapped - 1.0 / 3.0).abs() < 1e-9);
        assert_eq!(kendall(&[(1.0, 1.0), (1.001, 2.0)]), 0.0, "a tie");
    }
}
