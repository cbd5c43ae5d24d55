//! Markdown for a job's page, such as GitHub shows of $GITHUB_STEP_SUMMARY.

use super::{place, subject};
use crate::gate::verdict::{Found, Verdict};
use fieldline_check::FindingLevel;
use std::fmt::Write;

/// Findings shown: a page of a job holds a mebibyte.
const SHOWN: usize = 500;

/// Targets, findings, what is suppressed and what was not looked at.
pub(crate) fn draw(verdict: &Verdict) -> String {
    let mut out = String::from("### Struct layouts\n\n");
    targets(&mut out, verdict);
    let (suppressed, open): (Vec<&Found>, Vec<&Found>) =
        verdict.findings.iter().partition(|found| found.suppressed.is_some());
    match open.is_empty() {
        true => out.push_str("\nNo findings.\n"),
        false => findings(&mut out, &open),
    }
    if !suppressed.is_empty() {
        let _ = write!(out, "\n<details><summary>{} suppressed</summary>\n", suppressed.len());
        findings(&mut out, &suppressed);
        out.push_str("\n</details>\n");
    }
    if !verdict.notes.is_empty() {
        out.push('\n');
    }
    out.extend(verdict.notes.iter().map(|note| format!("* {}\n", cell(note))));
    out
}

fn targets(out: &mut String, verdict: &Verdict) {
    out.push_str("| target | compared with | types | errors | warnings |\n| --- | --- | --: | --: | --: |\n");
    for target in &verdict.targets {
        let count = |level| {
            let here = verdict.findings.iter().filter(|found| found.target == target.name);
            here.filter(|found| found.is_at(level)).count()
        };
        let label = if target.label.is_empty() { String::new() } else { format!(" ({})", target.label) };
        let (name, types) = (cell(&format!("{}{label}", target.name)), target.types.len());
        let against = cell(target.against.as_deref().unwrap_or("nothing"));
        let (errors, warnings) = (count(FindingLevel::Error), count(FindingLevel::Warn));
        let _ = writeln!(out, "| {name} | {against} | {types} | {errors} | {warnings} |");
    }
}

fn findings(out: &mut String, of: &[&Found]) {
    out.push_str(
        "\n| | target | what | finding | rule | declared at |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for found in of.iter().take(SHOWN) {
        let place = place(found).unwrap_or_default();
        let message = match &found.suppressed {
            Some(reason) => format!("{} ({reason})", found.finding.message),
            None => found.finding.message.clone(),
        };
        let cells = [&found.target, &subject(found), &message, &found.finding.rule.id().to_owned(), &place];
        let cells: Vec<String> = cells.into_iter().map(|text| cell(text)).collect();
        let _ = writeln!(out, "| {} | {} |", found.level.word(), cells.join(" | "));
    }
    if let Some(more) = of.len().checked_sub(SHOWN + 1) {
        let _ = writeln!(out, "\n{} more findings are left out.", more + 1);
    }
}

/// Text that stays in its cell and means no markup: names have underscores, types asterisks.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\n' | '\r' => out.push(' '),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => out.extend(['\\', character]),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(cell("a_b|c<d>\n*e"), "a\\_b\\|c&lt;d> \\*e");
    }
}
