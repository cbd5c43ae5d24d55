//! `perf stat`: text, `-x` and `-j`; with `-r`, `-I` and `-A`.
//!
//! Of `-I` the counts of all intervals are summed up, of `-A` those of all CPUs: both are one run. `-r` prints the mean
//! of its runs with the relative standard error of that mean, which is as good as the runs.

use super::{Line, ReadError, number};
use crate::measurement::{BetterDirection, KnownMetric, Measurement, Repeats};
use serde_json::Value;

/// One counter of one run, interval or CPU.
#[derive(Clone, Debug, PartialEq)]
struct Counter {
    name: String,
    unit: String,
    value: f64,
    /// The standard error of the mean, in percent.
    error: Option<f64>,
    /// Whether it counts a part of the run: an interval or a CPU.
    is_part: bool,
}

/// Counters of one run.
#[derive(Default)]
struct CounterRun {
    repeats: usize,
    /// Whether it was printed as text, which leaves out errors that are zero.
    is_text: bool,
    counters: Vec<Counter>,
}

impl CounterRun {
    /// Adds a counter: `false` if the run has it already, so that a new run has begun.
    fn add(&mut self, counter: Counter) -> bool {
        match self.counters.iter_mut().find(|known| known.name == counter.name) {
            Some(known) if known.is_part && counter.is_part => known.value += counter.value,
            Some(_) => return false,
            None => self.counters.push(counter),
        }
        true
    }

    fn measurements(self) -> Vec<Measurement> {
        let runs = self.repeats;
        let measurement = |counter: Counter| {
            let known = KnownMetric { axis: "Test", ..KnownMetric::new("perf stat", "", "") };
            let mut found = known.value("", counter.value);
            let deviation = counter
                .error
                .or(self.is_text.then_some(0.0))
                .map(|error| error / 100.0 * counter.value.abs() * (runs as f64).sqrt());
            found.repeats = deviation.filter(|_| runs > 1).map(|deviation| Repeats { runs, deviation });
            found.traits.better = direction(&counter.name);
            found.traits.quantity.clone_from(&counter.name);
            found.metric.measure = counter.name;
            found.traits.unit = counter.unit;
            found
        };
        let finite = self.counters.into_iter().filter(|counter| counter.value.is_finite());
        finite.map(measurement).collect()
    }
}

/// Misses, faults, cycles and times cost; of other counts neither direction is better in itself.
fn direction(name: &str) -> BetterDirection {
    let base = name.split(':').next().unwrap_or(name).trim_end_matches('/');
    let costs =
        ["misses", "faults", "cycles", "clock", "migrations", "elapsed", "user", "sys", "stalls", "_ns"];
    let begins = ["duration_time", "user_time", "system_time", "l2d_cache_refill", "ll_cache_miss"];
    let is_cost =
        costs.iter().any(|end| base.ends_with(end)) || begins.iter().any(|begin| base.starts_with(begin));
    if is_cost { BetterDirection::Lower } else { BetterDirection::Unknown }
}

pub(super) fn read(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    let mut run = CounterRun::default();
    let mut in_text = false;
    let mut has_intervals = false;
    for line in lines {
        if let Some(repeats) = head(line) {
            found.append(&mut std::mem::take(&mut run).measurements());
            (run.repeats, run.is_text) = (repeats, true);
            (in_text, has_intervals) = (true, false);
            continue;
        }
        if interval_head(line) {
            found.append(&mut std::mem::take(&mut run).measurements());
            (in_text, has_intervals) = (true, true);
            continue;
        }
        let counter = match separated(line).or_else(|| json(line)) {
            Some(counter) => Some(counter),
            None if in_text => text(line, has_intervals),
            None => None,
        };
        let Some(counter) = counter else { continue };
        if !run.add(counter.clone()) {
            let (repeats, is_text) = (run.repeats, run.is_text);
            found.append(&mut std::mem::take(&mut run).measurements());
            (run.repeats, run.is_text) = (repeats, is_text);
            run.add(counter);
        }
    }
    found.append(&mut run.measurements());
    Ok(found)
}

/// `Performance counter stats for 'sleep 1' (5 runs):` to the number of runs.
fn head(line: &Line<'_>) -> Option<usize> {
    let rest = line.after("Performance counter stats for ")?;
    let runs = rest.rsplit_once('(').and_then(|(_, runs)| runs.strip_suffix(" runs):"));
    Some(runs.and_then(|runs| runs.parse().ok()).unwrap_or(1))
}

/// `#           time             counts unit events` of `-I`.
fn interval_head(line: &Line<'_>) -> bool {
    line.text.starts_with('#') && line.words().get(1..3) == Some(&["time", "counts"])
        || line.words().get(..3) == Some(&["#", "time", "CPU"])
}

/// A line of the text.
fn text(line: &Line<'_>, has_intervals: bool) -> Option<Counter> {
    let (counted, rest) = line.text.split_once('#').unwrap_or((line.text, ""));
    let (counted, notes) = counted.split_once('(').unwrap_or((counted, ""));
    let error = [rest, notes].iter().find_map(|text| relative_error(text));
    let mut words: Vec<&str> = counted.split_whitespace().collect();
    if has_intervals {
        number(words.first()?)?;
        words.remove(0);
    }
    let is_cpu = is_cpu(words.first()?);
    if is_cpu {
        words.remove(0);
    }
    let counter = |name: &str, unit: &str, value: &str| {
        let value = number(value)?;
        let is_part = has_intervals || is_cpu;
        Some(Counter { name: name.to_owned(), unit: unit.to_owned(), value, error, is_part })
    };
    match words.as_slice() {
        [value, "seconds", "time", "elapsed"] | [value, "+-", _, "seconds", "time", "elapsed"] => {
            counter("time elapsed", "s", value)
        }
        [value, "seconds", name @ ("user" | "sys")]
        | [value, "+-", _, "seconds", name @ ("user" | "sys")] => counter(name, "s", value),
        [value, name] if !name.starts_with('<') => counter(name, "", value),
        [value, unit, name] => counter(name, unit, value),
        _ => None,
    }
}

/// `+-  1.23% )` in front of a closing parenthesis.
fn relative_error(text: &str) -> Option<f64> {
    let (_, rest) = text.rsplit_once("+-")?;
    number(rest.trim().split('%').next()?.trim())
}

/// `CPU0`, or a socket, die and core of `--per-socket` and the like.
fn is_cpu(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let part = |part: &str| part.strip_prefix(['S', 'D', 'C', 'N']).is_some_and(digits);
    word.strip_prefix("CPU").is_some_and(digits) || word.contains('-') && word.split('-').all(part)
}

/// A line of `-x`: value, unit, event, with `-r` the error in percent, then run time and share of it. With `-I` the time
/// stands in front, with `-A` the CPU.
fn separated(line: &Line<'_>) -> Option<Counter> {
    let text = line.text.trim();
    let fields =
        [',', ';', '\t', '|'].iter().map(|mark| text.split(*mark).map(str::trim).collect::<Vec<_>>());
    let fields: Vec<&str> = fields.filter(|fields| fields.len() >= 5).max_by_key(Vec::len)?;
    let is_value = |word: &str| number(word).is_some() || word.starts_with("<not ");
    let mut fields = fields.as_slice();
    let mut is_part = false;
    if let [time, rest @ ..] = fields {
        // The time of an interval has a value, not a unit, behind it.
        let second_is_value = rest.first().is_some_and(|word| is_value(word) || is_cpu(word));
        if number(time).is_some() && second_is_value {
            (fields, is_part) = (rest, true);
        }
    }
    if let [cpu, rest @ ..] = fields
        && is_cpu(cpu)
    {
        (fields, is_part) = (rest, true);
    }
    let [value, unit, name, rest @ ..] = fields else { return None };
    let has_name = name.starts_with(|first: char| first.is_ascii_alphabetic()) && number(unit).is_none();
    if !has_name || !is_value(value) {
        return None;
    }
    let error = rest.first().and_then(|word| word.strip_suffix('%'));
    let run_time = rest.get(usize::from(error.is_some())).and_then(|word| number(word))?;
    let share = rest.get(usize::from(error.is_some()) + 1).and_then(|word| number(word))?;
    if run_time < 0.0 || !(0.0..=101.0).contains(&share) {
        return None;
    }
    Some(Counter {
        name: (*name).to_owned(),
        unit: (*unit).to_owned(),
        value: number(value)?,
        error: error.and_then(number),
        is_part,
    })
}

/// A line of `-j`: an object whose counter is text.
fn json(line: &Line<'_>) -> Option<Counter> {
    let text = line.text.trim();
    if !text.starts_with('{') || !text.contains("\"counter-value\"") {
        return None;
    }
    let object: Value = serde_json::from_str(text).ok()?;
    let word = |key: &str| object.get(key).and_then(Value::as_str);
    let value = word("counter-value")
        .and_then(number)
        .or_else(|| object.get("counter-value").and_then(Value::as_f64))?;
    let is_part = ["interval", "cpu", "core", "die", "socket", "node", "thread"]
        .iter()
        .any(|key| object.get(key).is_some());
    Some(Counter {
        name: word("event")?.to_owned(),
        unit: word("unit").unwrap_or_default().to_owned(),
        value,
        error: object.get("variance").and_then(Value::as_f64),
        is_part,
    })
}
