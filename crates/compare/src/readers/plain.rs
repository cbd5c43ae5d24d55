//! Names with values, and CSV: what any script can write.

use super::{Line, ReadError, number};
use crate::measurement::{BetterDirection, KnownMetric, Measurement, MetricId, MetricTraits, RunAverage};

/// The head of the list of benchmarks that have no test in common.
const LIST: &str = "Other benchmarks";

/// Lines `name value`, `name value unit`, `name: value unit`, `name = value`, or a value alone. All lines must be
/// so; lines that begin with `#` are comments.
pub(super) fn read_names(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let mut found = Vec::new();
    for line in lines.iter().filter(|line| !is_comment(line)) {
        match named(line.text.trim()) {
            Some(measurement) => found.push(measurement),
            None => return Ok(Vec::new()),
        }
    }
    Ok(found)
}

fn is_comment(line: &Line<'_>) -> bool {
    let text = line.text.trim();
    text.is_empty() || text.starts_with('#')
}

fn named(text: &str) -> Option<Measurement> {
    if let Some(value) = number(text) {
        return Some(measurement("value", value, ""));
    }
    let split = text.split_once(": ").or_else(|| text.split_once(":\t")).or_else(|| text.split_once('='));
    if let Some((name, rest)) = split {
        let mut words = rest.split_whitespace();
        let value = number(words.next()?)?;
        let unit: Vec<&str> = words.collect();
        let is_plain = unit.len() <= MAX_UNIT_WORDS && unit.iter().all(|word| is_unit(word));
        return (is_plain && is_name(name)).then(|| measurement(name.trim(), value, &unit.join(" ")));
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let (name, value, unit) = match words.as_slice() {
        [name @ .., value] if !name.is_empty() && number(value).is_some() => (name, value, ""),
        [name @ .., value, unit] if !name.is_empty() && is_unit(unit) => (name, value, *unit),
        _ => return None,
    };
    let name = name.join(" ");
    is_name(&name).then_some(())?;
    Some(measurement(&name, number(value)?, unit))
}

/// Most words of a unit, such as `requests per second`.
const MAX_UNIT_WORDS: usize = 3;

/// Whether a text has a letter and is no sentence.
fn is_name(text: &str) -> bool {
    text.chars().any(char::is_alphabetic) && text.split_whitespace().count() <= 4
}

fn is_unit(word: &str) -> bool {
    let is_word = word.chars().any(char::is_alphabetic) && !word.contains([':', '=', ',']);
    is_word && !word.starts_with(|first: char| first.is_ascii_digit()) && !word.ends_with('.') || word == "%"
}

fn measurement(name: &str, value: f64, unit: &str) -> Measurement {
    let known =
        KnownMetric { axis: "Benchmarks", table: LIST, quantity: "%diff", ..KnownMetric::new("", "", "") };
    let mut found = known.value("", value);
    name.clone_into(&mut found.metric.test);
    unit.clone_into(&mut found.traits.unit);
    found.traits.better = BetterDirection::from_unit(unit);
    found
}

/// A table with a head: a row a value (it has a column `value`), or a row a run (numbers below names).
pub(super) fn read_csv(lines: &[Line<'_>]) -> Result<Vec<Measurement>, ReadError> {
    let rows: Vec<&Line<'_>> = lines.iter().filter(|line| !is_comment(line)).collect();
    let [head, rows @ ..] = rows.as_slice() else { return Ok(Vec::new()) };
    let Some(mark) = [',', ';', '\t'].into_iter().find(|mark| head.text.contains(*mark)) else {
        return Ok(Vec::new());
    };
    let head: Vec<String> = cells(head.text, mark).iter().map(|cell| cell.trim().to_owned()).collect();
    if rows.is_empty() || head.iter().any(|name| name.is_empty() || number(name).is_some()) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let table = CsvTable::new(&head, rows, mark);
    for line in rows {
        let cells = cells(line.text, mark);
        if cells.len() != head.len() {
            let (has, wanted) = (cells.len(), head.len());
            return Err(ReadError::broken(line.number, format!("{has} cells below a head of {wanted}")));
        }
        found.extend(table.read_row(line, &cells)?);
    }
    Ok(found)
}

/// Cells of a row; quoted ones may hold the mark, and a quote as two.
fn cells(text: &str, mark: char) -> Vec<String> {
    let (mut found, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => is_quoted = !is_quoted,
            _ if letter == mark && !is_quoted => found.push(std::mem::take(&mut cell)),
            _ => cell.push(letter),
        }
    }
    found.push(cell);
    found
}

/// Columns that say how to read a row.
struct CsvTable<'h> {
    head: &'h [String],
    /// The column of values, if a row is a value.
    value: Option<usize>,
    /// Columns of numbers, if a row is a run.
    figures: Vec<usize>,
}

/// Names of columns with the same meaning.
const TEST: [&str; 3] = ["test", "benchmark", "workload"];
const CASE: [&str; 2] = ["case", "parameter"];
const MEASURE: [&str; 3] = ["metric", "measure", "name"];
const UNIT: [&str; 2] = ["unit", "units"];
const BETTER: [&str; 2] = ["better", "direction"];
const AVERAGE: [&str; 2] = ["statistic", "average"];
const RUN: [&str; 5] = ["run", "iteration", "iter", "repeat", "#"];
const MACHINE: [&str; 2] = ["machine", "host"];

/// The head of what hyperfine exports as CSV.
const HYPERFINE: [&str; 3] = ["command", "mean", "stddev"];

impl<'h> CsvTable<'h> {
    fn new(head: &'h [String], rows: &[&Line<'_>], mark: char) -> Self {
        let value = position(head, &["value"]);
        let is_figure = |column: &usize| {
            let name = head.get(*column).map(|name| name.to_ascii_lowercase()).unwrap_or_default();
            let is_number = |line: &&Line<'_>| {
                cells(line.text, mark).get(*column).is_some_and(|cell| number(cell.trim()).is_some())
            };
            !RUN.contains(&name.as_str()) && rows.iter().all(is_number)
        };
        let figures = match () {
            () if value.is_some() => Vec::new(),
            () if head.get(..3).is_some_and(|head| head == HYPERFINE) => vec![1],
            () => (0..head.len()).filter(is_figure).collect(),
        };
        Self { head, value, figures }
    }

    fn read_row(&self, line: &Line<'_>, cells: &[String]) -> Result<Vec<Measurement>, ReadError> {
        let cell =
            |names: &[&str]| position(self.head, names).and_then(|at| cells.get(at)).map(|cell| cell.trim());
        let Some(value) = self.value.and_then(|at| cells.get(at)) else {
            return Ok(self.figures.iter().filter_map(|at| self.figure(*at, cells)).collect());
        };
        let Some(value) = number(value.trim()) else {
            return Err(ReadError::broken(line.number, format!("the value is no number: {}", value.trim())));
        };
        let text = |names: &[&str]| cell(names).unwrap_or_default().to_owned();
        let unit = text(&UNIT);
        let better = match cell(&BETTER).unwrap_or_default().to_ascii_lowercase() {
            word if word.starts_with("low") || word.starts_with("less") || word.starts_with("small") => {
                BetterDirection::Lower
            }
            word if word.starts_with("high") || word.starts_with("more") || word.starts_with("large") => {
                BetterDirection::Higher
            }
            _ => BetterDirection::from_unit(&unit),
        };
        let average = match cell(&AVERAGE).filter(|name| !name.is_empty()) {
            Some(name) => match RunAverage::from_name(name) {
                Some(average) => average,
                None => {
                    return Err(ReadError::broken(
                        line.number,
                        format!("no statistic: {name} (AMean, HMean, Median)"),
                    ));
                }
            },
            None => RunAverage::Arithmetic,
        };
        let metric = MetricId {
            machine: text(&MACHINE),
            test: text(&TEST),
            case: text(&CASE),
            measure: text(&MEASURE),
        };
        let quantity = cell(&["quantity"])
            .filter(|text| !text.is_empty())
            .map_or_else(|| metric.measure.clone(), str::to_owned);
        let axis = cell(&["axis"]).filter(|text| !text.is_empty()).unwrap_or("Case").to_owned();
        let traits =
            MetricTraits { unit, better, average, quantity, axis, table: text(&["table"]), is_key: true };
        let is_named = !metric.test.is_empty();
        Ok(vec![Measurement { metric, traits, value, repeats: None, is_named }])
    }

    /// A number of a row that is a run; the row's other cells name the case.
    fn figure(&self, column: usize, cells: &[String]) -> Option<Measurement> {
        let head = self.head.get(column)?;
        let value = number(cells.get(column)?.trim())?;
        let (name, unit) = split_unit(head);
        let is_label = |at: usize| {
            let name = self.head.get(at).map(|name| name.to_ascii_lowercase()).unwrap_or_default();
            !self.figures.contains(&at)
                && !RUN.contains(&name.as_str())
                && cells.get(at).is_some_and(|cell| number(cell.trim()).is_none())
        };
        let labels = cells.iter().enumerate().filter(|(at, _)| is_label(*at)).map(|(_, cell)| cell.trim());
        let labels: Vec<&str> = labels.collect();
        let mut found = measurement(name, value, unit);
        if self.head.get(..3).is_some_and(|head| head == HYPERFINE) {
            found = measurement("hyperfine", value, "s");
        }
        found.metric.case = labels.join(" ");
        Some(found)
    }
}

/// `time (s)` and `time [s]` to name and unit.
fn split_unit(head: &str) -> (&str, &str) {
    let inner = head.strip_suffix(')').and_then(|head| head.split_once(" ("));
    let inner = inner.or_else(|| head.strip_suffix(']').and_then(|head| head.split_once(" [")));
    inner.map_or((head, ""), |(name, unit)| (name.trim(), unit.trim()))
}

fn position(head: &[String], names: &[&str]) -> Option<usize> {
    head.iter().position(|head| names.contains(&head.to_ascii_lowercase().as_str()))
}
