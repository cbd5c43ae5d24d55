//! `time`: of bash, of POSIX (`-p`), and GNU's program in both its formats.

use super::{Line, ReadError, number};
use crate::measurement::{KnownMetric, Measurement};

const REAL: KnownMetric =
    KnownMetric { quantity: "time in seconds", ..KnownMetric::new("time", "real", "s").lower() };
const USER: KnownMetric = KnownMetric { measure: "user", ..REAL.minor() };
const SYSTEM: KnownMetric = KnownMetric { measure: "sys", ..REAL.minor() };
const RESIDENT: KnownMetric = KnownMetric::new("time", "maximum resident set", "kB").lower().minor();

/// Lines of `/usr/bin/time -v`.
const VERBOSE: [(&str, KnownMetric); 4] = [
    ("Elapsed (wall clock) time (h:mm:ss or m:ss):", REAL),
    ("User time (seconds):", USER),
    ("System time (seconds):", SYSTEM),
    ("Maximum resident set size (kbytes):", RESIDENT),
];

pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    for line in lines {
        found.extend(shell(line));
        found.extend(verbose(line));
        found.extend(gnu(line));
    }
    Ok(found)
}

/// `real  1m1.817s`, and `real 61.81` of POSIX.
fn shell(line: &Line<'_>) -> Option<Measurement> {
    let words = line.words();
    let [name, value] = words.as_slice() else { return None };
    let metric = match *name {
        "real" => REAL,
        "user" => USER,
        "sys" => SYSTEM,
        _ => return None,
    };
    Some(metric.value("", minutes(value).or_else(|| number(value))?))
}

/// `1m1.817s` in seconds; some locales write a comma for the point.
fn minutes(value: &str) -> Option<f64> {
    let (minutes, seconds) = value.strip_suffix('s')?.split_once('m')?;
    let seconds = number(&seconds.replace(',', "."))?;
    Some(number(minutes)? * 60.0 + seconds).filter(|_| (0.0..=60.0).contains(&seconds))
}

fn verbose(line: &Line<'_>) -> Option<Measurement> {
    VERBOSE.iter().find_map(|(name, metric)| {
        let value = line.after(name)?;
        Some(metric.value("", clock(value)?))
    })
}

/// `0.00user 0.00system 0:00.12elapsed 0%CPU (0avgtext+0avgdata 1668maxresident)k`
fn gnu(line: &Line<'_>) -> Vec<Measurement> {
    let words = line.words();
    let [user, system, elapsed, rest @ ..] = words.as_slice() else { return Vec::new() };
    let parts = (|| {
        let user = number(user.strip_suffix("user")?)?;
        let system = number(system.strip_suffix("system")?)?;
        Some((clock(elapsed.strip_suffix("elapsed")?)?, user, system))
    })();
    let Some((real, user, system)) = parts else { return Vec::new() };
    let mut found = vec![REAL.value("", real), USER.value("", user), SYSTEM.value("", system)];
    let resident = rest.iter().find_map(|word| number(word.strip_suffix("maxresident)k")?));
    found.extend(resident.map(|resident| RESIDENT.value("", resident)));
    found
}

/// `h:mm:ss` or `m:ss.ss` in seconds.
fn clock(value: &str) -> Option<f64> {
    let parts: Option<Vec<f64>> = value.split(':').map(number).collect();
    match parts?.as_slice() {
        [seconds] => Some(*seconds),
        [minutes, seconds] => Some(minutes * 60.0 + seconds),
        [hours, minutes, seconds] => Some(hours * 3600.0 + minutes * 60.0 + seconds),
        _ => None,
    }
}
