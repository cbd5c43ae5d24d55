//! Markdown for a job's page, such as GitHub shows of $GITHUB_STEP_SUMMARY.

use super::{location, subject};
use crate::gate::verdict::{CheckReport, ReportedFinding};
use crate::report::markdown::escape_cell;
use fieldline_check::FindingLevel;
use std::fmt::Write;

/// Most findings shown: a page of a job takes a mebibyte.
const MAX_FINDINGS: usize = 500;

/// Targets, findings, suppressed findings and notes on rules that were not checked.
pub(crate) fn draw(verdict: &CheckReport) -> String {
    let mut out = String::from("### Struct layouts\n\n");
    draw_targets(&mut out, verdict);
    let (suppressed, open): (Vec<&ReportedFinding>, Vec<&ReportedFinding>) =
        verdict.findings.iter().partition(|found| found.suppressed.is_some());
    match open.is_empty() {
        true => out.push_str("\nNo findings.\n"),
        false => draw_findings(&mut out, &open),
    }
    if !suppressed.is_empty() {
        let _ = write!(out, "\n<details><summary>{} suppressed</summary>\n", suppressed.len());
        draw_findings(&mut out, &suppressed);
        out.push_str("\n</details>\n");
    }
    if !verdict.notes.is_empty() {
        out.push('\n');
    }
    out.extend(verdict.notes.iter().map(|note| format!("* {}\n", escape_cell(note))));
    out
}

fn draw_targets(out: &mut String, verdict: &CheckReport) {
    out.push_str("| target | compared with | types | errors | warnings |\n| --- | --- | --: | --: | --: |\n");
    for target in &verdict.targets {
        let count = |level| {
            let here = verdict.findings.iter().filter(|found| found.target == target.name);
            here.filter(|found| found.is_at(level)).count()
        };
        let label = if target.label.is_empty() { String::new() } else { format!(" ({})", target.label) };
        let (name, types) = (escape_cell(&format!("{}{label}", target.name)), target.types.len());
        let against = escape_cell(target.against.as_deref().unwrap_or("nothing"));
        let (errors, warnings) = (count(FindingLevel::Error), count(FindingLevel::Warn));
        let _ = writeln!(out, "| {name} | {against} | {types} | {errors} | {warnings} |");
    }
}

fn draw_findings(out: &mut String, shown: &[&ReportedFinding]) {
    out.push_str(
        "\n| | target | subject | finding | rule | declared at |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for found in shown.iter().take(MAX_FINDINGS) {
        let place = location(found).unwrap_or_default();
        let message = match (&found.suppressed, &found.finding.fix) {
            (Some(reason), _) => format!("{} ({reason})", found.finding.message),
            (None, Some(fix)) => format!("{}; to mend it: {fix}", found.finding.message),
            (None, None) => found.finding.message.clone(),
        };
        let cells = [&found.target, &subject(found), &message, &found.finding.rule.id().to_owned(), &place];
        let cells: Vec<String> = cells.into_iter().map(|text| escape_cell(text)).collect();
        let _ = writeln!(out, "| {} | {} |", found.level.word(), cells.join(" | "));
    }
    if let Some(more) = shown.len().checked_sub(MAX_FINDINGS + 1) {
        let _ = writeln!(out, "\n{} more findings are left out.", more + 1);
    }
}
