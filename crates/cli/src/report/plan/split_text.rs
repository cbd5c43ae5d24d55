//! Splits of a struct, as text and as JSON.

use super::simulate_text::{SimulatedMetric, SimulatedRow};
use crate::report::color::Palette;
use fieldline_plan::judge::split::{Split, SplitFigure, SplitLayout, SplitReason, SplitReport};
use fieldline_plan::result::Interval;
use fieldline_tree::places::SourcePlaces;
use serde::Serialize;
use std::fmt::Write;

/// Splits shown besides the advised one.
const SHOWN: usize = 8;
/// Files shown.
const FILES: usize = 8;

/// The answer (docs/formats.md).
#[derive(Serialize)]
pub(crate) struct SplitDocument {
    format: &'static str,
    version: u32,
    #[serde(flatten)]
    report: SplitReport,
    /// Structs that hold this one by value, with the members that do.
    held_by: Vec<(String, String)>,
    /// Files with the places that say members which leave.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<(String, usize)>,
    /// The units that a front end counted them in. Otherwise they are counted in the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<ReadUnits>,
    /// Lines that allocate it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allocations: Vec<String>,
    #[serde(skip)]
    has_tree: bool,
    /// The best order, then the first splits, on a trace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replay: Vec<SplitReplay>,
}

/// Units of a build that a front end read.
#[derive(Serialize)]
pub(crate) struct ReadUnits {
    pub(crate) count: usize,
    /// Those that may have more places, since parts of them can't be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unread: Vec<String>,
}

/// A layout replayed on a trace.
#[derive(Serialize)]
pub(crate) struct SplitReplay {
    /// 0 for the best order, then the number of a split.
    layout: usize,
    tables: Vec<ReplayTable>,
}

#[derive(Serialize)]
struct ReplayTable {
    line: u64,
    metrics: Vec<SimulatedMetric>,
}

impl SplitReplay {
    pub(crate) fn new(number: usize, rows: Vec<(u64, SimulatedRow)>) -> Self {
        let tables = rows.into_iter().map(|(line, row)| ReplayTable { line, metrics: row.metrics });
        Self { layout: number - 1, tables: tables.collect() }
    }

    fn value(table: &ReplayTable, name: &str) -> f64 {
        table.metrics.iter().find(|metric| metric.name == name).map_or(0.0, |metric| metric.after)
    }

    /// Whether it touches fewer lines, and misses the shared cache and the CPU's own no more, at every line size.
    pub(crate) fn is_better_than(&self, other: &Self) -> bool {
        let no_more = |name| {
            self.tables
                .iter()
                .zip(&other.tables)
                .all(|(own, other)| Self::value(own, name) <= Self::value(other, name))
        };
        let fewer = |name| {
            self.tables
                .iter()
                .zip(&other.tables)
                .any(|(own, other)| Self::value(own, name) < Self::value(other, name))
        };
        ["lines per visit", "LLC misses", "L2 misses"].into_iter().all(no_more) && fewer("lines per visit")
    }
}

impl SplitDocument {
    pub(crate) fn new(
        report: SplitReport,
        held_by: Vec<(String, String)>,
        places: Option<(SourcePlaces, Option<ReadUnits>)>,
        replay: Vec<SplitReplay>,
    ) -> Self {
        let has_tree = places.is_some();
        let (SourcePlaces { files, allocations }, units) = places.unwrap_or_default();
        let format = "fieldline-split";
        Self { format, version: 1, report, held_by, files, units, allocations, has_tree, replay }
    }
}

pub(crate) fn draw(out: &mut String, document: &SplitDocument, paint: Palette) {
    let SplitReport { name, size, samples, splits, advised, reason, .. } = &document.report;
    let verdict = match advised {
        Some(index) => format!("split {} is advised", index + 1),
        None => "no split is advised".to_owned(),
    };
    let title = paint.bold(&format!("struct {name}"));
    let _ = writeln!(out, "{title}: {verdict} ({size} bytes, {samples} samples)\n  {reason}");
    if !splits.is_empty() {
        draw_layout(out, "best order of the whole struct", &document.report.reorder);
    }
    for (number, split) in (1..).zip(splits).take(SHOWN) {
        draw_split(out, number, split);
    }
    for replay in &document.replay {
        let name = match replay.layout {
            0 => "replayed, best order".to_owned(),
            number => format!("replayed, split {number}"),
        };
        let _ = writeln!(out, "  {name}");
        replay.tables.iter().for_each(|table| draw_replay(out, table));
    }
    draw_source(out, document);
    out.push_str("  advice, not a patch: lifetimes, locks and RCU of what leaves are not judged\n");
}

fn draw_split(out: &mut String, number: usize, split: &Split) {
    let Split { stays, leaves, visits, members, .. } = split;
    let title = format!("split {number}: {stays} bytes stay, {leaves} leave");
    draw_layout(out, &title, &split.layout);
    let why: Vec<String> = split.why.iter().map(describe_reason).collect();
    let _ = writeln!(out, "    why: {}; {:.1} % of the visits touch it", why.join("; "), 100.0 * visits);
    let _ = writeln!(out, "    leave: {}", members.join(", "));
}

fn draw_layout(out: &mut String, title: &str, layout: &SplitLayout) {
    let _ = writeln!(out, "  {title}");
    for lines in &layout.lines {
        draw_figure(out, &format!("lines/visit {} B", lines.line), &lines.figure);
    }
    draw_figure(out, "lost to other CPUs/visit", &layout.lost);
}

fn draw_figure(out: &mut String, name: &str, figure: &SplitFigure) {
    let change = figure.interval.map(describe_interval).unwrap_or_default();
    let _ = writeln!(out, "    {name:<26} {:>8.3} -> {:>8.3}  {change}", figure.before, figure.after);
}

fn describe_interval(interval: Interval) -> String {
    let [change, low, high] = [interval.change, interval.low, interval.high].map(|part| 100.0 * part);
    format!("{change:+.1} % [{low:+.1}, {high:+.1}]")
}

fn describe_reason(reason: &SplitReason) -> String {
    match reason {
        SplitReason::RarelyTouched(0) => "no visit touches them".to_owned(),
        SplitReason::RarelyTouched(share) => {
            format!("at most {:.1} % of the visits touch each", *share as f64 / 10.0)
        }
        SplitReason::OwnVisits => "touched together, in other visits than the rest".to_owned(),
        SplitReason::OtherCpus => "mostly CPUs that aren't the object's home touch them".to_owned(),
        SplitReason::Configuration(name) => name.clone(),
        SplitReason::Kind(kind) if kind == "none" => {
            "objects that no other holds never touch them".to_owned()
        }
        SplitReason::Kind(kind) => format!("objects inside {kind} never touch them"),
    }
}

fn draw_replay(out: &mut String, table: &ReplayTable) {
    for metric in table.metrics.iter().filter(|metric| metric.before > 0.0 || metric.after > 0.0) {
        let SimulatedMetric { name, before, after, interval } = metric;
        let change = interval.map(describe_interval).unwrap_or_default();
        let name = format!("{name} {} B", table.line);
        let digits = if *before < 100.0 { 3 } else { 0 };
        let _ = writeln!(out, "    {name:<26} {before:>8.digits$} -> {after:>8.digits$}  {change}");
    }
}

fn draw_source(out: &mut String, document: &SplitDocument) {
    let held: Vec<String> =
        document.held_by.iter().map(|(name, member)| format!("{name} ({member})")).collect();
    if !held.is_empty() {
        let _ = writeln!(out, "  held by value in: {}", held.join(", "));
    }
    out.extend(document.allocations.iter().map(|line| format!("  allocated at {line}\n")));
    if !document.has_tree {
        out.push_str("  with --tree, places that would change are counted\n");
        return;
    }
    let all: usize = document.files.iter().map(|file| file.1).sum();
    let files: Vec<String> =
        document.files.iter().take(FILES).map(|(path, count)| format!("{path} {count}")).collect();
    let more = document.files.len().saturating_sub(FILES);
    let more = if more > 0 { format!(" and {more} more files") } else { String::new() };
    let files = format!("{}{more}", files.join(", "));
    let Some(ReadUnits { count, unread }) = &document.units else {
        let _ = writeln!(
            out,
            "  at most {all} places say the members that leave (read as text: others may have such names): {files}"
        );
        return;
    };
    let units = if *count == 1 { "1 unit" } else { &format!("{count} units") };
    let _ =
        writeln!(out, "  {all} places say the members that leave ({units} read by a C front end): {files}");
    if !unread.is_empty() {
        let _ = writeln!(out, "  more may be in units that can't be read: {}", unread.join(", "));
    }
}
