//! Results of kernels that ran: by struct and over all accesses, by function, forecast against found.

use super::color::Palette;
use super::screen::text::{columns, cut, fold};
use fieldline_compare::comparison::{Comparison, ComparisonRow, LEVEL, RowChange};
use fieldline_compare::statistics::summary::ConfidenceInterval;
use fieldline_compare::tables::figures::significant;
use fieldline_plan::result::Interval;
use serde::Serialize;
use std::collections::BTreeSet;

/// Functions that are shown of each kernel and line size.
const TOP_FUNCTIONS: usize = 10;
/// How names of figures begin that a model gives. The texts here say so once, in their head.
const MODELLED: &str = "modelled ";

/// A table of figures: a block a struct, a row a figure, two columns a variant.
pub(crate) fn draw_scores(out: &mut String, paint: Palette, comparison: &Comparison) {
    for test in tests(comparison) {
        let title = if test.contains(' ') { test.to_owned() } else { format!("struct {test}") };
        draw_block(out, paint, &title, comparison, &rows_of(comparison, test));
    }
}

/// LLC misses by function: those with most in any variant, a block a line size.
pub(crate) fn draw_functions(out: &mut String, paint: Palette, comparison: &Comparison) {
    let cases: Vec<&str> = unique(comparison.rows.iter().map(|row| row.metric.case.as_str()));
    for case in cases {
        let rows: Vec<&ComparisonRow> =
            comparison.rows.iter().filter(|row| row.metric.case == case).collect();
        let chosen = top_rows(&rows, comparison.variants.len());
        let title = format!("LLC misses of 1000 accesses by function, {case} lines");
        draw_rows(out, paint, &title, comparison, &chosen, |row| row.metric.test.clone());
    }
}

/// The union of the first rows of each variant, by the largest mean.
fn top_rows<'c>(rows: &[&'c ComparisonRow], variants: usize) -> Vec<&'c ComparisonRow> {
    let mean = |row: &ComparisonRow, variant: usize| {
        row.summaries.get(variant).copied().flatten().map_or(0.0, |summary| summary.mean)
    };
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    for variant in 0..variants {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|first, second| mean(rows[*second], variant).total_cmp(&mean(rows[*first], variant)));
        chosen.extend(order.into_iter().filter(|at| mean(rows[*at], variant) > 0.0).take(TOP_FUNCTIONS));
    }
    let mut chosen: Vec<&ComparisonRow> = chosen.into_iter().filter_map(|at| rows.get(at).copied()).collect();
    chosen.sort_by(|first, second| mean(second, 0).total_cmp(&mean(first, 0)));
    chosen
}

fn tests(comparison: &Comparison) -> Vec<&str> {
    unique(comparison.rows.iter().map(|row| row.metric.test.as_str()))
}

fn unique<'t>(names: impl Iterator<Item = &'t str>) -> Vec<&'t str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

fn rows_of<'c>(comparison: &'c Comparison, test: &str) -> Vec<&'c ComparisonRow> {
    let mut rows: Vec<&ComparisonRow> =
        comparison.rows.iter().filter(|row| row.metric.test == test).collect();
    // Each figure's line sizes stand together, the figures as they appear first.
    let order = unique(rows.iter().map(|row| row.metric.measure.as_str()));
    rows.sort_by_key(|row| order.iter().position(|measure| *measure == row.metric.measure));
    rows
}

fn draw_block(
    out: &mut String,
    paint: Palette,
    title: &str,
    comparison: &Comparison,
    rows: &[&ComparisonRow],
) {
    draw_rows(out, paint, title, comparison, rows, label);
}

/// Such as `LLC misses/1000 visits 64 B`.
pub(super) fn label(row: &ComparisonRow) -> String {
    let measure = row.metric.measure.strip_prefix(MODELLED).unwrap_or(&row.metric.measure);
    format!("{measure}{} {}", row.traits.unit, row.metric.case)
}

fn draw_rows(
    out: &mut String,
    paint: Palette,
    title: &str,
    comparison: &Comparison,
    rows: &[&ComparisonRow],
    label: impl Fn(&ComparisonRow) -> String,
) {
    const BASE: usize = 9;
    const OTHER: usize = 32;
    const MOST_LABEL: usize = 34;
    let labels: Vec<String> = rows.iter().map(|row| cut(&label(row), MOST_LABEL)).collect();
    let width =
        labels.iter().map(|label| columns(label)).max().unwrap_or(0).max(columns(title).min(MOST_LABEL));
    let name = |index: usize| comparison.variants.get(index).map_or("", String::as_str);
    let mut head = format!("{title:<width$}  {:>BASE$}", cut(name(0), BASE));
    for index in 1..comparison.variants.len() {
        head += &format!("  {:<OTHER$}", cut(name(index), OTHER));
    }
    *out += &format!("{}\n", paint.bold(head.trim_end()));
    for (row, label) in rows.iter().zip(&labels) {
        let base = row.summaries.first().copied().flatten();
        let base = base.map_or_else(|| "-".to_owned(), |summary| significant(summary.mean));
        let mut line = format!("{label:<width$}  {base:>BASE$}");
        for (at, change) in row.changes.iter().enumerate() {
            line += &format!("  {:<OTHER$}", change_text(row, at + 1, change.as_ref()));
        }
        *out += line.trim_end();
        *out += "\n";
    }
    *out += "\n";
}

/// A variant's mean and its change: `3.180 -19.4% [-21.0, -17.9] *`; a star if it is significant.
fn change_text(row: &ComparisonRow, variant: usize, change: Option<&RowChange>) -> String {
    let Some(summary) = row.summaries.get(variant).copied().flatten() else { return "-".to_owned() };
    let mean = significant(summary.mean);
    let Some(change) = change else { return mean };
    let percent = change.percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:+.1}%"));
    let interval = change
        .interval
        .map_or_else(String::new, |interval| format!(" [{:+.1}, {:+.1}]", interval.low, interval.high));
    let star = if is_significant(change) { " *" } else { "" };
    format!("{mean:>7} {percent:>7}{interval}{star}")
}

/// Whether the adjusted p-value says so.
pub(super) fn is_significant(change: &RowChange) -> bool {
    change.adjusted_p.is_some_and(|p| p < LEVEL)
}

/// A kernel's changes against the first one.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct KernelText {
    pub(crate) name: String,
    /// Structs whose members were moved.
    pub(crate) reordered: Vec<String>,
    /// Structs that changed because one of these lies in them.
    pub(crate) holders: Vec<String>,
    /// Changes that are more than another place of a member.
    pub(crate) others: Vec<String>,
    /// Whether it follows a plan.
    pub(crate) is_planned: bool,
    /// Differences from the plan's prediction, a sentence each.
    pub(crate) mismatches: Vec<String>,
}

/// A change of lines per visit in percent: as forecast, with its 95 % interval, and as found.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ForecastRow {
    pub(crate) kernel: String,
    #[serde(rename = "struct")]
    pub(crate) name: String,
    /// Bytes of a line.
    pub(crate) line: u64,
    pub(crate) forecast: PercentInterval,
    pub(crate) found: f64,
    pub(crate) found_interval: Option<ConfidenceInterval>,
}

/// A change in percent with its 95 % interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct PercentInterval {
    pub(crate) change: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl From<Interval> for PercentInterval {
    fn from(interval: Interval) -> Self {
        let [change, low, high] = [interval.change, interval.low, interval.high].map(|share| 100.0 * share);
        Self { change, low, high }
    }
}

impl ForecastRow {
    fn is_within(&self) -> bool {
        self.forecast.low <= self.found && self.found <= self.forecast.high
    }
}

/// All that a trial says.
#[derive(Clone, Debug)]
pub(crate) struct TrialText {
    /// Whether programs were tried, not kernels.
    pub(crate) is_program: bool,
    pub(crate) kernels: Vec<KernelText>,
    pub(crate) structs: Comparison,
    pub(crate) functions: Comparison,
    pub(crate) half_caches: Comparison,
    pub(crate) double_caches: Comparison,
    pub(crate) forecasts: Vec<ForecastRow>,
}

/// The text of a trial: what got worse first.
pub(crate) fn draw(out: &mut String, paint: Palette, trial: &TrialText) {
    draw_head(out, trial);
    draw_worse(out, paint, &trial.structs);
    draw_scores(out, paint, &trial.structs);
    draw_forecasts(out, paint, &trial.forecasts);
    draw_cache_sizes(out, trial);
    draw_functions(out, paint, &trial.functions);
}

fn draw_head(out: &mut String, trial: &TrialText) {
    let runs = trial.structs.rows.first().and_then(|row| row.summaries.first().copied().flatten());
    let count = runs.map_or(0, |summary| summary.runs);
    let runs = if trial.is_program {
        "recordings of each program by single steps; misses and HITM are of modelled caches, and of what was recorded"
    } else {
        "boots of each kernel in QEMU; misses and HITM are of modelled caches, at the addresses of each run"
    };
    *out += &format!(
        "{count} {runs}\n\
         change [95 % CI]; * significant at 5 % after Holm, over {} tests\n",
        trial.structs.tests
    );
    for kernel in &trial.kernels {
        let moved = match kernel.reordered.as_slice() {
            [] => "no struct is in another order".to_owned(),
            names => format!("members of {} moved", fold(names, ", ", MOST_NAMES)),
        };
        let holders = match kernel.holders.as_slice() {
            [] => String::new(),
            names => format!("; {} that hold them changed: {}", names.len(), fold(names, ", ", MOST_NAMES)),
        };
        let others = match kernel.others.len() {
            0 => "; no other layout changed".to_owned(),
            count => format!(
                "; {count} other changes, such as {}",
                kernel.others.first().map_or("", String::as_str)
            ),
        };
        let predicted = match (kernel.is_planned, kernel.mismatches.is_empty()) {
            (false, _) => "",
            (true, true) => "; layouts are as predicted",
            (true, false) => "; LAYOUTS ARE NOT AS PREDICTED",
        };
        *out += &format!("{}: {moved}{holders}{others}{predicted}\n", kernel.name);
    }
}

/// Columns that lists of structs take at most.
const MOST_NAMES: usize = 60;

/// The figures that got worse, in each kernel.
fn draw_worse(out: &mut String, paint: Palette, comparison: &Comparison) {
    let mut is_any = false;
    for row in &comparison.rows {
        for (at, change) in row.changes.iter().enumerate() {
            let Some(change) = change.as_ref().filter(|change| is_significant(change)) else { continue };
            let Some(percent) = change.percent.filter(|percent| *percent > 0.0) else { continue };
            let name = comparison.variants.get(at + 1).map_or("", String::as_str);
            let text = format!("worse in {name}: {} {} {percent:+.1}%", row.metric.test, label(row));
            *out += &format!("{}\n", paint.bold(&text));
            is_any = true;
        }
    }
    if !is_any {
        *out += "nothing got significantly worse\n";
    }
    *out += "\n";
}

fn draw_forecasts(out: &mut String, paint: Palette, rows: &[ForecastRow]) {
    if rows.is_empty() {
        return;
    }
    let text = format!("{:<34}  {:<24}  {:<24}", "lines per visit", "forecast [95 % CI]", "found [95 % CI]");
    *out += &format!("{}\n", paint.bold(text.trim_end()));
    for row in rows {
        let name = format!("{} {} {} B", row.kernel, row.name, row.line);
        let PercentInterval { change, low, high } = row.forecast;
        let forecast = format!("{change:+.1}% [{low:+.1}, {high:+.1}]");
        let found = row
            .found_interval
            .map_or_else(String::new, |interval| format!(" [{:+.1}, {:+.1}]", interval.low, interval.high));
        let word = if row.is_within() { "within" } else { "OUTSIDE" };
        let found = format!("{:+.1}%{found}", row.found);
        *out += &format!("{:<34}  {forecast:<24}  {found:<24}  {word}\n", cut(&name, 34));
    }
    *out += "\n";
}

/// Whether significant differences keep their sign when the caches are smaller or larger.
fn draw_cache_sizes(out: &mut String, trial: &TrialText) {
    let mut turned = Vec::new();
    for (word, other) in [("half", &trial.half_caches), ("twice", &trial.double_caches)] {
        for row in &other.rows {
            let Some(here) = trial.structs.rows.iter().find(|here| here.metric == row.metric) else {
                continue;
            };
            for (at, pair) in here.changes.iter().zip(&row.changes).enumerate() {
                let (Some(here), Some(there)) = pair else { continue };
                let is_turned = is_significant(here)
                    && is_significant(there)
                    && here.percent.zip(there.percent).is_some_and(|(here, there)| here * there < 0.0);
                if is_turned {
                    let name = trial.structs.variants.get(at + 1).map_or("", String::as_str);
                    turned.push(format!("{name}: {} {} ({word} the size)", row.metric.test, label(row)));
                }
            }
        }
    }
    match turned.as_slice() {
        [] => {
            *out += "no significant difference changes its sign with caches of half and of twice the size\n\n"
        }
        turned => *out += &format!("changes its sign with other caches: {}\n\n", turned.join("; ")),
    }
}
