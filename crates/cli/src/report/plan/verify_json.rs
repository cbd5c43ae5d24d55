//! Results of `verify`, as JSON.

use crate::report::plan::verify_text::VerifyReport;
use fieldline_tree::proof::{BuildProof, LayoutVerdict};
#[cfg(unix)]
use fieldline_tree::proof::{RunEnd, RunResult, TestProof, TestVerdict};
use serde_json::{Value, json};
use std::path::Path;

/// The document of `verify --format json`.
pub(crate) fn document(report: &VerifyReport) -> Value {
    let files = report.files.iter().map(|(file, structs)| {
        json!({"file": file.display().to_string(), "structs": structs.iter().map(verdict).collect::<Vec<_>>()})
    });
    let refusals = report.refusals.iter().map(|(name, reason)| json!({"name": name, "reason": reason}));
    let mut document = json!({
        "format": "fieldline-verify",
        "version": 1,
        "holds": report.holds(),
        "files": files.collect::<Vec<_>>(),
        "refusals": refusals.collect::<Vec<_>>(),
    });
    if let Some(builds) = &report.builds {
        document["builds"] = builds.iter().map(|(folder, proof)| build(folder, proof)).collect();
    }
    #[cfg(unix)]
    if let Some((command, proof)) = &report.tests {
        document["tests"] = proof.as_ref().map_or(Value::Null, |proof| tests(command, proof));
    }
    document
}

fn verdict(judged: &LayoutVerdict) -> Value {
    json!({
        "name": judged.verdict.name,
        "holds": judged.verdict.holds(),
        "members": judged.verdict.members,
        "size": judged.size,
        "size_before": judged.before,
        "mismatches": judged.verdict.mismatches,
    })
}

fn build(folder: &Path, proof: &BuildProof) -> Value {
    let structs = proof.shown.iter().flat_map(|shown| {
        shown.verdicts.iter().map(move |judged| {
            let mut value = verdict(judged);
            value["unit"] = json!(shown.unit);
            value
        })
    });
    let broken = proof.broken.iter().map(|(unit, error)| json!({"unit": unit, "error": error}));
    json!({
        "folder": folder.display().to_string(),
        "machine": proof.machine.0,
        "line": proof.machine.1,
        "structs": structs.collect::<Vec<_>>(),
        "broken": broken.collect::<Vec<_>>(),
        "notes": proof.notes,
    })
}

#[cfg(unix)]
fn tests(command: &str, proof: &TestProof) -> Value {
    let verdict = match proof.verdict() {
        TestVerdict::Passes => "passes",
        TestVerdict::FailsUnpatched => "fails-unpatched",
        TestVerdict::Changed => "changed",
    };
    json!({
        "command": command,
        "verdict": verdict,
        "without": run(&proof.before),
        "with": run(&proof.after),
        "new_failures": proof.new_failures(),
        "notes": proof.notes,
        "logs": proof.logs.as_ref().map(|folder| folder.display().to_string()),
    })
}

#[cfg(unix)]
fn run(result: &RunResult) -> Value {
    let end = match result.end {
        RunEnd::Code(code) => json!({"exit_code": code}),
        RunEnd::Signal(signal) => json!({"signal": signal}),
        RunEnd::TimedOut => json!({"timed_out": true}),
    };
    json!({"end": end, "lines": result.lines, "last_lines": result.last_lines})
}
