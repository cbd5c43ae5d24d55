//! `perf bench`, in its default format.

use super::{Line, ReadError, number};
use crate::measurement::{BetterDirection, KnownMetric, Measurement};

/// Results by the words around their number; the first fitting one counts.
const RESULTS: [(&str, &str, &str, &str); 9] = [
    ("Total time:", "[sec]", "total time", "s"),
    ("", "usecs/op", "time per operation", "usecs/op"),
    ("", "nsecs/op", "time per operation", "nsecs/op"),
    ("", "ops/sec", "operations", "ops/sec"),
    ("Averaged", "operations/sec", "operations", "ops/sec"),
    ("", "GB/sec", "throughput", "GB/sec"),
    ("", "MB/sec", "throughput", "GB/sec"),
    ("", "KB/sec", "throughput", "GB/sec"),
    ("", "bytes/sec", "throughput", "GB/sec"),
];

/// The benchmark that runs, and the case that comment lines name.
#[derive(Default)]
struct Running {
    line: usize,
    name: String,
    case: Vec<String>,
    has_result: bool,
}

/// `# Running 'sched/pipe' benchmark:` and the results below.
pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    let mut running: Option<Running> = None;
    for line in lines {
        if let Some(name) = head(line) {
            check_ended(running.as_ref())?;
            running = Some(Running { line: line.number, name, ..Running::default() });
            continue;
        }
        let Some(running) = &mut running else { continue };
        match parameter(line) {
            Some(Parameter::Function(name)) => running.case = vec![name],
            Some(Parameter::Count(text)) => running.case.push(text),
            None => {
                let results = result(line, running);
                running.has_result |= !results.is_empty();
                found.extend(results);
            }
        }
    }
    check_ended(running.as_ref())?;
    Ok(found)
}

fn check_ended(running: Option<&Running>) -> Result<(), ReadError> {
    match running.filter(|running| !running.has_result) {
        Some(running) => {
            let problem = format!("perf bench {} began here and printed no result", running.name);
            Err(ReadError::broken(running.line, problem))
        }
        None => Ok(()),
    }
}

/// `# Running 'sched/pipe' benchmark:`, or `# Running sched/pipe benchmark...` of `perf bench all`.
fn head(line: &Line<'_>) -> Option<String> {
    let rest = line.after("# Running ")?;
    let (name, _) = rest.split_once(" benchmark")?;
    let name = name.trim_matches('\'');
    name.contains('/').then(|| name.to_owned())
}

enum Parameter {
    Function(String),
    Count(String),
}

/// `# function 'default' (…)` and `# 10 groups == 400 processes run`.
fn parameter(line: &Line<'_>) -> Option<Parameter> {
    let rest = line.after("#")?;
    if let Some(name) = rest.strip_prefix("function '").and_then(|rest| rest.split('\'').next()) {
        return Some(Parameter::Function(name.to_owned()));
    }
    let (groups, tasks) = rest.split_once(" groups == ")?;
    let groups: u64 = groups.parse().ok()?;
    let threads = if tasks.contains("threads") { "-threads" } else { "" };
    Some(Parameter::Count(format!("{groups}-groups{threads}")))
}

fn result<'t>(line: &Line<'t>, running: &Running) -> Vec<Measurement> {
    let text: &'t str = line.text.trim();
    if text.starts_with('[') {
        // Single threads and single runs, which the last line sums up.
        return Vec::new();
    }
    let words = line.words();
    let known: Option<(f64, &'t str, &'t str)> = RESULTS.iter().find_map(|(begins, unit, measure, shown)| {
        let rest = text.strip_prefix(begins)?;
        let rest: Vec<&str> = rest.split_whitespace().collect();
        let is_end = rest.get(1) == Some(unit) && (rest.len() == 2 || !begins.is_empty());
        Some((number(rest.first()?)? * scale(unit), *measure, *shown)).filter(|_| is_end)
    });
    let (value, measure, unit) = match known.or_else(|| in_time(&words)).or_else(|| average(text)) {
        Some(found) => found,
        None => return Vec::new(),
    };
    let test = format!("perf bench {}", running.name);
    let mut found = KnownMetric::new("", "", "").value(&running.case.join(" "), value);
    measure.clone_into(&mut found.metric.measure);
    measure.clone_into(&mut found.traits.quantity);
    unit.clone_into(&mut found.traits.unit);
    found.metric.test.clone_from(&test);
    found.traits.table = test;
    found.traits.better = if measure == "operations" || measure == "throughput" {
        BetterDirection::Higher
    } else {
        BetterDirection::Lower
    };
    vec![found]
}

/// perf scales throughput by its size; one unit is kept, so that runs compare.
fn scale(unit: &str) -> f64 {
    match unit {
        "MB/sec" => 1.0 / 1024.0,
        "KB/sec" => 1.0 / 1024.0 / 1024.0,
        "bytes/sec" => 1.0 / 1024.0 / 1024.0 / 1024.0,
        _ => 1.0,
    }
}

/// `Wokeup 2 of 2 threads in 0.0506 ms (+-33.97%)`.
fn in_time<'t>(words: &[&'t str]) -> Option<(f64, &'t str, &'t str)> {
    let [first, _, "of", _, "threads", rest @ ..] = words else { return None };
    let at = rest.iter().position(|word| *word == "in")?;
    let (value, unit) = (rest.get(at + 1)?, rest.get(at + 2)?);
    Some((number(value)?, first, unit))
}

/// `Average synthesis took: 1883.572 usec (+- 138.398 usec)`.
fn average(text: &str) -> Option<(f64, &str, &str)> {
    let (name, rest) = text.strip_prefix("Average ")?.split_once(" took: ")?;
    let mut words = rest.split_whitespace();
    Some((number(words.next()?)?, name, words.next()?))
}
