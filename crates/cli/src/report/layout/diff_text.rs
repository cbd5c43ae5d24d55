//! Changed layouts, as text and as Markdown for a pull request.

use crate::report::color::Palette;
use crate::report::markdown::{escape_cell, escape_html};
use fieldline_check::SetDiff;
use fieldline_check::change::{ChangeKind, FigureChange, MemberChange, MemberPosition, TypeChange};
use std::fmt::Write;

/// Most names of new or removed types in a line.
const MAX_NAMES: usize = 20;
/// Most types shown with their members; a comment's length is limited.
const MAX_DETAILED_TYPES: usize = 50;

pub(crate) fn draw(diff: &SetDiff, paint: Palette) -> String {
    let mut out = String::new();
    diff.changed.iter().for_each(|change| draw_type(&mut out, change, paint));
    for (what, names) in [("new", &diff.added), ("gone", &diff.removed)] {
        if !names.is_empty() {
            let _ = writeln!(out, "{what}: {}", join_names(names));
        }
    }
    let _ = writeln!(out, "{}", summary(diff));
    out
}

/// As a comment on a pull request.
pub(crate) fn markdown(diff: &SetDiff) -> String {
    let mut out = format!("### Struct layouts\n\n{}\n", summary(diff));
    if diff.changed.is_empty() {
        return out;
    }
    out.push_str("\n| type | change |\n| --- | --- |\n");
    for change in &diff.changed {
        let name = escape_cell(&format!("{} {}", change.kind, change.name));
        let _ = writeln!(out, "| {name} | {} |", changed_figures(change).join(", "));
    }
    diff.changed.iter().take(MAX_DETAILED_TYPES).for_each(|change| details(&mut out, change));
    if let Some(more) = diff.changed.len().checked_sub(MAX_DETAILED_TYPES + 1) {
        let _ = writeln!(out, "\nMembers of {} more types are left out.", more + 1);
    }
    out
}

fn details(out: &mut String, change: &TypeChange) {
    let rows = change_rows(change);
    if rows.is_empty() {
        return;
    }
    let head = format!("<code>{}</code>", escape_html(&format!("{} {}", change.kind, change.name)));
    let _ = write!(out, "\n<details><summary>{head}</summary>\n\n```\n");
    for row in rows {
        let warning = if row.warning.is_empty() { String::new() } else { format!("  ! {}", row.warning) };
        let _ = writeln!(out, "{:<9} {}{warning}", row.what, row.text);
    }
    out.push_str("```\n</details>\n");
}

/// Counts of types by kind of change.
fn summary(diff: &SetDiff) -> String {
    let sizes = || diff.changed.iter().map(|change| &change.size);
    format!(
        "{} types changed ({} grew, {} shrank), {} new, {} gone, {} unchanged",
        diff.changed.len(),
        sizes().filter(|size| size.after > size.before).count(),
        sizes().filter(|size| size.after < size.before).count(),
        diff.added.len(),
        diff.removed.len(),
        diff.unchanged
    )
}

fn join_names(names: &[String]) -> String {
    let shown = names.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more (--format json lists them)"),
    }
}

/// A type that changed, with its members.
pub(crate) fn draw_type(out: &mut String, change: &TypeChange, paint: Palette) {
    let place = change.file.as_deref().map_or_else(String::new, |file| {
        format!(" ({file}{})", change.line.map(|line| format!(":{line}")).unwrap_or_default())
    });
    let title = paint.bold(&format!("{} {}", change.kind, change.name));
    let _ = writeln!(out, "{title}{}: {}", paint.dim(&place), changed_figures(change).join(", "));
    for row in change_rows(change) {
        let _ = write!(out, "  {:<9} {}", row.what, row.text);
        let warning = (!row.warning.is_empty()).then(|| paint.warning(&format!("  {}", row.warning)));
        let _ = writeln!(out, "{}", warning.unwrap_or_default());
    }
    out.push('\n');
}

/// The figures of a type that changed.
pub(crate) fn changed_figures(change: &TypeChange) -> Vec<String> {
    let step = |figure: FigureChange| match figure.differs() {
        true => format!("{} -> {}", figure.before, figure.after),
        false => figure.after.to_string(),
    };
    let mut facts = Vec::new();
    facts.push(format!("{} bytes", step(change.size)));
    for lines in change.cachelines.iter().filter(|lines| lines.count.differs()) {
        // Several sizes of lines are told apart, one is understood.
        let line = if change.cachelines.len() > 1 { format!("{}-byte ", lines.line) } else { String::new() };
        facts.push(format!("{} {line}cachelines", step(lines.count)));
    }
    let bytes = |figure: FigureChange| match (figure.before % 8, figure.after % 8) {
        (0, 0) => format!("{} -> {} bytes", figure.before / 8, figure.after / 8),
        _ => format!("{} -> {} bits", figure.before, figure.after),
    };
    let rest = [
        ("kmalloc", change.slab, step(change.slab)),
        ("align", change.align, step(change.align)),
        ("holes", change.hole_bits, bytes(change.hole_bits)),
        ("padding", change.padding_bits, bytes(change.padding_bits)),
    ];
    let differing = rest.into_iter().filter(|(_, figure, _)| figure.differs());
    facts.extend(differing.map(|(what, _, text)| format!("{what} {text}")));
    facts
}

/// A line about one member, or about several that were shifted by the same distance.
struct ChangeRow {
    what: &'static str,
    text: String,
    warning: String,
}

/// The lines about members.
fn change_rows(change: &TypeChange) -> Vec<ChangeRow> {
    let is_same_shift = |first: &MemberChange, second: &MemberChange| {
        shift_bits(first).is_some() && shift_bits(first) == shift_bits(second)
    };
    let runs = change.members.chunk_by(is_same_shift);
    runs.map(|run| if let [member] = run { change_row(member) } else { shifted_row(run) }).collect()
}

/// Bits a member was shifted by, if nothing else changed.
fn shift_bits(member: &MemberChange) -> Option<i128> {
    let (before, after) = member.before.as_ref().zip(member.after.as_ref())?;
    let is_only_shifted =
        member.what == [ChangeKind::Shifted] && member.straddles.is_empty() && member.joined.is_empty();
    is_only_shifted.then(|| i128::from(after.bit_offset) - i128::from(before.bit_offset))
}

fn shifted_row(members: &[MemberChange]) -> ChangeRow {
    let by = members.first().and_then(shift_bits).unwrap_or(0);
    let by = if by % 8 == 0 { format!("{:+} bytes", by / 8) } else { format!("{by:+} bits") };
    let name = |change: Option<&MemberChange>| change.map(|change| change.member.clone()).unwrap_or_default();
    let (first, last) = (name(members.first()), name(members.last()));
    let text = format!("{first} to {last} ({} members) by {by}", members.len());
    ChangeRow { what: "shifted", text, warning: String::new() }
}

/// A member's change in words.
pub(crate) fn describe_change(member: &MemberChange) -> String {
    let ChangeRow { what, text, warning } = change_row(member);
    let warning = if warning.is_empty() { warning } else { format!(" ({warning})") };
    format!("{what} {text}{warning}")
}

fn change_row(member: &MemberChange) -> ChangeRow {
    let what = member.what.first().copied().map_or("", change_name);
    let one_sided = |position: &MemberPosition, at: &str| {
        format!(
            "{} ({}) {at} {}, {}",
            member.member,
            position.type_name,
            format_offset(position),
            format_size(position)
        )
    };
    let text = match (&member.before, &member.after) {
        (None, Some(after)) => one_sided(after, "at"),
        (Some(before), None) => one_sided(before, "was at"),
        (Some(before), Some(after)) => differences(member, before, after).join(", "),
        (None, None) => String::new(),
    };
    ChangeRow { what, text, warning: warning(member) }
}

fn differences(member: &MemberChange, before: &MemberPosition, after: &MemberPosition) -> Vec<String> {
    let has = |what| member.what.contains(&what);
    let was = member.was.as_ref().map(|was| format!("{was} -> ")).unwrap_or_default();
    let mut parts = vec![was + &member.member];
    match before.bit_offset == after.bit_offset {
        true => parts.push(format!("at {}", format_offset(after))),
        false => parts.push(format!("at {} -> {}", format_offset(before), format_offset(after))),
    }
    if has(ChangeKind::Resized) {
        parts.push(format_sizes(before.bit_size, after.bit_size));
    }
    if has(ChangeKind::Retyped) {
        parts.push(format!("type {} -> {}", before.type_name, after.type_name));
    }
    if has(ChangeKind::Realigned) {
        parts.push("alignment written at it differs".to_owned());
    }
    parts
}

fn warning(member: &MemberChange) -> String {
    let size = |line: &u64| format!("{line}-byte");
    let list = |lines: &[u64]| lines.iter().map(size).collect::<Vec<_>>().join(" and ") + " lines";
    let mut parts = Vec::new();
    if !member.straddles.is_empty() {
        parts.push(format!("straddles {}", list(&member.straddles)));
    }
    if !member.joined.is_empty() {
        parts.push(format!("no longer straddles {}", list(&member.joined)));
    }
    if !member.changes_line.is_empty() && member.what.contains(&ChangeKind::Moved) {
        parts.push(format!("to other {}", list(&member.changes_line)));
    }
    parts.join(", ")
}

fn change_name(what: ChangeKind) -> &'static str {
    match what {
        ChangeKind::Added => "added",
        ChangeKind::Removed => "removed",
        ChangeKind::Renamed => "renamed",
        ChangeKind::Moved => "moved",
        ChangeKind::Shifted => "shifted",
        ChangeKind::Resized => "resized",
        ChangeKind::Retyped => "retyped",
        ChangeKind::Realigned => "realigned",
    }
}

fn format_offset(position: &MemberPosition) -> String {
    match position.bit_offset % 8 {
        0 => (position.bit_offset / 8).to_string(),
        bits => format!("{}:{bits}", position.bit_offset / 8),
    }
}

fn format_size(position: &MemberPosition) -> String {
    format_bits(position.bit_size, !position.bit_size.is_multiple_of(8))
}

/// Two sizes in one unit.
fn format_sizes(before: u64, after: u64) -> String {
    let in_bits = !before.is_multiple_of(8) || !after.is_multiple_of(8);
    let before = if in_bits { before } else { before / 8 };
    format!("{before} -> {}", format_bits(after, in_bits))
}

fn format_bits(bits: u64, in_bits: bool) -> String {
    match (in_bits, if in_bits { bits } else { bits / 8 }) {
        (true, 1) => "1 bit".to_owned(),
        (true, bits) => format!("{bits} bits"),
        (false, 1) => "1 byte".to_owned(),
        (false, bytes) => format!("{bytes} bytes"),
    }
}
