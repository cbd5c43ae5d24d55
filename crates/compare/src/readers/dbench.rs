//! dbench and tbench, which print the same.

use super::{Line, ReadError, number};
use crate::measurement::{KnownMetric, Measurement};

const THROUGHPUT: KnownMetric = KnownMetric {
    axis: "Clients",
    quantity: "throughput",
    ..KnownMetric::new("tbench", "throughput", "MB/sec").higher()
};
const LATENCY: KnownMetric =
    KnownMetric { axis: "Clients", ..KnownMetric::new("tbench", "maximum latency", "ms").lower().minor() };

/// `Throughput 225.554 MB/sec  1 clients  1 procs  max_latency=9.904 ms`; `(sync open)` may stand between. dbench and
/// tbench print the same lines, so that only a file's name can tell which ran.
pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    let mut began = None;
    for line in lines {
        if line.text.starts_with("dbench version ") {
            check_ended(began)?;
            began = Some(line.number);
        }
        if let Some((rate, clients, latency)) = result(line) {
            found.push(THROUGHPUT.value(&clients, rate));
            found.extend(latency.map(|latency| LATENCY.value(&clients, latency)));
            began = None;
        }
    }
    check_ended(began)?;
    Ok(found)
}

fn check_ended(began: Option<usize>) -> Result<(), ReadError> {
    match began {
        Some(line) => Err(ReadError::broken(line, "dbench or tbench began here and printed no throughput")),
        None => Ok(()),
    }
}

/// Rate, clients and latency of the last line.
fn result(line: &Line<'_>) -> Option<(f64, String, Option<f64>)> {
    let words = line.words();
    words.first().filter(|word| **word == "Throughput")?;
    let rate = number(words.get(1)?).filter(|_| words.get(2) == Some(&"MB/sec"))?;
    let at = words.iter().position(|word| matches!(*word, "clients" | "procs"))?;
    let clients: u64 = words.get(at.checked_sub(1)?)?.parse().ok()?;
    let latency = words.iter().find_map(|word| word.strip_prefix("max_latency=")).and_then(number);
    Some((rate, clients.to_string(), latency))
}
