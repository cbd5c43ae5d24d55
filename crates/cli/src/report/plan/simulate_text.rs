//! Simulated costs of layouts, as text and as JSON.

use crate::report::color::Palette;
use fieldline_plan::simulate::Interval;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write;

/// A count of the model, before and after.
#[derive(Serialize)]
pub(crate) struct SimulatedMetric {
    pub(crate) name: &'static str,
    pub(crate) before: f64,
    pub(crate) after: f64,
    pub(crate) interval: Option<Interval>,
}

/// The counts of a struct.
#[derive(Serialize)]
pub(crate) struct SimulatedRow {
    pub(crate) name: String,
    /// Bytes before and after.
    #[serde(skip)]
    pub(crate) sizes: Option<(u64, u64)>,
    pub(crate) accesses: u64,
    pub(crate) visits: u64,
    pub(crate) metrics: Vec<SimulatedMetric>,
    /// Visits that touch more lines than in an allocation of the struct's own, where another struct holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) costlier: Option<CostlierVisits>,
}

/// Counts before and after.
#[derive(Serialize)]
pub(crate) struct CostlierVisits {
    pub(crate) before: u64,
    pub(crate) after: u64,
}

/// The counts at one line size.
#[derive(Serialize)]
pub(crate) struct SimulationTable {
    pub(crate) line: u64,
    pub(crate) cpus: usize,
    pub(crate) cache_bytes: [u64; 3],
    pub(crate) gap: u64,
    pub(crate) rows: Vec<SimulatedRow>,
}

pub(crate) fn draw(out: &mut String, tables: &[SimulationTable], paint: Palette) {
    for table in tables {
        let SimulationTable { cpus, line, gap, .. } = table;
        let [first, second, shared] = table.cache_bytes.map(|bytes| bytes >> 10);
        let title = paint.bold(&format!("{line} B lines"));
        let _ = writeln!(
            out,
            "{title}: {cpus} CPUs with {first} + {second} KiB over {shared} KiB; a visit ends after {gap} other accesses"
        );
        table.rows.iter().for_each(|row| draw_row(out, row, paint));
        out.push('\n');
    }
    let note = "a model: true LRU, no prefetching, no timing; in brackets the 95 % confidence interval (block bootstrap)";
    let _ = writeln!(out, "{}", paint.dim(note));
}

fn draw_row(out: &mut String, row: &SimulatedRow, paint: Palette) {
    let sizes = row.sizes.map(|(before, after)| format!("{before} -> {after} bytes, ")).unwrap_or_default();
    let SimulatedRow { name, accesses, visits, .. } = row;
    let _ = writeln!(out, "  {}: {sizes}{accesses} accesses, {visits} visits", paint.bold(name));
    for metric in row.metrics.iter().filter(|metric| metric.before > 0.0 || metric.after > 0.0) {
        let digits = if metric.before < 100.0 { 3 } else { 0 };
        let change = metric.interval.map(|interval| {
            let [change, low, high] = [interval.change, interval.low, interval.high].map(|part| 100.0 * part);
            format!("{change:+6.1} %  [{low:+.1}, {high:+.1}]")
        });
        let (SimulatedMetric { name, before, after, .. }, change) = (metric, change.unwrap_or_default());
        let _ = writeln!(out, "    {name:<16} {before:>10.digits$} -> {after:>10.digits$}  {change}");
    }
    if let Some(CostlierVisits { before, after }) = row.costlier {
        let _ = writeln!(
            out,
            "    visits that touch more lines than in an allocation of its own: {before} -> {after}"
        );
    }
}

/// The tables as JSON (docs/formats.md). `drawn` is the source of accesses that were not recorded.
pub(crate) fn document(tables: &[SimulationTable], drawn: Option<&str>) -> Value {
    let mut document = json!({"format": "fieldline-simulation", "version": 1, "tables": tables});
    if let Some(drawn) = drawn {
        document["drawn"] = drawn.into();
    }
    document
}
