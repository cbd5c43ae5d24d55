//! netperf: the classic tables, `-k` and `-o` of its omni tests.

use super::{Line, ReadError, number};
use crate::measurement::{BetterDirection, KnownMetric, Measurement};

/// Tests by the words of their banner, as `-t` names them.
const TESTS: [(&str, &str); 8] = [
    ("TCP REQUEST/RESPONSE", "TCP_RR"),
    ("UDP REQUEST/RESPONSE", "UDP_RR"),
    ("TCP CONNECT/REQUEST/RESPONSE", "TCP_CRR"),
    ("TCP STREAM", "TCP_STREAM"),
    ("TCP MAERTS", "TCP_MAERTS"),
    ("TCP SENDFILE", "TCP_SENDFILE"),
    ("UDP UNIDIRECTIONAL SEND", "UDP_STREAM"),
    ("UDP STREAM", "UDP_STREAM"),
];

/// Units of rates and of throughput in the classic tables.
const TRANSACTIONS: &str = "Trans/s";
const MEGABITS: &str = "10^6bits/s";

pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let is_bare = lines.iter().all(|line| line.text.trim().is_empty() || line.numbers().is_some());
    if is_bare {
        return Ok(bare_rows(lines));
    }
    let mut found = Vec::new();
    // The test of the last banner, with its line while it has no result.
    let mut test = String::from("throughput");
    let mut began: Option<usize> = None;
    let mut pairs = KeyedResult::default();
    for (index, line) in lines.iter().enumerate() {
        if let Some(name) = banner(line) {
            pairs.finish(&test, &mut found);
            check_ended(began)?;
            (test, began) = (name, Some(line.number));
            continue;
        }
        if pairs.take(line, &test, &mut found) {
            began = None;
            continue;
        }
        let values = match lines.get(index + 1) {
            Some(next) if line.text.contains("Throughput") && line.text.contains(',') => {
                omni(line, next, &test)
            }
            _ if began.is_some() => classic(line, &test),
            _ => Vec::new(),
        };
        if !values.is_empty() {
            began = None;
        }
        found.extend(values);
    }
    pairs.finish(&test, &mut found);
    check_ended(began)?;
    Ok(found)
}

fn check_ended(began: Option<usize>) -> Result<(), ReadError> {
    match began {
        Some(line) => {
            Err(ReadError::broken(line, "netperf began here and printed no result in a format that is known"))
        }
        None => Ok(()),
    }
}

/// `MIGRATED TCP REQUEST/RESPONSE TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to …`.
fn banner(line: &Line<'_>) -> Option<String> {
    let (name, _) = line.text.trim().split_once(" TEST from ")?;
    let name = name.strip_prefix("MIGRATED ").unwrap_or(name).to_ascii_uppercase();
    let known = TESTS.iter().find(|(words, _)| *words == name);
    Some(known.map_or(name.clone(), |(_, test)| (*test).to_owned()))
}

fn rate(test: &str, value: f64, unit: &str) -> Measurement {
    let mut found =
        KnownMetric { axis: "Clients", ..KnownMetric::new("netperf", "", "").higher() }.value("", value);
    found.metric.measure = test.to_owned();
    found.traits.quantity = "Throughput".to_owned();
    found.traits.unit = unit.to_owned();
    found
}

/// The row of a classic table: sizes, seconds, then the rate; `-c` and `-C` add columns behind.
fn classic(line: &Line<'_>, test: &str) -> Vec<Measurement> {
    let Some(figures) = line.numbers() else { return Vec::new() };
    let is_transactions = test.ends_with("RR");
    let value = match (is_transactions, test == "UDP_STREAM", figures.as_slice()) {
        (true, _, [_, _, _, _, _, rate, ..]) => Some(*rate),
        // The sender's row; a row of the receiver with fewer columns follows.
        (false, true, [_, _, _, _, _, rate, ..]) => Some(*rate),
        (false, false, [_, _, _, _, rate, ..]) => Some(*rate),
        _ => None,
    };
    let unit = if is_transactions { TRANSACTIONS } else { MEGABITS };
    value.map(|value| rate(test, value, unit)).into_iter().collect()
}

/// Rows printed without a banner (`-P 0`): six or ten columns of a request/response test, with the remote socket's
/// sizes below; five or nine of a stream.
fn bare_rows(lines: &[Line<'_>]) -> Vec<Measurement> {
    let rows = lines.iter().filter_map(Line::numbers).filter(|row| !row.is_empty());
    let mut found = Vec::new();
    for row in rows {
        match row.as_slice() {
            [_, _, _, _, _, value] | [_, _, _, _, _, value, _, _, _, _] => {
                found.push(rate("RR", *value, TRANSACTIONS))
            }
            [_, _, _, _, value] | [_, _, _, _, value, _, _, _, _] => {
                found.push(rate("STREAM", *value, MEGABITS))
            }
            [_, _] if !found.is_empty() => {}
            _ => return Vec::new(),
        }
    }
    found
}

/// A header of names with commas, and the values below.
fn omni(head: &Line<'_>, values: &Line<'_>, test: &str) -> Vec<Measurement> {
    let values: Vec<&str> = values.text.split(',').map(str::trim).collect();
    let column = |name: &str| {
        let at = head.text.split(',').position(|head| head.trim() == name)?;
        values.get(at).copied()
    };
    let unit = column("Throughput Units").unwrap_or("units/s");
    let value = column("Throughput").and_then(number);
    value.map(|value| rate(test, value, unit)).into_iter().collect()
}

/// Lines `KEY=VALUE` of one result.
#[derive(Default)]
struct KeyedResult {
    keys: Vec<String>,
    throughput: Option<f64>,
    unit: String,
    latencies: Vec<(String, f64)>,
}

impl KeyedResult {
    /// Takes a line that is one of `-k`'s; whether it was.
    fn take(&mut self, line: &Line<'_>, test: &str, found: &mut Vec<Measurement>) -> bool {
        let Some((key, value)) = line.text.trim().split_once('=') else { return false };
        let is_key = !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(&byte));
        if !is_key {
            return false;
        }
        if self.keys.iter().any(|known| known == key) {
            self.finish(test, found);
        }
        self.keys.push(key.to_owned());
        match key {
            "THROUGHPUT" => self.throughput = number(value),
            "THROUGHPUT_UNITS" => value.clone_into(&mut self.unit),
            _ if key.ends_with("_LATENCY") => {
                self.latencies.extend(number(value).map(|latency| (key.to_owned(), latency)));
            }
            _ => {}
        }
        true
    }

    fn finish(&mut self, test: &str, found: &mut Vec<Measurement>) {
        let Self { throughput, unit, latencies, .. } = std::mem::take(self);
        let unit = if unit.is_empty() { "units/s".to_owned() } else { unit };
        let Some(throughput) = throughput else { return };
        found.push(rate(test, throughput, &unit));
        for (key, value) in latencies {
            let mut latency = rate(test, value, "us");
            latency.metric.measure = format!("{test} {}", key.to_ascii_lowercase().replace('_', " "));
            latency.traits.better = BetterDirection::Lower;
            latency.traits.is_key = false;
            found.push(latency);
        }
    }
}
