//! Simulated costs of layouts, for eyes and as a document.

use crate::report::color::Paint;
use fieldline_plan::simulate::Interval;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;

/// One thing that was counted, before and after.
#[derive(Serialize)]
pub(crate) struct Metric {
    pub(crate) name: &'static str,
    pub(crate) before: f64,
    pub(crate) after: f64,
    pub(crate) interval: Option<Interval>,
}

/// What was counted of a struct.
#[derive(Serialize)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Bytes before and after.
    #[serde(skip)]
    pub(crate) sizes: Option<(u64, u64)>,
    pub(crate) accesses: u64,
    pub(crate) visits: u64,
    pub(crate) metrics: Vec<Metric>,
}

/// What was counted at one line size.
#[derive(Serialize)]
pub(crate) struct Table {
    pub(crate) line: u64,
    pub(crate) cpus: usize,
    pub(crate) cache_bytes: [u64; 3],
    pub(crate) gap: u64,
    pub(crate) rows: Vec<Row>,
}

pub(crate) fn draw(out: &mut String, tables: &[Table], paint: Paint) {
    for table in tables {
        let Table { cpus, line, gap, .. } = table;
        let [first, second, shared] = table.cache_bytes.map(|bytes| bytes >> 10);
        let title = paint.bold(&format!("{line} B lines"));
        let _ = writeln!(
            out,
            "{title}: {cpus} CPUs with {first} + {second} KiB over {shared} KiB; a visit ends after {gap} other accesses"
        );
        table.rows.iter().for_each(|row| draw_row(out, row, paint));
        out.push('\n');
    }
    let note = "a model: true LRU, no prefetching, no timing; in brackets where 95 % of resampled stretches of time lie";
    let _ = writeln!(out, "{}", paint.dim(note));
}

fn draw_row(out: &mut String, row: &Row, paint: Paint) {
    let sizes = row.sizes.map(|(before, after)| format!("{before} -> {after} bytes, ")).unwrap_or_default();
    let _ =
        writeln!(out, "  {}: {sizes}{} accesses, {} visits", paint.bold(&row.name), row.accesses, row.visits);
    for metric in row.metrics.iter().filter(|metric| metric.before > 0.0 || metric.after > 0.0) {
        let digits = if metric.before < 100.0 { 3 } else { 0 };
        let change = metric.interval.map(|interval| {
            let [change, low, high] = [interval.change, interval.low, interval.high].map(|part| 100.0 * part);
            format!("{change:+6.1} %  [{low:+.1}, {high:+.1}]")
        });
        let (Metric { name, before, after, .. }, change) = (metric, change.unwrap_or_default());
        let _ = writeln!(out, "    {name:<16} {before:>10.digits$} -> {after:>10.digits$}  {change}");
    }
}

/// The tables as a document (docs/formats.md). `drawn` says so if the accesses were not recorded.
pub(crate) fn document(tables: &[Table], drawn: Option<&str>) -> Value {
    let mut document = json!({"format": "fieldline-simulation", "version": 1, "tables": tables});
    if let Some(drawn) = drawn {
        document["drawn"] = drawn.into();
    }
    document
}
