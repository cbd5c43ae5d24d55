//! Results of `verify`, as text.

use fieldline_tree::proof::{BuildProof, LayoutVerdict, ShownStruct, TestProof};
#[cfg(unix)]
use fieldline_tree::proof::{RunEnd, TestVerdict};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Everything that `verify` found.
#[derive(Debug, Default)]
pub(crate) struct VerifyReport {
    /// Files built with the patch, and their structs.
    pub(crate) files: Vec<(PathBuf, Vec<LayoutVerdict>)>,
    /// Structs whose declaration can't be changed, with the reasons.
    pub(crate) refusals: Vec<(String, String)>,
    /// Build folders in which the patch was compiled; none of them if nothing moves.
    pub(crate) builds: Option<Vec<(PathBuf, BuildProof)>>,
    /// The test command, and how it ended if anything moves.
    pub(crate) tests: Option<(String, Option<TestProof>)>,
}

impl VerifyReport {
    /// Whether everything is as predicted.
    pub(crate) fn holds(&self) -> bool {
        let mut structs = self.files.iter().flat_map(|(_, structs)| structs);
        let mut builds = self.builds.iter().flatten();
        self.refusals.is_empty()
            && structs.all(|judged| judged.verdict.holds())
            && builds.all(|(_, proof)| proof.holds())
            && self.tests_hold()
    }

    #[cfg(unix)]
    fn tests_hold(&self) -> bool {
        let proof = self.tests.as_ref().and_then(|(_, proof)| proof.as_ref());
        proof.is_none_or(|proof| proof.verdict() != TestVerdict::Changed)
    }

    #[cfg(not(unix))]
    fn tests_hold(&self) -> bool {
        true
    }
}

/// Appends everything.
pub(crate) fn draw(out: &mut String, report: &VerifyReport) {
    for (file, structs) in &report.files {
        let _ = writeln!(out, "{}:", file.display());
        structs.iter().for_each(|judged| draw_verdict(out, judged));
    }
    draw_refusals(out, &report.refusals);
    if let Some(builds) = &report.builds {
        draw_builds(out, builds);
    }
    match &report.tests {
        #[cfg(unix)]
        Some((command, Some(proof))) => draw_tests(out, command, proof),
        Some(_) => out.push_str("nothing moves, so there is nothing to test\n"),
        None => {}
    }
}

/// Appends whether a struct of a file is as predicted.
fn draw_verdict(out: &mut String, judged: &LayoutVerdict) {
    let (name, members, size) = (&judged.verdict.name, judged.verdict.members, judged.size);
    if judged.verdict.holds() {
        let _ = writeln!(out, "  struct {name}: {members} members and {size} bytes are as predicted");
        return;
    }
    let _ = writeln!(out, "  struct {name}: not as predicted");
    draw_mismatches(out, judged);
}

fn draw_mismatches(out: &mut String, judged: &LayoutVerdict) {
    out.extend(judged.verdict.mismatches.iter().map(|mismatch| format!("    {mismatch}\n")));
}

/// Structs whose declaration can't be changed.
fn draw_refusals(out: &mut String, refusals: &[(String, String)]) {
    out.extend(refusals.iter().map(|(name, reason)| format!("refused: struct {name}: {reason}\n")));
}

/// A row for each struct of each build, and below it what is not as predicted.
fn draw_builds(out: &mut String, found: &[(PathBuf, BuildProof)]) {
    if found.is_empty() {
        out.push_str("nothing moves, so there is nothing to compile\n");
        return;
    }
    let titles = ["build", "machine", "line", "struct", "unit", "bytes", "result"].map(str::to_owned);
    let rows: Vec<[String; 7]> = std::iter::once(titles).chain(found.iter().flat_map(build_rows)).collect();
    let widths: Vec<usize> =
        (0..7).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    for row in &rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
    for (folder, finding) in found {
        draw_details(out, folder, finding);
    }
}

fn build_rows((folder, finding): &(PathBuf, BuildProof)) -> Vec<[String; 7]> {
    let (machine, line) = &finding.machine;
    let row = |name: &str, unit: &str, bytes: String, result: String| {
        let (folder, line) = (folder.display().to_string(), format!("{line} B"));
        [folder, machine.clone(), line, name.to_owned(), unit.to_owned(), bytes, result]
    };
    let mut rows = Vec::new();
    for ShownStruct { name, unit, verdicts: judged, .. } in &finding.shown {
        rows.extend(judged.iter().map(|verified| row(name, unit, bytes(verified), result(verified))));
    }
    let broken = finding.broken.iter();
    rows.extend(broken.map(|(unit, _)| row("", unit, String::new(), "does not compile".to_owned())));
    rows
}

fn bytes(judged: &LayoutVerdict) -> String {
    let after = judged.size;
    judged.before.map_or_else(|| after.to_string(), |before| format!("{before} -> {after}"))
}

fn result(judged: &LayoutVerdict) -> String {
    match judged.verdict.holds() {
        true => format!("{} members as predicted", judged.verdict.members),
        false => "NOT as predicted".to_owned(),
    }
}

fn draw_details(out: &mut String, folder: &Path, finding: &BuildProof) {
    let folder = folder.display();
    for judged in
        finding.shown.iter().flat_map(|shown| &shown.verdicts).filter(|verified| !verified.verdict.holds())
    {
        let _ = writeln!(out, "{folder}: struct {}: not as predicted", judged.verdict.name);
        draw_mismatches(out, judged);
    }
    for (unit, why) in &finding.broken {
        let _ = writeln!(out, "{folder}: {unit} does not compile with the patch:\n{why}");
    }
    out.extend(finding.notes.iter().map(|remark| format!("{folder}: note: {remark}\n")));
}

/// Most new lines about failures that are shown.
#[cfg(unix)]
const MAX_FAILURES: usize = 10;

/// Appends how a test command ended without and with the patch.
#[cfg(unix)]
fn draw_tests(out: &mut String, command: &str, proof: &TestProof) {
    let _ = writeln!(out, "tests '{command}':");
    let _ =
        writeln!(out, "  without the patch: {}, {} lines", end_text(proof.before.end), proof.before.lines);
    let _ = writeln!(out, "  with the patch:    {}, {} lines", end_text(proof.after.end), proof.after.lines);
    let verdict = proof.verdict();
    out.push_str(match verdict {
        TestVerdict::Passes => "  the same: it passes without and with the patch\n",
        TestVerdict::FailsUnpatched => {
            "  it fails without the patch too, and no other line names a failure with it: this shows little\n"
        }
        TestVerdict::Changed => "  NOT the same: the patch changes the outcome\n",
    });
    if verdict == TestVerdict::Changed {
        for line in proof.new_failures().into_iter().take(MAX_FAILURES) {
            let _ = writeln!(out, "  only with the patch: {line}");
        }
        let failed = if proof.after.end == RunEnd::Code(0) {
            ("without", &proof.before)
        } else {
            ("with", &proof.after)
        };
        let _ = writeln!(out, "  last lines {} the patch:", failed.0);
        out.extend(failed.1.last_lines.iter().map(|line| format!("    {line}\n")));
    }
    out.extend(proof.notes.iter().map(|note| format!("  note: {note}\n")));
    out.extend(proof.logs.iter().map(|folder| format!("  logs: {}\n", folder.display())));
}

#[cfg(unix)]
fn end_text(end: RunEnd) -> String {
    match end {
        RunEnd::Code(0) => "passes".to_owned(),
        RunEnd::Code(code) => format!("fails with exit code {code}"),
        RunEnd::Signal(signal) => format!("ended by signal {signal}"),
        RunEnd::TimedOut => "took too long and was killed".to_owned(),
    }
}
