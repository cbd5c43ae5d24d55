//! A row a metric: means with intervals, change with interval, p-value and verdict.

use super::figures::{p_value, signed_percent};
use super::grid::Grid;
use super::intervals::mean_with_interval;
use crate::comparison::{Comparison, ComparisonRow, RowChange, RowVerdict};
use crate::measurement::BetterDirection;
use crate::statistics::summary::RunSummary;
use std::fmt::Write;

/// The table as text.
#[must_use]
pub fn draw_table(comparison: &Comparison) -> String {
    let mut out = head(comparison);
    let mut grid = Grid::default();
    for row in table_rows(comparison) {
        grid.push(row);
    }
    grid.plain(&mut out);
    let _ = writeln!(out, "{}", counts(comparison));
    out
}

/// The table in Markdown.
#[must_use]
pub fn draw_markdown(comparison: &Comparison) -> String {
    let mut out = String::new();
    for (index, row) in table_rows(comparison).iter().enumerate() {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
        if index == 0 {
            let _ = writeln!(out, "|{}", " --- |".repeat(row.len()));
        }
    }
    let _ = writeln!(out, "\n{}\n{}", escape(head(comparison).trim()), escape(&counts(comparison)));
    out
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => out.extend(['\\', letter]),
            other => out.push(other),
        }
    }
    out
}

/// How it was compared, in a line.
fn head(comparison: &Comparison) -> String {
    let test = if comparison.is_paired { "paired t-tests" } else { "Welch's t-tests" };
    format!(
        "means with 95 % intervals (Student), changes with 95 % intervals (Fieller); p of {test}, adjusted for {} (Holm)\n",
        comparison.tests
    )
}

/// How many rows have which verdict.
pub(super) fn counts(comparison: &Comparison) -> String {
    let verdicts = [
        RowVerdict::Better,
        RowVerdict::Worse,
        RowVerdict::Different,
        RowVerdict::NoDifferenceShown,
        RowVerdict::ProvesNothing,
    ];
    let count = |verdict: RowVerdict| {
        let changes = comparison.rows.iter().flat_map(|row| row.changes.iter().flatten());
        changes.filter(|change| change.verdict == verdict).count()
    };
    let found = verdicts.into_iter().map(|verdict| (verdict, count(verdict))).filter(|(_, count)| *count > 0);
    found.map(|(verdict, count)| format!("{count} {}", verdict.words())).collect::<Vec<_>>().join(", ")
}

fn table_rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let mut head = vec!["metric".to_owned()];
    head.extend(comparison.variants.iter().cloned());
    let others = comparison.variants.get(1..).unwrap_or_default();
    for other in others {
        let of_other = if others.len() > 1 { format!(" {other}") } else { String::new() };
        head.extend(["change", "p", "verdict"].map(|name| format!("{name}{of_other}")));
    }
    let mut rows = vec![head];
    rows.extend(comparison.rows.iter().map(metric_row));
    rows
}

fn metric_row(row: &ComparisonRow) -> Vec<String> {
    let unit = match row.traits.unit.as_str() {
        "" => String::new(),
        unit => format!(", {unit}"),
    };
    let better = match row.traits.better {
        BetterDirection::Lower => " (lower is better)",
        BetterDirection::Higher => " (higher is better)",
        BetterDirection::Unknown => "",
    };
    let mut cells = vec![format!("{}{unit}{better}", row.metric.name())];
    let summary =
        |summary: &Option<RunSummary>| summary.as_ref().map_or_else(|| "-".to_owned(), mean_with_interval);
    cells.extend(row.summaries.iter().map(summary));
    for change in &row.changes {
        match change {
            Some(change) => {
                cells.extend([change_text(change), p_value(change.adjusted_p), verdict_text(change)])
            }
            None => cells.extend(["-".to_owned(), "-".to_owned(), "in one of both only".to_owned()]),
        }
    }
    cells
}

/// `-1.20% [-2.51, +0.13]`
pub(super) fn change_text(change: &RowChange) -> String {
    let percent = signed_percent(change.percent);
    match change.interval {
        Some(interval) => format!("{percent} [{:+.2}, {:+.2}]", interval.low, interval.high),
        None if change.is_unbounded => format!("{percent} [unbounded]"),
        None => percent,
    }
}

/// `better`, `proves nothing (n = 1)`.
pub(super) fn verdict_text(change: &RowChange) -> String {
    match change.reason.as_str() {
        "" => change.verdict.words().to_owned(),
        reason => format!("{} ({reason})", change.verdict.words()),
    }
}
