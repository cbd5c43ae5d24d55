//! Values as CSV that [`crate::readers`] reads (docs/formats.md, What `compare` reads).

use crate::measurement::{BetterDirection, MetricId};
use std::fmt::Write;

/// A value to write.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvValue {
    /// The metric; its machine isn't written.
    pub metric: MetricId,
    /// The value.
    pub value: f64,
    /// Its unit; empty of counts.
    pub unit: &'static str,
    /// Which values are better.
    pub better: BetterDirection,
}

/// The text of a file: `setup` says how the values were made, in lines that readers leave out.
#[must_use]
pub fn write(setup: &str, values: &[CsvValue]) -> String {
    let mut out: String = setup.lines().map(|line| format!("# {line}\n")).collect();
    out += "test,case,metric,value,unit,better\n";
    for CsvValue { metric, value, unit, better } in values {
        let better = match better {
            BetterDirection::Lower => "lower",
            BetterDirection::Higher => "higher",
            BetterDirection::Unknown => "",
        };
        let MetricId { test, case, measure, .. } = metric;
        // Writing to a string can't fail.
        let _ = writeln!(out, "{test},{},{measure},{value},{unit},{better}", quoted(case));
    }
    out
}

/// The lines that say how the values of a file were made.
pub fn setup(text: &str) -> String {
    let lines = text.lines().map_while(|line| line.strip_prefix("# "));
    lines.collect::<Vec<_>>().join("\n")
}

/// A cell of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\"").replace(['\n', '\r'], " "))
}
