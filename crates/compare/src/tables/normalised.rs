//! Tables by test of values relative to the base: `value [pct imp](CV)`, as scheduler posts have them. Positive
//! percentages are better. Benchmarks of their own stand in one list of differences.

use super::groups::{RowGroup, group_rows};
use crate::comparison::{Comparison, ComparisonRow};
use crate::measurement::{BetterDirection, RunAverage};
use std::fmt::Write;

const RULE: &str = "==================================================================";
/// The quantity of rows that are listed as differences.
const DIFFERENCE: &str = "%diff";

/// All main results. Those that a tool prints beside them are left out.
#[must_use]
pub fn draw_normalised(comparison: &Comparison) -> String {
    let (listed, tabled): (Vec<RowGroup<'_>>, Vec<RowGroup<'_>>) =
        group_rows(comparison, |row| row.traits.is_key).into_iter().partition(is_listed);
    let mut tables: Vec<String> = Vec::new();
    for group in &tabled {
        tables.push(draw_test(comparison, group, &title(group, &tabled)));
    }
    let mut lists: Vec<(String, Vec<&ComparisonRow>)> = Vec::new();
    for group in &listed {
        let name = title(group, &[]);
        match lists.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.extend(&group.rows),
            None => lists.push((name, group.rows.clone())),
        }
    }
    tables.extend(lists.iter().map(|(name, rows)| draw_list(comparison, name, rows)));
    tables.join("\n\n")
}

fn is_listed(group: &RowGroup<'_>) -> bool {
    group.first().is_some_and(|row| row.traits.quantity.starts_with(DIFFERENCE))
}

/// The test's name; with its measure where another table has that name too.
fn title(group: &RowGroup<'_>, all: &[RowGroup<'_>]) -> String {
    let own = |row: &ComparisonRow| {
        let name = if row.traits.table.is_empty() { &row.metric.test } else { &row.traits.table };
        match row.metric.machine.as_str() {
            "" => name.clone(),
            machine => format!("{machine} {name}"),
        }
    };
    let Some(first) = group.first() else { return String::new() };
    let name = own(first);
    let same = all.iter().filter_map(RowGroup::first).filter(|row| own(row) == name).count();
    if same > 1 { format!("{name}-{}", first.metric.measure.replace(' ', "-")) } else { name }
}

fn draw_head(out: &mut String, name: &str, units: &str, row: &ComparisonRow) {
    let better = match row.traits.better {
        BetterDirection::Lower => "Lower is better",
        BetterDirection::Higher => "Higher is better",
        BetterDirection::Unknown => "not known which is better",
    };
    let _ = writeln!(
        out,
        "{RULE}\nTest          : {name}\nUnits         : {units}\nInterpretation: {better}\nStatistic     : {}\n{RULE}",
        row.traits.average.name()
    );
}

fn draw_test(comparison: &Comparison, group: &RowGroup<'_>, name: &str) -> String {
    let mut out = String::new();
    let Some(first) = group.first() else { return out };
    draw_head(&mut out, name, &format!("Normalized {}", first.traits.quantity), first);
    let shown = |row: &ComparisonRow| match row.metric.case.as_str() {
        "" => row.metric.test.clone(),
        case => case.to_owned(),
    };
    let axis = format!("{}:", first.traits.axis);
    let names = group.rows.iter().map(|row| shown(row).chars().count()).chain([axis.chars().count()]);
    let width = names.max().unwrap_or(0);
    // The width of `value [pct imp](CV)`, with a blank where it has one more.
    let column = comparison.variants.iter().map(|name| name.chars().count() + 13).max().unwrap_or(0).max(25);
    let mut head = format!("{axis:<width$}");
    for variant in &comparison.variants {
        let _ = write!(head, "  {:>column$}", format!("{variant}[pct imp](CV)"));
    }
    let _ = writeln!(out, "{}", head.trim_end());
    for row in &group.rows {
        let mut line = format!("{:<width$}", shown(row));
        for index in 0..comparison.variants.len() {
            let _ = write!(line, "  {:>column$}", cell(row, index));
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

/// `1.01 [ -0.89]( 2.84)`. Medians of what is better lower have a blank before the CV in others than the base, as
/// they have in posts.
fn cell(row: &ComparisonRow, index: usize) -> String {
    let relative = row.average(index).zip(row.average(0)).map(|(other, base)| other / base);
    let Some(relative) = relative.filter(|relative| relative.is_finite()) else { return "-".to_owned() };
    let is_lower = row.traits.better == BetterDirection::Lower;
    // The base's is a zero that was negated where lower is better.
    let improvement = if is_lower { -((relative - 1.0) * 100.0) } else { (relative - 1.0) * 100.0 };
    let blank = if index > 0 && is_lower && row.traits.average == RunAverage::Median { " " } else { "" };
    let variation = row.summaries.get(index).copied().flatten().and_then(|summary| summary.variation());
    let variation = variation.map_or_else(|| " n=1 ".to_owned(), |variation| format!("{variation:>5.2}"));
    format!("{relative:.2} [{improvement:>6.2}]{blank}({variation})")
}

/// `name  -10.70%`, with a blank line between those whose names begin differently.
fn draw_list(comparison: &Comparison, name: &str, rows: &[&ComparisonRow]) -> String {
    let mut out = String::new();
    let Some(first) = rows.first() else { return out };
    let units =
        if first.traits.quantity == DIFFERENCE { "%diff reported" } else { first.traits.quantity.as_str() };
    draw_head(&mut out, name, units, first);
    let others = comparison.variants.get(1..).unwrap_or_default();
    let shown = |row: &ComparisonRow| {
        let parts = [&row.metric.test, &row.metric.case];
        let is_own = |part: &&&String| !part.is_empty() && **part != name;
        parts.iter().filter(|part| is_own(part)).map(|part| part.as_str()).collect::<Vec<_>>().join(" ")
    };
    let axis = "Benchmarks:".to_owned();
    let width = rows.iter().map(|row| shown(row).chars().count()).max().unwrap_or(0).max(axis.len());
    let mut head = format!("{axis:<width$}");
    for other in others {
        let title = if others.len() > 1 { format!("{other} %diff") } else { "%diff".to_owned() };
        let _ = write!(head, "  {title:>12}");
    }
    let _ = writeln!(out, "{head}");
    let mut before: Option<String> = None;
    for row in rows {
        let name = shown(row);
        let family = name.split(['-', ' ', '_']).next().unwrap_or_default().to_owned();
        if before.as_ref().is_some_and(|before| *before != family) {
            out.push('\n');
        }
        let _ = write!(out, "{name:<width$}");
        for index in 1..comparison.variants.len() {
            let change =
                row.average(index).zip(row.average(0)).map(|(other, base)| (other / base - 1.0) * 100.0);
            let change = change.filter(|change| change.is_finite());
            let text = change.map_or_else(|| "-".to_owned(), |change| format!("{change:.2}%"));
            let _ = write!(out, "  {text:>12}");
        }
        out.push('\n');
        before = Some(family);
    }
    out
}
