//! Replies to patches in the manner of the kernel's test robot: the hunk quoted, what it changes, what was found.

use super::mailed::{draw_change, remarks};
use super::{location, subject};
use crate::gate::mailed::{JudgedPatch, MailedReport};
use crate::gate::verdict::ReportedFinding;
use crate::report::color::Palette;
use fieldline_check::FindingLevel;
use fieldline_files::printable::printable;
use fieldline_mail::{FileDiff, Hunk, Reply};
use fieldline_tree::proof::{Patch, TouchedStruct};
use std::fmt::Write;
use std::ops::Range;

/// Most lines of a hunk that are quoted.
const MOST_QUOTED: usize = 40;

/// An mbox with a reply to each patch.
pub(crate) fn draw(report: &MailedReport<'_>) -> String {
    let mut out = String::new();
    for (index, patch) in report.patches.iter().enumerate() {
        let mut body = draw_body(patch);
        if index == 0 {
            body.extend(report.notes.iter().map(|note| format!("note: {note}\n")));
        }
        let _ = write!(body, "\n-- \nfieldline {}\n", env!("CARGO_PKG_VERSION"));
        out.push_str(&Reply { to: patch.mail, body: &body }.text());
    }
    out
}

fn draw_body(patch: &JudgedPatch<'_>) -> String {
    let mut out = String::new();
    if let Some(author) = &patch.mail.author {
        let _ = writeln!(out, "Hi {author},\n");
    }
    if patch.touched.is_empty() {
        out.push_str("the patch changes no declaration of a struct: nothing to compile, no finding.\n");
        return out;
    }
    out.push_str(
        "fieldline compiled the structs whose declarations this patch changes, without and with\nit.\n\n",
    );
    let [errors, warnings] = [FindingLevel::Error, FindingLevel::Warn].map(|level| patch.check.count(level));
    let broken = patch.targets.iter().map(|target| target.broken.len()).sum::<usize>();
    let summary = match (errors, warnings, broken) {
        (0, 0, 0) => "no finding".to_owned(),
        (_, _, 0) => format!("{errors} errors, {warnings} warnings"),
        _ => format!("{broken} units no longer compile, {errors} errors, {warnings} warnings"),
    };
    let _ = writeln!(out, "[{summary}]\n");
    for touched in &patch.touched {
        draw_struct(&mut out, patch, &touched.name, Some(touched));
    }
    for name in holders(patch) {
        draw_struct(&mut out, patch, name, None);
    }
    for line in remarks(patch) {
        let _ = writeln!(out, "{line}");
    }
    let notes = &patch.check.notes;
    out.extend(notes.iter().map(|note| format!("note: {note}\n")));
    out
}

/// Structs that hold a touched one.
fn holders<'p>(patch: &'p JudgedPatch<'_>) -> Vec<&'p str> {
    let all = patch.targets.iter().flat_map(|target| &target.structs).filter(|change| !change.is_touched);
    let mut names: Vec<&str> =
        all.filter(|change| change.change.is_some()).map(|change| &*change.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The hunks of a struct, its changes, and the findings about it.
fn draw_struct(out: &mut String, patch: &JudgedPatch<'_>, name: &str, touched: Option<&TouchedStruct>) {
    if let Some(touched) = touched {
        draw_hunks(out, patch, touched);
    }
    for target in &patch.targets {
        for change in target.structs.iter().filter(|change| change.name == name) {
            draw_change(out, change, target, patch, Palette::new(false));
        }
    }
    for found in patch.check.findings.iter().filter(|found| found.ty == name) {
        draw_finding(out, found);
    }
    out.push('\n');
}

fn draw_finding(out: &mut String, found: &ReportedFinding) {
    let place = location(found).map(|place| format!(" ({place})")).unwrap_or_default();
    let (rule, message) = (found.finding.rule.id(), &found.finding.message);
    let what = format!("{}: {message} [{rule}]{place}", subject(found));
    match &found.suppressed {
        Some(reason) => drop(writeln!(out, "   suppressed: {what}: {reason}")),
        None => {
            let level = if found.level == FindingLevel::Error { "error" } else { "warning" };
            let _ = writeln!(out, ">> {level}: {}: {what}", found.target);
        }
    }
    if let Some(fix) = found.finding.fix.as_ref().filter(|_| found.suppressed.is_none()) {
        let _ = writeln!(out, "   to mend it: {fix}");
    }
}

/// Quotes the hunks that change a struct's declaration.
fn draw_hunks(out: &mut String, patch: &JudgedPatch<'_>, touched: &TouchedStruct) {
    let sides = [(&touched.before, &patch.before, b'-'), (&touched.after, &patch.after, b'+')];
    for file in &patch.files {
        let mut is_named = false;
        for hunk in &file.hunks {
            let hits = |(place, texts, side): &(&Option<(String, Range<usize>)>, &Patch, u8)| {
                place.as_ref().is_some_and(|(name, lines)| is_in(file, hunk, texts, name, lines, *side))
            };
            if !sides.iter().any(hits) {
                continue;
            }
            if !is_named {
                let name = file.new.as_ref().or(file.old.as_ref());
                let _ = writeln!(out, "> {}", name.map_or("", String::as_str));
                is_named = true;
            }
            quote(out, hunk);
        }
    }
    out.push('\n');
}

/// Whether a hunk changes lines of a file.
fn is_in(file: &FileDiff, hunk: &Hunk, texts: &Patch, name: &str, lines: &Range<usize>, side: u8) -> bool {
    let own = if side == b'+' { &file.new } else { &file.old };
    if own.as_deref() != Some(name) {
        return false;
    }
    let near = hunk.new_start.saturating_sub(1);
    let place = texts.get(name).and_then(|text| hunk.place(text, side, near));
    let start = place.map_or(near, |place| place.start);
    let mut at = start;
    hunk.lines.iter().any(|line| {
        let mark = line.first().copied().unwrap_or(b' ');
        let is_hit = mark == side && lines.contains(&at);
        at += usize::from(mark == side || mark == b' ');
        is_hit
    })
}

fn quote(out: &mut String, hunk: &Hunk) {
    let _ = writeln!(out, "> {}", printable(&hunk.head));
    for line in hunk.lines.iter().take(MOST_QUOTED) {
        let text = String::from_utf8_lossy(line);
        let text: Vec<String> = text.split('\t').map(|part| printable(part).into_owned()).collect();
        let _ = writeln!(out, "> {}", text.join("\t"));
    }
    if hunk.lines.len() > MOST_QUOTED {
        let _ = writeln!(out, "> [{} more lines]", hunk.lines.len() - MOST_QUOTED);
    }
}
