//! Tables of means with 95 % intervals: of a metric by cases, variants below each other with the change, and of
//! benchmarks with one case, variants side by side.

use super::figures::{count_scale, decimals, signed_percent, significant, with_commas};
use super::grid::Grid;
use super::groups::{RowGroup, group_rows};
use crate::comparison::{Comparison, ComparisonRow};
use crate::statistics::summary::RunSummary;

/// The main results; those that a tool prints beside them only where there are no others.
#[must_use]
pub fn draw_intervals(comparison: &Comparison) -> String {
    let has_key = comparison.rows.iter().any(|row| row.traits.is_key);
    let groups = group_rows(comparison, |row| row.traits.is_key || !has_key);
    let (by_machine, rest): (Vec<RowGroup<'_>>, Vec<RowGroup<'_>>) =
        groups.into_iter().partition(has_machine);
    let (repeated, single): (Vec<RowGroup<'_>>, Vec<RowGroup<'_>>) =
        rest.into_iter().partition(has_several_runs);
    let (by_case, alone): (Vec<RowGroup<'_>>, Vec<RowGroup<'_>>) =
        repeated.into_iter().partition(|group| group.rows.len() > 1);
    let mut tables: Vec<String> = Vec::new();
    for groups in same_metrics(by_machine.into_iter().chain(by_case).collect()) {
        tables.push(draw_cases(comparison, &groups));
    }
    let alone: Vec<&ComparisonRow> = alone.iter().filter_map(RowGroup::first).collect();
    if !alone.is_empty() {
        tables.push(draw_benchmarks(comparison, &alone));
    }
    let single: Vec<&ComparisonRow> = single.iter().flat_map(|group| group.rows.iter().copied()).collect();
    for rows in same_measures(&single) {
        tables.push(draw_single_runs(comparison, &rows));
    }
    tables.join("\n")
}

fn has_several_runs(group: &RowGroup<'_>) -> bool {
    group.rows.iter().any(|row| row.summaries.iter().flatten().any(|summary| summary.runs > 1))
}

fn has_machine(group: &RowGroup<'_>) -> bool {
    group.first().is_some_and(|row| !row.metric.machine.is_empty())
}

/// Groups of one metric on several machines.
fn same_metrics(groups: Vec<RowGroup<'_>>) -> Vec<Vec<RowGroup<'_>>> {
    let mut found: Vec<Vec<RowGroup<'_>>> = Vec::new();
    for group in groups {
        let Some(row) = group.first() else { continue };
        let is_same = |known: &&mut Vec<RowGroup<'_>>| {
            let first = known.first().and_then(RowGroup::first);
            first.is_some_and(|first| {
                first.metric.test == row.metric.test && first.metric.measure == row.metric.measure
            })
        };
        match found.iter_mut().find(is_same) {
            Some(known) => known.push(group),
            None => found.push(vec![group]),
        }
    }
    found
}

fn same_measures<'c>(rows: &[&'c ComparisonRow]) -> Vec<Vec<&'c ComparisonRow>> {
    let mut found: Vec<Vec<&'c ComparisonRow>> = Vec::new();
    for row in rows {
        let is_same = |known: &&mut Vec<&ComparisonRow>| {
            known.first().is_some_and(|first| {
                first.metric.measure == row.metric.measure && first.traits.unit == row.traits.unit
            })
        };
        match found.iter_mut().find(is_same) {
            Some(known) => known.push(row),
            None => found.push(vec![row]),
        }
    }
    found
}

/// The ends of an interval, or the mean alone.
fn shown_values(summary: &RunSummary) -> Vec<f64> {
    summary.mean_interval.map_or(vec![summary.mean], |interval| vec![interval.low, interval.high])
}

/// How values of one table are written: scaled and with so many digits behind the point.
struct ValueFormat {
    divisor: f64,
    suffix: String,
    decimals: usize,
}

impl ValueFormat {
    fn new<'c>(rows: impl Iterator<Item = &'c ComparisonRow> + Clone) -> Self {
        let unit = rows.clone().next().map(|row| row.traits.unit.clone()).unwrap_or_default();
        let values = rows.flat_map(|row| row.summaries.iter().flatten()).flat_map(shown_values);
        let values: Vec<f64> = values.collect();
        let (divisor, letter) = if unit.is_empty() { count_scale(values.iter().copied()) } else { (1.0, "") };
        let least =
            values.iter().map(|value| value.abs() / divisor).filter(|value| *value > 0.0).reduce(f64::min);
        let decimals = if letter.is_empty() { decimals(least.unwrap_or(1.0)) } else { 1 };
        let suffix = if unit.is_empty() { letter.to_owned() } else { format!(" {unit}") };
        Self { divisor, suffix, decimals }
    }

    /// `[3025.5, 3344.1]M`, or the value of a single run.
    fn write(&self, summary: Option<&RunSummary>) -> String {
        let Some(summary) = summary else { return "-".to_owned() };
        let number = |value: f64| format!("{:.*}", self.decimals, value / self.divisor);
        match summary.mean_interval {
            Some(interval) => format!("[{}, {}]{}", number(interval.low), number(interval.high), self.suffix),
            None => format!("{}{} (n = {})", number(summary.mean), self.suffix, summary.runs),
        }
    }
}

/// Cases side by side, variants below each other: the same metric on all machines.
fn draw_cases(comparison: &Comparison, groups: &[RowGroup<'_>]) -> String {
    let Some(first) = groups.first().and_then(RowGroup::first) else { return String::new() };
    let mut cases: Vec<&str> = Vec::new();
    for row in groups.iter().flat_map(|group| &group.rows) {
        if !cases.contains(&row.metric.case.as_str()) {
            cases.push(&row.metric.case);
        }
    }
    let format = ValueFormat::new(groups.iter().flat_map(|group| group.rows.iter().copied()));
    let mut grid = Grid::default();
    let parts = [first.metric.test.as_str(), first.metric.measure.as_str()];
    let title: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let title =
        if title.first() == Some(&"perf stat") { first.metric.measure.clone() } else { title.join(" ") };
    grid.push([title].into_iter().chain(cases.iter().map(|case| (*case).to_owned())).collect());
    grid.rule();
    for group in groups {
        let machine = group.first().map(|row| row.metric.machine.as_str()).unwrap_or_default();
        let named =
            |name: &str| if machine.is_empty() { name.to_owned() } else { format!("{machine}-{name}") };
        let row_of = |case: &str| group.rows.iter().find(|row| row.metric.case == case);
        for (index, variant) in comparison.variants.iter().enumerate() {
            let cell = |case: &&str| {
                let summary = row_of(case).and_then(|row| row.summaries.get(index)?.as_ref());
                format.write(summary)
            };
            grid.push([named(variant)].into_iter().chain(cases.iter().map(cell)).collect());
            if index > 0 {
                let change = |case: &&str| {
                    let change = row_of(case).and_then(|row| row.changes.get(index - 1)?.as_ref());
                    signed_percent(change.and_then(|change| change.percent))
                };
                grid.push(["Change".to_owned()].into_iter().chain(cases.iter().map(change)).collect());
            }
        }
    }
    let mut out = String::new();
    grid.boxed(&mut out);
    out
}

/// The benchmark's name, with its case if that is needed to tell it from another.
fn benchmark_name(row: &ComparisonRow, all: &[&ComparisonRow]) -> String {
    let (test, case) = (row.metric.test.as_str(), row.metric.case.as_str());
    let has_cases = all.iter().any(|other| other.metric.test == test && other.metric.case != case);
    let is_only_test = all.iter().all(|other| other.metric.test == test);
    match (has_cases && !case.is_empty(), is_only_test) {
        (true, true) => case.to_owned(),
        (true, false) => [test, case].join(" "),
        (false, _) if test.is_empty() => case.to_owned(),
        (false, _) => test.to_owned(),
    }
}

/// `sysbench | 45.05 [44.69, 45.42] | 44.51 [43.99, 45.04] | avg latency`
fn draw_benchmarks(comparison: &Comparison, rows: &[&ComparisonRow]) -> String {
    let mut grid = Grid::default();
    let names = comparison.variants.iter().cloned();
    grid.push([String::new()].into_iter().chain(names).chain(["metric".to_owned()]).collect());
    grid.rule();
    for row in rows {
        let cell = |summary: &Option<RunSummary>| match summary {
            Some(summary) => mean_with_interval(summary),
            None => "-".to_owned(),
        };
        let measure =
            if row.metric.measure.is_empty() { row.traits.unit.clone() } else { row.metric.measure.clone() };
        let cells =
            [benchmark_name(row, rows)].into_iter().chain(row.summaries.iter().map(cell)).chain([measure]);
        grid.push(cells.collect());
    }
    let mut out = String::new();
    grid.barred(&mut out);
    out
}

/// `45.05 [44.69, 45.42]`; of a single run the value, and that it is one.
pub(super) fn mean_with_interval(summary: &RunSummary) -> String {
    let mean = significant(summary.mean);
    match summary.mean_interval {
        Some(interval) => format!("{mean} [{}, {}]", significant(interval.low), significant(interval.high)),
        None => format!("{mean} (n = {})", summary.runs),
    }
}

/// Values of single runs, of one measure: `hackbench | 3,294M | 3,169M`.
fn draw_single_runs(comparison: &Comparison, rows: &[&ComparisonRow]) -> String {
    let mut grid = Grid::default();
    grid.push([String::new()].into_iter().chain(comparison.variants.iter().cloned()).collect());
    grid.rule();
    let format = ValueFormat::new(rows.iter().copied());
    let decimals = if format.divisor > 1.0 { 0 } else { format.decimals };
    for row in rows {
        let cell = |summary: &Option<RunSummary>| match summary {
            Some(summary) => with_commas(summary.mean / format.divisor, decimals) + &format.suffix,
            None => "-".to_owned(),
        };
        grid.push([benchmark_name(row, rows)].into_iter().chain(row.summaries.iter().map(cell)).collect());
    }
    let measure = rows.first().map(|row| row.metric.measure.as_str()).unwrap_or_default();
    let mut out = if measure.is_empty() { String::new() } else { format!("{measure}, one run each:\n") };
    grid.barred(&mut out);
    out
}
