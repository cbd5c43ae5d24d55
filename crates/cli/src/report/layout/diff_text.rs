//! Changed layouts, for eyes and as a comment on a pull request.

use crate::report::color::Paint;
use fieldline_check::SetDiff;
use fieldline_check::change::{FigureChange, MemberChange, MemberSpot, TypeChange, What};
use std::fmt::Write;

/// How many names of new or removed types a line shows.
const NAMES: usize = 20;
/// Types shown with their members in a comment; comments have a limit.
const DETAILS: usize = 50;

pub(crate) fn draw(diff: &SetDiff, paint: Paint) -> String {
    let mut out = String::new();
    diff.changed.iter().for_each(|change| draw_type(&mut out, change, paint));
    for (what, names) in [("new", &diff.added), ("gone", &diff.removed)] {
        if !names.is_empty() {
            let _ = writeln!(out, "{what}: {}", shortened(names));
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
        let _ = writeln!(out, "| `{} {}` | {} |", change.kind, change.name, facts(change).join(", "));
    }
    diff.changed.iter().take(DETAILS).for_each(|change| details(&mut out, change));
    if let Some(more) = diff.changed.len().checked_sub(DETAILS + 1) {
        let _ = writeln!(out, "\nMembers of {} more types are left out.", more + 1);
    }
    out
}

fn details(out: &mut String, change: &TypeChange) {
    let rows = rows(change);
    if rows.is_empty() {
        return;
    }
    let head = format!("<code>{} {}</code>", change.kind, change.name);
    let _ = write!(out, "\n<details><summary>{head}</summary>\n\n```\n");
    for row in rows {
        let warning = if row.warning.is_empty() { String::new() } else { format!("  ! {}", row.warning) };
        let _ = writeln!(out, "{:<9} {}{warning}", row.what, row.text);
    }
    out.push_str("```\n</details>\n");
}

/// How many types did what.
fn summary(diff: &SetDiff) -> String {
    let count = |holds: fn(&FigureChange) -> bool| diff.changed.iter().filter(|of| holds(&of.size)).count();
    format!(
        "{} types changed ({} grew, {} shrank), {} new, {} gone, {} unchanged",
        diff.changed.len(),
        count(|size| size.after > size.before),
        count(|size| size.after < size.before),
        diff.added.len(),
        diff.removed.len(),
        diff.unchanged
    )
}

fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more (--format json lists them)"),
    }
}

fn draw_type(out: &mut String, change: &TypeChange, paint: Paint) {
    let place = change.file.as_deref().map_or_else(String::new, |file| {
        format!(" ({file}{})", change.line.map(|line| format!(":{line}")).unwrap_or_default())
    });
    let title = paint.bold(&format!("{} {}", change.kind, change.name));
    let _ = writeln!(out, "{title}{}: {}", paint.dim(&place), facts(change).join(", "));
    for row in rows(change) {
        let warning =
            if row.warning.is_empty() { String::new() } else { paint.warn(&format!("  {}", row.warning)) };
        let _ = writeln!(out, "  {:<9} {}{warning}", row.what, row.text);
    }
    out.push('\n');
}

/// The figures of a type that changed.
fn facts(change: &TypeChange) -> Vec<String> {
    let step = |of: FigureChange| match of.differs() {
        true => format!("{} -> {}", of.before, of.after),
        false => of.after.to_string(),
    };
    let mut facts = Vec::new();
    facts.push(format!("{} bytes", step(change.size)));
    for lines in change.cachelines.iter().filter(|lines| lines.count.differs()) {
        facts.push(format!("{} cachelines of {} B", step(lines.count), lines.line));
    }
    let bytes = |of: FigureChange| match (of.before % 8, of.after % 8) {
        (0, 0) => format!("{} -> {} B", of.before / 8, of.after / 8),
        _ => format!("{} -> {} bits", of.before, of.after),
    };
    let rest = [
        ("kmalloc", change.slab, step(change.slab)),
        ("align", change.align, step(change.align)),
        ("holes", change.hole_bits, bytes(change.hole_bits)),
        ("padding", change.padding_bits, bytes(change.padding_bits)),
    ];
    let differing = rest.into_iter().filter(|(_, of, _)| of.differs());
    facts.extend(differing.map(|(what, _, text)| format!("{what} {text}")));
    facts
}

/// A line about one member, or about several that were shifted alike.
struct Row {
    what: &'static str,
    text: String,
    warning: String,
}

/// The lines about members.
fn rows(change: &TypeChange) -> Vec<Row> {
    let is_alike =
        |one: &MemberChange, other: &MemberChange| shift(one).is_some() && shift(one) == shift(other);
    let of_run = |run: &[MemberChange]| match run {
        [member] => row(member),
        members => shifted_row(members),
    };
    change.members.chunk_by(is_alike).map(of_run).collect()
}

/// By how many bits a member was shifted, if nothing else happened to it.
fn shift(member: &MemberChange) -> Option<i128> {
    let (before, after) = member.before.as_ref().zip(member.after.as_ref())?;
    let is_quiet = member.what == [What::Shifted] && member.straddles.is_empty() && member.joined.is_empty();
    is_quiet.then(|| i128::from(after.bit_offset) - i128::from(before.bit_offset))
}

fn shifted_row(members: &[MemberChange]) -> Row {
    let by = members.first().and_then(shift).unwrap_or(0);
    let by = if by % 8 == 0 { format!("{:+} bytes", by / 8) } else { format!("{by:+} bits") };
    let name = |of: Option<&MemberChange>| of.map(|of| of.member.clone()).unwrap_or_default();
    let (first, last) = (name(members.first()), name(members.last()));
    let text = format!("{first} to {last} ({} members) by {by}", members.len());
    Row { what: "shifted", text, warning: String::new() }
}

fn row(member: &MemberChange) -> Row {
    let what = member.what.first().copied().map_or("", word);
    let one_sided = |spot: &MemberSpot, at: &str| {
        format!("{} ({}) {at} {}, {}", member.member, spot.type_name, place(spot), size(spot))
    };
    let text = match (&member.before, &member.after) {
        (None, Some(after)) => one_sided(after, "at"),
        (Some(before), None) => one_sided(before, "was at"),
        (Some(before), Some(after)) => differences(member, before, after).join(", "),
        (None, None) => String::new(),
    };
    Row { what, text, warning: warning(member) }
}

fn differences(member: &MemberChange, before: &MemberSpot, after: &MemberSpot) -> Vec<String> {
    let has = |what| member.what.contains(&what);
    let name = match &member.was {
        Some(was) => format!("{was} -> {}", member.member),
        None => member.member.clone(),
    };
    let mut parts = vec![name];
    match before.bit_offset == after.bit_offset {
        true => parts.push(format!("at {}", place(after))),
        false => parts.push(format!("at {} -> {}", place(before), place(after))),
    }
    if has(What::Resized) {
        parts.push(format!("{} -> {}", size(before), size(after)));
    }
    if has(What::Retyped) {
        parts.push(format!("type {} -> {}", before.type_name, after.type_name));
    }
    if has(What::Realigned) {
        parts.push("alignment written at it differs".to_owned());
    }
    parts
}

fn warning(member: &MemberChange) -> String {
    let list = |lines: &[u64]| lines.iter().map(u64::to_string).collect::<Vec<_>>().join(" and ");
    let mut parts = Vec::new();
    if !member.straddles.is_empty() {
        parts.push(format!("straddles lines of {} B", list(&member.straddles)));
    }
    if !member.joined.is_empty() {
        parts.push(format!("no longer straddles lines of {} B", list(&member.joined)));
    }
    if !member.changes_line.is_empty() && member.what.contains(&What::Moved) {
        parts.push(format!("to another line of {} B", list(&member.changes_line)));
    }
    parts.join(", ")
}

fn word(what: What) -> &'static str {
    match what {
        What::Added => "added",
        What::Removed => "removed",
        What::Renamed => "renamed",
        What::Moved => "moved",
        What::Shifted => "shifted",
        What::Resized => "resized",
        What::Retyped => "retyped",
        What::Realigned => "realigned",
    }
}

fn place(spot: &MemberSpot) -> String {
    match spot.bit_offset % 8 {
        0 => (spot.bit_offset / 8).to_string(),
        bits => format!("{}:{bits}", spot.bit_offset / 8),
    }
}

fn size(spot: &MemberSpot) -> String {
    match spot.bit_size % 8 {
        0 if spot.bit_size == 8 => "1 byte".to_owned(),
        0 => format!("{} bytes", spot.bit_size / 8),
        _ if spot.bit_size == 1 => "1 bit".to_owned(),
        _ => format!("{} bits", spot.bit_size),
    }
}
