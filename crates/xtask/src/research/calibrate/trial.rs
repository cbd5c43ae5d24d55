//! One prediction, and what a replay finds.

use crate::tools::shell;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Line sizes in bytes at which a plan is judged.
pub(super) const LINES: [u64; 2] = [64, 128];
/// Line size in bytes that the recorded kernels were compiled for.
const BUILD_LINE: u64 = 64;

/// All accesses of a run, and where its objects were.
#[derive(Clone)]
pub(super) struct Truth {
    pub(super) trace: PathBuf,
    pub(super) objects: PathBuf,
}

/// Lines per visit of a planned struct, predicted and replayed.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    pub(super) recording: String,
    pub(super) struct_name: String,
    pub(super) line: u64,
    /// Of the declared order: predicted, and replayed.
    pub(super) before: [f64; 2],
    /// Relative change: predicted, and replayed.
    pub(super) change: [f64; 2],
    /// The interval of the predicted change.
    pub(super) interval: [f64; 2],
}

impl Trial {
    /// Whether the interval has the replayed change.
    pub(super) fn is_covered(&self) -> bool {
        self.interval[0] <= self.change[1] && self.change[1] <= self.interval[1]
    }
}

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [predicted, replayed] = self.change.map(|change| 100.0 * change);
        let [low, high] = self.interval.map(|change| 100.0 * change);
        let verdict = if self.is_covered() { "holds" } else { "misses" };
        write!(
            f,
            "{:<16} {:<14} {:>3} B: {:.3} lines per visit, replayed {:.3}; {predicted:+.1} % ({low:+.1}..{high:+.1}), \
             replayed {replayed:+.1} %: {verdict}",
            self.recording, self.struct_name, self.line, self.before[0], self.before[1]
        )
    }
}

/// Lines per visit before and after, and misses of the shared cache after, by line size.
pub(super) type Replayed = Vec<(f64, f64, f64)>;

/// Whether a plan moves anything.
pub(super) fn proposes_an_order(plan: &Path) -> Result<bool> {
    let plan = read(plan)?;
    Ok(plan["structs"][0]["moved"].as_array().is_some_and(|moved| !moved.is_empty()))
}

/// Trials of a plan of one struct, by line size; none where the plan has no interval.
pub(super) fn trials(recording: &str, name: &str, plan: &Path, truth: &Truth) -> Result<Vec<Trial>> {
    let replayed = replay(plan, truth)?;
    let plan = read(plan)?;
    let planned = &plan["structs"][0];
    let rows = planned["confidence"]["out_of_fold"].as_array().cloned().unwrap_or_default();
    let found = LINES.iter().zip(replayed).filter_map(|(line, (before, after, _))| {
        let row = rows.iter().find(|row| is_of(row, *line))?;
        let share = |name: &str| row["interval"][name].as_f64();
        let declared = planned["forecasts"].as_array()?.iter().find(|row| is_of(row, *line))?;
        Some(Trial {
            recording: recording.to_owned(),
            struct_name: name.to_owned(),
            line: *line,
            before: [declared["together"]["before"].as_f64()?, before],
            change: [share("change")?, after / before - 1.0],
            interval: [share("low")?, share("high")?],
        })
    });
    Ok(found.collect())
}

/// Whether a row is of the recorded layout, counted by lines of a size.
fn is_of(row: &Value, line: u64) -> bool {
    row["line"] == line && row["build_line"] == BUILD_LINE && row.get("build").is_none_or(Value::is_null)
}

/// Replays a plan of one struct on a trace.
pub(super) fn replay(plan: &Path, truth: &Truth) -> Result<Replayed> {
    let out = plan.with_extension("replay");
    let mut command = Command::new(shell::fieldline()?);
    command.args(["simulate", "-q", "--plan"]).arg(plan).arg("--trace").arg(&truth.trace);
    shell::output(command.arg("--objects").arg(&truth.objects).arg("-o").arg(&out))?;
    let tables = read(&out)?;
    let figure = |line: u64, metric: &str, side: &str| {
        let table = tables["tables"].as_array()?.iter().find(|table| table["line"] == line)?;
        let metrics = table["rows"][0]["metrics"].as_array()?;
        metrics.iter().find(|row| row["name"] == metric)?[side].as_f64()
    };
    let figures = LINES.iter().map(|line| {
        let lines = |side| figure(*line, "lines per visit", side);
        let found = Some((lines("before")?, lines("after")?, figure(*line, "LLC misses", "after")?));
        found.filter(|found| found.0 > 0.0)
    });
    figures.collect::<Option<_>>().with_context(|| format!("{}: no visits", truth.objects.display()))
}

pub(super) fn read(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}
