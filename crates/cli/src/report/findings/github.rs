//! Annotations of GitHub Actions: workflow commands on standard output (docs.github.com, "Workflow
//! commands").

use super::{file, message};
use crate::gate::verdict::{CheckReport, ReportedFinding};
use fieldline_check::FindingLevel;
use std::fmt::Write;

/// A line a finding that counts, a notice a note.
pub(crate) fn draw(verdict: &CheckReport) -> String {
    let mut out = String::new();
    for found in verdict.findings.iter().filter(|found| found.suppressed.is_none()) {
        let command = if found.level == FindingLevel::Error { "error" } else { "warning" };
        let text = escape_message(&message(verdict, found));
        let _ = writeln!(out, "::{command} {}::{text}", properties(found));
    }
    let notes = verdict.notes.iter().map(|note| escape_message(note));
    out.extend(notes.map(|note| format!("::notice title=fieldline::{note}\n")));
    out
}

fn properties(found: &ReportedFinding) -> String {
    let mut parts = Vec::new();
    if let Some(file) = file(found) {
        parts.push(format!("file={}", escape_property(file)));
        parts.extend(found.finding.line.map(|line| format!("line={line}")));
    }
    parts.push(format!("title={}", found.finding.rule.id()));
    parts.join(",")
}

/// Escapes a message.
fn escape_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, which may have neither colon nor comma.
fn escape_property(text: &str) -> String {
    escape_message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_a_command_is_escaped() {
        assert_eq!(escape_message("50%\nmore"), "50%25%0Amore");
        assert_eq!(escape_property("a:b,c"), "a%3Ab%2Cc");
    }
}
