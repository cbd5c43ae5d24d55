//! Files that are one JSON document: of hyperfine and schbench.

use super::ReadError;
use super::schbench::SchbenchBlock;
use crate::measurement::{KnownMetric, Measurement};
use serde_json::Value;

const SECONDS: KnownMetric =
    KnownMetric { quantity: "time in seconds", ..KnownMetric::new("hyperfine", "time", "s").lower() };

/// Quantities of schbench by the beginning of their keys.
const QUANTITIES: [(&str, SchbenchBlock); 3] = [
    ("wakeup_latency_pct", SchbenchBlock::Wakeup),
    ("request_latency_pct", SchbenchBlock::Request),
    ("rps_pct", SchbenchBlock::Rate),
];

/// The measurements of a document; `None` if it is none, or one of those that have an object a line.
pub(super) fn read(text: &str) -> Option<Result<Vec<Measurement>, ReadError>> {
    if !text.trim_start().starts_with('{') {
        return None;
    }
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        // An object that ends too early was one document; several of them are not.
        Err(error)
            if error.is_eof() && text.trim_start().lines().next().is_some_and(|line| line.trim() == "{") =>
        {
            return Some(Err(ReadError::broken(error.line(), "the JSON ends too early")));
        }
        Err(_) => return None,
    };
    if let Some(results) = document.get("results").and_then(Value::as_array) {
        return Some(hyperfine(results));
    }
    let figures = document.get("int")?.as_object()?;
    let percentile = |(key, value): (&String, &Value)| {
        let (block, percentile) = QUANTITIES
            .iter()
            .find_map(|(begins, block)| Some((*block, super::number(key.strip_prefix(begins)?)?)))?;
        // The percentiles that schbench's text marks.
        let is_key = percentile == if block == SchbenchBlock::Rate { 50.0 } else { 99.0 };
        Some(block.measurement(percentile, value.as_f64()?, is_key))
    };
    let found: Vec<Measurement> = figures.iter().filter_map(percentile).collect();
    (!found.is_empty()).then_some(Ok(found))
}

/// Each time of each command is a run. A file with one command is named by its path.
fn hyperfine(results: &[Value]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    for result in results {
        let command = result.get("command").and_then(Value::as_str).unwrap_or_default();
        let times = result.get("times").and_then(Value::as_array);
        let Some(times) = times.filter(|times| !times.is_empty()) else {
            return Err(ReadError::broken(1, format!("hyperfine's result of '{command}' has no times")));
        };
        let case = if results.len() > 1 { command } else { "" };
        for time in times {
            let Some(seconds) = time.as_f64() else {
                return Err(ReadError::broken(1, format!("a time of '{command}' is no number")));
            };
            found.push(SECONDS.value(case, seconds));
        }
    }
    Ok(found)
}
