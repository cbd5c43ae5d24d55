//! Findings of a check, human-readable and machine-readable.

pub(crate) mod github;
pub(crate) mod junit;
pub(crate) mod mailed;
mod mailed_json;
pub(crate) mod reply;
pub(crate) mod sarif;
pub(crate) mod summary;
pub(crate) mod text;

use crate::gate::verdict::{CheckReport, ReportedFinding};

/// `foo` or `foo.bar`: what a finding is about.
fn subject(found: &ReportedFinding) -> String {
    match &found.finding.member {
        Some(member) => format!("{}.{member}", found.ty),
        None => found.ty.clone(),
    }
}

/// `file.h:12`: where it is declared, as far as that is known.
fn location(found: &ReportedFinding) -> Option<String> {
    let line = found.finding.line.map_or_else(String::new, |line| format!(":{line}"));
    file(found).map(|file| format!("{file}{line}"))
}

/// The file that declares it, as paths in a source tree are written.
fn file(found: &ReportedFinding) -> Option<&str> {
    found.finding.file.as_deref().map(|file| file.strip_prefix("./").unwrap_or(file))
}

/// Instructions that end a finding: the change of the source that mends it, if one is known, and how to accept it.
fn instructions(verdict: &CheckReport, found: &ReportedFinding) -> Vec<String> {
    let mend = found.finding.fix.iter().map(|fix| format!("to mend it: {fix}"));
    let accept = format!("to accept it: {}", found.accept.instruction(&verdict.config));
    mend.chain([accept]).collect()
}

/// A finding in a message of its own: the subject, what was found, and the instructions.
fn message(verdict: &CheckReport, found: &ReportedFinding) -> String {
    let head = format!("{}: {}: {}", found.target, subject(found), found.finding.message);
    std::iter::once(head).chain(instructions(verdict, found)).collect::<Vec<_>>().join("\n")
}
