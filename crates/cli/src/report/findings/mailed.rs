//! Patches by mail, as text, as JSON, and as one check.

use super::{mailed_json, text};
use crate::gate::mailed::{JudgedPatch, MailedReport, ShownChange, TargetChanges};
use crate::gate::verdict::CheckReport;
use crate::report::color::Palette;
use crate::report::layout::diff_text;
use serde::Serialize;
use std::fmt::Write;

/// Each patch: its subject, what it changes, and what was found.
pub(crate) fn draw(report: &MailedReport<'_>, is_colored: bool) -> String {
    let paint = Palette::new(is_colored);
    let mut out = String::new();
    for patch in &report.patches {
        let _ = writeln!(out, "{}", paint.bold(&patch.mail.subject));
        for target in &patch.targets {
            target.structs.iter().for_each(|change| draw_change(&mut out, change, target, patch, paint));
        }
        for line in remarks(patch) {
            let _ = writeln!(out, "{line}");
        }
        out.push_str(&text::draw(&patch.check, paint));
        out.push('\n');
    }
    out.extend(report.notes.iter().map(|note| format!("note: {note}\n")));
    out
}

/// A struct's change, or that there is none.
pub(super) fn draw_change(
    out: &mut String,
    change: &ShownChange,
    target: &TargetChanges,
    patch: &JudgedPatch<'_>,
    paint: Palette,
) {
    let by = if patch.targets.len() > 1 { format!("{}, ", target.target) } else { String::new() };
    let unit = format!("  ({by}compiled in {})", change.unit);
    match (&change.change, change.size_before, change.size_after) {
        (Some(changed), _, _) => {
            diff_text::draw_type(out, changed, paint);
            // The line above belongs to the struct.
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
        (None, None, Some(size)) => {
            let _ = writeln!(out, "{}: new, {size} bytes", paint.bold(&change.name));
        }
        (None, Some(_), None) => {
            let _ = writeln!(out, "{}: gone", paint.bold(&change.name));
        }
        (None, _, size) => {
            let size = size.unwrap_or(0);
            let _ = writeln!(out, "{}: the layout stays, {size} bytes", paint.bold(&change.name));
        }
    }
    let _ = writeln!(out, "{}", paint.dim(&unit));
}

/// Structs that were not judged, and units that no longer compile, a line each.
pub(super) fn remarks(patch: &JudgedPatch<'_>) -> Vec<String> {
    let mut out = Vec::new();
    if patch.touched.is_empty() {
        out.push("The patch changes no declaration of a struct.".to_owned());
    }
    for target in &patch.targets {
        for (unit, why) in &target.broken {
            out.push(format!("{}: {unit} no longer compiles: {}", target.target, why.replace('\n', "\n  ")));
        }
        for (name, file, why) in &target.missing {
            out.push(format!("{}: struct {name} ({file}) was not judged: {why}", target.target));
        }
        let unlisted = target.structs.iter().filter(|change| !change.is_judged && change.is_touched);
        let unlisted: Vec<&str> = unlisted.map(|change| change.name.as_str()).collect();
        if !unlisted.is_empty() {
            let names = unlisted.join(", ");
            out.push(format!(
                "{}: not among the types of the configuration, so not judged: {names}",
                target.target
            ));
        }
        out.extend(target.notes.iter().map(|note| format!("{}: {note}", target.target)));
    }
    out
}

/// The JSON document.
pub(crate) fn document<'r>(report: &'r MailedReport<'_>, config: &'r str) -> impl Serialize + use<'r> {
    mailed_json::document(report, config)
}

/// All patches as one check, for formats of checks.
pub(crate) fn join(report: &MailedReport<'_>, config: &str) -> CheckReport {
    let parts: Vec<&CheckReport> = report.patches.iter().map(|patch| &patch.check).collect();
    let mut all = CheckReport::join(config, &parts);
    for patch in &report.patches {
        all.notes.extend(remarks(patch).into_iter().map(|line| format!("{}: {line}", patch.mail.subject)));
    }
    all.notes.extend(report.notes.iter().cloned());
    all
}
