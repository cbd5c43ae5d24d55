//! Findings as text.

use super::{instructions, location, subject};
use crate::gate::verdict::CheckReport;
use crate::report::color::Palette;
use fieldline_check::FindingLevel;
use std::fmt::Write;

/// Findings, suppressed findings, notes, and a summary.
pub(crate) fn draw(verdict: &CheckReport, paint: Palette) -> String {
    let mut out = String::new();
    for found in verdict.findings.iter().filter(|found| found.suppressed.is_none()) {
        let level = match found.level {
            FindingLevel::Error => paint.warning("error"),
            _ => paint.unused("warning"),
        };
        let _ = writeln!(out, "{level}: {}: {}: {}", found.target, subject(found), found.finding.message);
        let place = location(found).map(|place| place + " ").unwrap_or_default();
        let _ = writeln!(out, "  {place}{}", paint.dim(&format!("[{}]", found.finding.rule.id())));
        for instruction in instructions(verdict, found) {
            let _ = writeln!(out, "  {}", instruction.replace('\n', "\n    "));
        }
    }
    let mut suppressed = 0;
    for found in &verdict.findings {
        let Some(reason) = &found.suppressed else { continue };
        suppressed += 1;
        let (target, rule, message) = (&found.target, found.finding.rule.id(), &found.finding.message);
        let _ = writeln!(out, "suppressed: {target}: {}: {message} [{rule}]: {reason}", subject(found));
    }
    out.extend(verdict.notes.iter().map(|note| format!("note: {note}\n")));
    let types: usize = verdict.targets.iter().map(|target| target.types.len()).sum();
    let [errors, warnings] = [FindingLevel::Error, FindingLevel::Warn].map(|level| verdict.count(level));
    let _ = write!(out, "{types} types of {} targets checked: ", verdict.targets.len());
    let _ = writeln!(out, "{errors} errors, {warnings} warnings, {suppressed} suppressed");
    out
}
