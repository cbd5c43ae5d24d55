//! Findings of a check, human-readable and machine-readable.

pub(crate) mod github;
pub(crate) mod junit;
pub(crate) mod sarif;
pub(crate) mod summary;
pub(crate) mod text;

use crate::gate::verdict::ReportedFinding;

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
