//! stress-ng's metrics: the table that `--metrics` logs, and its YAML.

use super::{Line, ReadError, number};
use crate::measurement::{BetterDirection, KnownMetric, Measurement};

const OPS: KnownMetric = KnownMetric::new("stress-ng", "bogo ops/s (real time)", "bogo ops/s").higher();
const OPS_OF_CPU: KnownMetric =
    KnownMetric::new("stress-ng", "bogo ops/s (usr+sys time)", "bogo ops/s").higher().minor();

/// Keys of the YAML with the metric of the table that is the same.
const YAML: [(&str, KnownMetric); 2] =
    [("bogo-ops-per-second-real-time:", OPS), ("bogo-ops-per-second-usr-sys-time:", OPS_OF_CPU)];

pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    let mut stressor: Option<&str> = None;
    let mut is_other_metric = false;
    for line in lines {
        if let Some(name) = line.after("- stressor:") {
            stressor = Some(name);
            continue;
        }
        if let Some(name) = stressor {
            let value =
                YAML.iter().find_map(|(key, metric)| Some(metric.value(name, number(line.after(key)?)?)));
            found.extend(value);
        }
        let Some(text) = logged(line) else { continue };
        is_other_metric = match text {
            "miscellaneous metrics:" => true,
            _ if text.starts_with("stressor ") => false,
            _ => is_other_metric,
        };
        found.extend(if is_other_metric { miscellaneous(text) } else { row(text) });
    }
    Ok(found)
}

/// The text behind `stress-ng: metrc: [19693]`; older versions log metrics as `info`.
fn logged<'t>(line: &Line<'t>) -> Option<&'t str> {
    let rest = line.after("stress-ng: ")?;
    let rest = rest.strip_prefix("metrc:").or_else(|| rest.strip_prefix("info:"))?.trim_start();
    let (process, text) = rest.strip_prefix('[')?.split_once(']')?;
    process.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.trim())
}

/// `cpu  394  2.02  0.23  0.00  195.46  1668.26`: operations, three times, two rates; columns of newer versions may
/// follow.
fn row(text: &str) -> Vec<Measurement> {
    let mut words = text.split_whitespace();
    let Some(name) = words.next().filter(|name| number(name).is_none()) else { return Vec::new() };
    let figures: Option<Vec<f64>> = words.map(number).collect();
    match figures.as_deref() {
        Some([_, _, _, _, real, cpu, ..]) => vec![OPS.value(name, *real), OPS_OF_CPU.value(name, *cpu)],
        _ => Vec::new(),
    }
}

/// `switch  27815.94 nanosecs per context switch (pipe method) (geometric mean of 1 instances)`.
fn miscellaneous(text: &str) -> Vec<Measurement> {
    let Some((name, rest)) = text.split_once(char::is_whitespace) else { return Vec::new() };
    let Some((value, measure)) = rest.trim_start().split_once(' ') else { return Vec::new() };
    let Some(value) = number(value) else { return Vec::new() };
    let measure =
        measure.split(" (geo").next().unwrap_or(measure).split(" (harmonic").next().unwrap_or(measure).trim();
    let mut found = KnownMetric::new("stress-ng", "", "").minor().value(name, value);
    found.metric.measure = measure.to_owned();
    found.traits.quantity = measure.to_owned();
    let (unit, _) = measure.split_once(" per ").unwrap_or((measure, ""));
    found.traits.unit = if measure.contains(" per sec") { format!("{unit}/sec") } else { unit.to_owned() };
    found.traits.better = match () {
        () if measure.contains(" per sec") => BetterDirection::Higher,
        () if measure.contains("secs") || measure.contains("latency") => BetterDirection::Lower,
        () => BetterDirection::Unknown,
    };
    vec![found]
}
