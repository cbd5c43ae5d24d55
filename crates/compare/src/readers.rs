//! Outputs of benchmarks, recognised by content.
//!
//! A file may hold the output of several tools, and of one several times: each time is a run. Lines that no tool is
//! known to print are left alone if another line is known.
//!
//! * `lines`: lines and the numbers in them; `read_error`: why a text holds no measurements.
//! * `hackbench`, `perf_bench`, `schbench`, `dbench`, `stream`, `netperf`, `sysbench`, `ebizzy`, `stress_ng`, `time`:
//!   what these print.
//! * `perf_stat`: counters, as text, `-x` and `-j`; `json`: hyperfine's and schbench's files.
//! * `plain`: names and values, and CSV.

mod dbench;
mod ebizzy;
mod hackbench;
mod json;
mod lines;
mod netperf;
mod perf_bench;
mod perf_stat;
mod plain;
mod read_error;
mod schbench;
mod stream;
mod stress_ng;
mod sysbench;
mod time;

use crate::measurement::Measurement;
pub(crate) use lines::{Line, lines, number};
pub use read_error::ReadError;

/// Most characters of a line that an error shows.
const MAX_SHOWN: usize = 80;

/// Measurements of a text, or none if it is not the tool's.
type Reader = fn(&[Line<'_>]) -> Result<Vec<Measurement>, ReadError>;

/// Readers of tools whose lines are theirs alone.
const TOOLS: [Reader; 11] = [
    hackbench::read,
    perf_bench::read,
    schbench::read,
    dbench::read,
    stream::read,
    netperf::read,
    sysbench::read,
    ebizzy::read,
    stress_ng::read,
    time::read,
    perf_stat::read,
];

/// Readers of general forms, tried in this order where no tool is recognised.
const GENERAL: [Reader; 2] = [plain::read_csv, plain::read_names];

/// Reads the measurements of a text, in its order by tool.
///
/// # Errors
///
/// No tool is recognised, or a tool's output is broken.
pub fn read(text: &str) -> Result<Vec<Measurement>, ReadError> {
    let lines = lines(text);
    let Some(first) = lines.iter().find(|line| !line.text.trim().is_empty()) else {
        return Err(ReadError::Empty);
    };
    if is_binary(text) {
        return Err(unknown(first));
    }
    if let Some(found) = json::read(text) {
        return found;
    }
    let mut found = Vec::new();
    for reader in TOOLS {
        found.extend(reader(&lines)?);
    }
    for reader in GENERAL {
        if found.is_empty() {
            found = reader(&lines)?;
        }
    }
    if found.is_empty() { Err(unknown(first)) } else { Ok(found) }
}

fn is_binary(text: &str) -> bool {
    text.chars().take(4096).any(|character| character == '\0' || character == char::REPLACEMENT_CHARACTER)
}

fn unknown(first: &Line<'_>) -> ReadError {
    let mut shown: String = first.text.trim().chars().take(MAX_SHOWN).collect();
    if first.text.trim().chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    ReadError::Unknown { first: shown }
}
