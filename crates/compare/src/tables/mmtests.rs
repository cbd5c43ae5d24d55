//! Tables as mmtests' compare scripts print: improvements in parentheses, in asterisks where Welch's test finds a
//! difference.

use super::figures::significant;
use super::groups::{RowGroup, group_rows};
use crate::comparison::{Comparison, ComparisonRow, LEVEL};
use std::fmt::Write;

/// All metrics; percentages are positive where a variant is better.
#[must_use]
pub fn draw_mmtests(comparison: &Comparison) -> String {
    let mut out = String::new();
    for group in group_rows(comparison, |_| true) {
        draw_group(&mut out, comparison, &group);
    }
    out
}

fn draw_group(out: &mut String, comparison: &Comparison, group: &RowGroup<'_>) {
    let Some(first) = group.first() else { return };
    let parts = [&first.metric.machine, &first.metric.test, &first.metric.measure];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).map(String::as_str).collect();
    let unit = if first.traits.unit.is_empty() { String::new() } else { format!(" ({})", first.traits.unit) };
    let _ = writeln!(out, "{}{unit}", parts.join(" "));
    let width = group.rows.iter().map(|row| row.metric.case.chars().count()).max().unwrap_or(0).max(6);
    let column = comparison.variants.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(23);
    let mut head = format!("{:<9} {:<width$}", "", "");
    for variant in &comparison.variants {
        let _ = write!(head, " {variant:>column$}");
    }
    let _ = writeln!(out, "{head}");
    for row in &group.rows {
        let mut line = format!("{:<9} {:<width$}", first.traits.average.name(), row.metric.case);
        for index in 0..comparison.variants.len() {
            let _ = write!(line, " {:>column$}", cell(row, index));
        }
        let _ = writeln!(out, "{}", line.trim_end());
        let mut line = format!("{:<9} {:<width$}", "CoeffVar", row.metric.case);
        for summary in &row.summaries {
            let variation = summary.and_then(|summary| summary.variation());
            let text =
                variation.map_or_else(|| "-".to_owned(), |variation| format!("{variation:.2}            "));
            let _ = write!(line, " {text:>column$}");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push('\n');
}

/// `45.05 (   0.00%)`, `44.51 *   1.20%*`.
fn cell(row: &ComparisonRow, index: usize) -> String {
    let Some(average) = row.average(index) else { return "-".to_owned() };
    let Some(improvement) = row.improvement(index) else { return significant(average) };
    let change = index.checked_sub(1).and_then(|index| row.changes.get(index)?.as_ref());
    let is_significant = change.and_then(|change| change.contrast.p).is_some_and(|p| p < LEVEL);
    let (open, close) = if is_significant { ('*', '*') } else { ('(', ')') };
    // The base's is no negative zero.
    format!("{} {open}{:>7.2}%{close}", significant(average), improvement + 0.0)
}
