//! hackbench of rt-tests.

use super::{Line, ReadError, number};
use crate::measurement::{KnownMetric, Measurement};

const PROCESSES: KnownMetric =
    KnownMetric { quantity: "time in seconds", ..KnownMetric::new("hackbench", "time", "s").lower() };
const THREADS: KnownMetric = KnownMetric { test: "hackbench-threads", ..PROCESSES };

/// `Running in process mode with 10 groups using 40 file descriptors each (== 400 tasks)` … `Time: 0.890`. Runs
/// of which only the times were kept have no case.
pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    // The metric and case of a run that has begun.
    let mut running: Option<(usize, &KnownMetric, String)> = None;
    let mut last: Option<(&KnownMetric, String)> = None;
    for line in lines {
        if let Some((metric, case)) = head(line) {
            if let Some((number, ..)) = running {
                return Err(unfinished(number));
            }
            running = Some((line.number, metric, case));
            continue;
        }
        let Some(value) = line.after("Time:") else { continue };
        // Other tools print times too; hackbench prints a number alone.
        let seconds = match number(value) {
            Some(seconds) => seconds,
            None if running.is_some() => {
                return Err(ReadError::broken(
                    line.number,
                    format!("hackbench's time is no number: {value}"),
                ));
            }
            None => continue,
        };
        if let Some((_, metric, case)) = running.take() {
            last = Some((metric, case));
        }
        let (metric, case) = last.clone().unwrap_or((&PROCESSES, String::new()));
        found.push(metric.value(&case, seconds));
    }
    match running {
        Some((number, ..)) => Err(unfinished(number)),
        None => Ok(found),
    }
}

fn unfinished(line: usize) -> ReadError {
    ReadError::broken(line, "hackbench began here and printed no time")
}

fn head(line: &Line<'_>) -> Option<(&'static KnownMetric, String)> {
    let rest = line.after("Running in ")?;
    let (mode, rest) = rest.split_once(" mode with ")?;
    let (groups, _) = rest.split_once(" groups using ")?;
    let metric = if mode.starts_with("thread") { &THREADS } else { &PROCESSES };
    Some((metric, format!("{}-groups", groups.parse::<u64>().ok()?)))
}
