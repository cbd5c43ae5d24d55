//! sysbench 1.x.

use super::{Line, ReadError, number};
use crate::measurement::{BetterDirection, KnownMetric, Measurement};

const EVENTS: KnownMetric = KnownMetric::new("sysbench", "events per second", "events/s").higher();
const TOTAL: KnownMetric = KnownMetric::new("sysbench", "total time", "s").lower().minor();

/// Rows of `Latency (ms):`, by their beginning, with whether they are a main result.
const LATENCIES: [(&str, &str, bool); 4] = [
    ("min:", "min latency", false),
    ("avg:", "avg latency", true),
    ("max:", "max latency", false),
    ("95th percentile:", "95th latency", false),
];

/// Rates by the beginning of their line and their unit.
const RATES: [(&str, &str, &str); 8] = [
    ("events per second:", "events per second", "events/s"),
    ("reads/s:", "reads", "reads/s"),
    ("writes/s:", "writes", "writes/s"),
    ("fsyncs/s:", "fsyncs", "fsyncs/s"),
    ("read, MiB/s:", "read throughput", "MiB/s"),
    ("written, MiB/s:", "write throughput", "MiB/s"),
    ("events/s (eps):", "events per second", "events/s"),
    ("thds per second:", "threads per second", "threads/s"),
];

/// A run of sysbench as far as it was read.
struct Run {
    line: usize,
    threads: String,
    has_latency: bool,
    has_rate: bool,
    events: Option<f64>,
    seconds: Option<f64>,
    in_latencies: bool,
}

pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    let mut run: Option<Run> = None;
    for line in lines {
        let text = line.text.trim();
        if text.starts_with("sysbench 1.") || text.starts_with("sysbench 0.") {
            finish(run.take(), &mut found)?;
            run = Some(Run::new(line.number));
            continue;
        }
        // The head may be cut away; the statistics are enough.
        if run.is_none() && (text == "General statistics:" || text == "Latency (ms):" || text == "CPU speed:")
        {
            run = Some(Run::new(line.number));
        }
        if let Some(run) = &mut run {
            found.extend(run.read_line(text));
        }
    }
    finish(run, &mut found)?;
    Ok(found)
}

/// The rate of events where sysbench prints none; an error if it did not end.
fn finish(run: Option<Run>, found: &mut Vec<Measurement>) -> Result<(), ReadError> {
    let Some(run) = run else { return Ok(()) };
    if !run.has_latency && !run.has_rate {
        return Err(ReadError::broken(run.line, "sysbench began here and printed no results"));
    }
    let rate = run.events.zip(run.seconds).map(|(events, seconds)| events / seconds);
    let rate = rate.filter(|rate| !run.has_rate && rate.is_finite());
    found.extend(rate.map(|rate| EVENTS.value(&run.threads, rate)));
    Ok(())
}

impl Run {
    fn new(line: usize) -> Self {
        Self {
            line,
            threads: String::new(),
            has_latency: false,
            has_rate: false,
            events: None,
            seconds: None,
            in_latencies: false,
        }
    }

    fn read_line(&mut self, text: &str) -> Vec<Measurement> {
        if let Some(threads) = text.strip_prefix("Number of threads:") {
            self.threads =
                threads.trim().parse::<u64>().map_or(String::new(), |count| format!("{count}-threads"));
            return Vec::new();
        }
        let is_head = text.ends_with(':') && !text.contains("percentile");
        self.in_latencies = if is_head { text == "Latency (ms):" } else { self.in_latencies };
        if let Some(value) = text.strip_prefix("total number of events:") {
            self.events = number(value.trim());
        } else if let Some(seconds) = text.strip_prefix("total time:") {
            self.seconds = seconds.trim().strip_suffix('s').and_then(number);
            return self.seconds.map(|seconds| TOTAL.value(&self.threads, seconds)).into_iter().collect();
        } else if self.in_latencies {
            let latency = self.latency(text);
            self.has_latency |= latency.is_some();
            return latency.into_iter().collect();
        }
        let rates = self.rates(text);
        self.has_rate |= !rates.is_empty();
        rates
    }

    fn latency(&self, text: &str) -> Option<Measurement> {
        let (begins, measure, is_key) = LATENCIES.iter().find(|(begins, ..)| text.starts_with(begins))?;
        let value = number(text.strip_prefix(begins)?.trim())?;
        let metric = KnownMetric { is_key: *is_key, ..KnownMetric::new("sysbench", measure, "ms").lower() };
        Some(metric.value(&self.threads, value))
    }

    fn rates(&self, text: &str) -> Vec<Measurement> {
        let metric = |measure, unit| KnownMetric::new("sysbench", measure, unit).higher();
        let by_line = RATES.iter().find_map(|(begins, measure, unit)| {
            let value = number(text.strip_prefix(begins)?.trim())?;
            Some(metric(measure, unit).value(&self.threads, value))
        });
        by_line.or_else(|| self.rate_in_parentheses(text)).into_iter().collect()
    }

    /// `Total operations: 685755 (684731.56 per second)`, `669.68 MiB transferred (668.68 MiB/sec)`,
    /// `transactions: 123 (12.30 per sec.)`.
    fn rate_in_parentheses(&self, text: &str) -> Option<Measurement> {
        let (before, inner) = text.strip_suffix(')')?.split_once('(')?;
        let (value, unit) = inner.split_once(' ')?;
        let value = number(value)?;
        let (measure, unit) = match unit {
            "MiB/sec" if before.contains("transferred") => ("transferred", "MiB/sec".to_owned()),
            "per second" if before.starts_with("Total operations:") => {
                ("operations", "operations/s".to_owned())
            }
            "per sec." if before.contains(':') => {
                let name = before.split(':').next().unwrap_or_default();
                (name, format!("{name}/s"))
            }
            _ => return None,
        };
        let mut found = KnownMetric::new("sysbench", "", "").value(&self.threads, value);
        found.metric.measure = measure.to_owned();
        found.traits.quantity = measure.to_owned();
        found.traits.unit = unit;
        let is_trouble = ["ignored errors", "reconnects"].contains(&measure);
        found.traits.better = if is_trouble { BetterDirection::Lower } else { BetterDirection::Higher };
        found.traits.is_key = !is_trouble;
        Some(found)
    }
}
