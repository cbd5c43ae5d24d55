//! schbench's text: of versions with wakeups, requests and rates, and of older ones with one latency.
//!
//! Blocks repeat at every interval and count from the start, so the last block of a run is its result.

use super::{Line, ReadError, number};
use crate::measurement::{BetterDirection, KnownMetric, Measurement, RunAverage};

/// The heads of blocks.
const BLOCKS: [(&str, SchbenchBlock); 4] = [
    ("Wakeup Latencies percentiles (usec)", SchbenchBlock::Wakeup),
    ("Request Latencies percentiles (usec)", SchbenchBlock::Request),
    ("RPS percentiles (requests)", SchbenchBlock::Rate),
    ("Latency percentiles (usec)", SchbenchBlock::Latency),
];

/// A quantity of which schbench prints percentiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SchbenchBlock {
    Wakeup,
    Request,
    Rate,
    Latency,
}

impl SchbenchBlock {
    /// A percentile of it. `is_key` is the one that schbench marks with an asterisk.
    pub(super) fn measurement(self, percentile: f64, value: f64, is_key: bool) -> Measurement {
        let (name, table) = match self {
            Self::Wakeup => ("wakeup latency", "new-schbench-wakeup-latency"),
            Self::Request => ("request latency", "new-schbench-request-latency"),
            Self::Rate => ("requests per second", "new-schbench-requests-per-second"),
            Self::Latency => ("latency", "schbench"),
        };
        let known = KnownMetric {
            axis: "#workers",
            average: RunAverage::Median,
            table,
            is_key,
            ..KnownMetric::new("schbench", "", "us").lower()
        };
        let mut found = known.value("", value);
        found.metric.measure = format!("{name} {}th", short(percentile));
        found.traits.quantity = format!("{percentile}th percentile latency in us");
        if self == Self::Rate {
            found.traits.better = BetterDirection::Higher;
            found.traits.unit = "requests/s".to_owned();
            found.traits.quantity = "Requests per second".to_owned();
        }
        found
    }
}

/// `99.0`, `99.9`, `99.99`: one digit behind the point, or as many as it has.
fn short(percentile: f64) -> String {
    if percentile.fract() == 0.0 { format!("{percentile:.1}") } else { percentile.to_string() }
}

const AVERAGE: KnownMetric = KnownMetric {
    average: RunAverage::Median,
    axis: "#workers",
    ..KnownMetric::new("schbench", "average rps", "requests/s").higher().minor()
};

/// Values of one block, with the time after which it was printed.
struct Block {
    kind: SchbenchBlock,
    seconds: Option<f64>,
    values: Vec<Measurement>,
}

/// Results of the run that is being read, and of those before.
#[derive(Default)]
struct Runs {
    found: Vec<Measurement>,
    blocks: Vec<Block>,
    /// Whether a line stood between that schbench prints at an interval only.
    is_interval: bool,
}

impl Runs {
    /// A block begins: of this run, replacing what it printed before, or of the next one.
    fn begin(&mut self, kind: SchbenchBlock, seconds: Option<f64>) {
        let before = self.blocks.iter().find(|block| block.kind == kind).map(|block| block.seconds);
        if let Some(before) = before {
            let is_later = before.zip(seconds).is_some_and(|(before, now)| now > before);
            let is_same = before.is_some() && before == seconds && self.is_interval;
            if !is_later && !is_same {
                self.end();
            }
        }
        self.blocks.retain(|block| block.kind != kind);
        self.blocks.push(Block { kind, seconds, values: Vec::new() });
    }

    /// The run is over.
    fn end(&mut self) {
        let blocks = std::mem::take(&mut self.blocks);
        self.found.extend(blocks.into_iter().flat_map(|block| block.values));
        self.is_interval = false;
    }
}

pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut runs = Runs::default();
    let mut is_open = false;
    for line in lines {
        let text = line.text.trim();
        if let Some((kind, seconds)) = head(text) {
            runs.begin(kind, seconds);
            is_open = true;
        } else if let Some((percentile, value, is_key)) = row(text).filter(|_| is_open) {
            if let Some(block) = runs.blocks.last_mut() {
                block.values.push(block.kind.measurement(percentile, value, is_key));
            }
        } else if let Some(rate) = text.strip_prefix("average rps:").and_then(|rate| number(rate.trim())) {
            runs.end();
            runs.found.push(AVERAGE.value("", rate));
            is_open = false;
        } else if text.starts_with("current rps:") || text.starts_with("sched delay:") {
            runs.is_interval = true;
        } else if text.starts_with("avg worker transfer:") {
            runs.end();
            is_open = false;
        }
    }
    runs.end();
    Ok(runs.found)
}

/// `Wakeup Latencies percentiles (usec) runtime 90 (s) (255474 total samples)`; old versions have no runtime.
fn head(text: &str) -> Option<(SchbenchBlock, Option<f64>)> {
    BLOCKS.iter().find_map(|(begins, kind)| {
        let rest = text.strip_prefix(begins)?;
        let seconds = rest.trim_start().strip_prefix("runtime ").and_then(|rest| rest.split(' ').next());
        Some((*kind, seconds.and_then(number)))
    })
}

/// `* 99.0th: 272        (21770 samples)`; old versions write `*99.0000th: 272`.
fn row(text: &str) -> Option<(f64, f64, bool)> {
    let is_key = text.starts_with('*');
    let (percentile, rest) = text.trim_start_matches('*').trim_start().split_once("th:")?;
    Some((number(percentile)?, number(rest.split_whitespace().next()?)?, is_key))
}
