//! For eyes.

use super::{file, subject};
use crate::gate::verdict::{Found, Verdict};
use crate::report::color::Paint;
use fieldline_check::FindingLevel;
use std::fmt::Write;

/// The text: findings by target, what is suppressed, what was not looked at, a summary.
pub(crate) fn draw(verdict: &Verdict, paint: Paint) -> String {
    let mut out = String::new();
    for found in verdict.findings.iter().filter(|found| found.suppressed.is_none()) {
        let level = match found.level {
            FindingLevel::Error => paint.warn("error"),
            _ => paint.gap("warning"),
        };
        let _ = writeln!(out, "{level}: {}: {}: {}", found.target, subject(found), found.finding.message);
        let _ = writeln!(out, "  {}{}", place(found), paint.dim(&format!("[{}]", found.finding.rule.id())));
    }
    for found in &verdict.findings {
        if let Some(reason) = &found.suppressed {
            let (rule, about) = (found.finding.rule.id(), subject(found));
            let _ = writeln!(
                out,
                "suppressed: {}: {about}: {} [{rule}]: {reason}",
                found.target, found.finding.message
            );
        }
    }
    for note in &verdict.notes {
        let _ = writeln!(out, "note: {note}");
    }
    let _ = writeln!(out, "{}", summary(verdict));
    out
}

fn place(found: &Found) -> String {
    match (file(found), found.finding.line) {
        (Some(file), Some(line)) => format!("{file}:{line} "),
        (Some(file), None) => format!("{file} "),
        _ => String::new(),
    }
}

fn summary(verdict: &Verdict) -> String {
    let types: usize = verdict.targets.iter().map(|of| of.types.len()).sum();
    let suppressed = verdict.findings.iter().filter(|found| found.suppressed.is_some()).count();
    format!(
        "{types} types of {} targets checked: {} errors, {} warnings, {suppressed} suppressed",
        verdict.targets.len(),
        verdict.count(FindingLevel::Error),
        verdict.count(FindingLevel::Warn)
    )
}
