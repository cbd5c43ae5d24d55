//! What a plan says about other builds, groups and structs that hold the planned one, for eyes.

use super::member_names;
use fieldline_plan::StructPlan;
use fieldline_plan::result::{BuildJudged, BuildNote, Embedding, Group, GroupAlignment, GroupKind, Padding};
use std::fmt::Write;

/// The head of a column for a build: its number among those judged, in brackets, unless it is the recorded one.
pub(crate) fn mark(of: &StructPlan, build: Option<&str>) -> String {
    let judged = of.builds.iter().filter(|note| note.judged == BuildJudged::Yes);
    let place = build.and_then(|build| judged.map(|note| note.build.as_str()).position(|name| name == build));
    place.map_or_else(String::new, |place| format!("[{}] ", place + 1))
}

/// Appends which other builds were judged, by the numbers in the table, and which were not.
pub(crate) fn draw_builds(out: &mut String, of: &StructPlan) {
    for note in &of.builds {
        let head = format!("  {}{}", mark(of, Some(&note.build)), note.build);
        let reason = note.reason.as_deref().unwrap_or_default();
        let _ = match note.judged {
            BuildJudged::Yes => writeln!(out, "{head}: {}", facts(of, note)),
            BuildJudged::Alike => writeln!(out, "{head}: places every order like {reason}"),
            BuildJudged::No => writeln!(out, "{head}: not judged, {reason}"),
        };
    }
}

fn facts(of: &StructPlan, note: &BuildNote) -> String {
    let mut facts = format!("{} B lines, {} bytes as declared", note.line, note.size.unwrap_or(0));
    if !note.absent.is_empty() {
        let _ = write!(facts, ", without {}", member_names(of, &note.absent));
    }
    if !note.extra.is_empty() {
        let _ = write!(facts, ", with {} besides", note.extra.join(", "));
    }
    facts
}

/// Appends the groups of the chosen order and what aligning them would cost.
pub(crate) fn draw_groups(out: &mut String, of: &StructPlan) {
    let Some(padded) = of.groups.iter().find(|group| !group.padding.is_empty()) else { return };
    let lines: Vec<String> = padded.padding.iter().map(|padding| padding.line.to_string()).collect();
    let _ = writeln!(
        out,
        "  groups (directives are not written, only judged): bytes the struct grows by if one is aligned to lines of {} B,\n  \
         always / only where a line is as long as the recorded machine's",
        lines.join(", ")
    );
    of.groups.iter().for_each(|group| draw_group(out, of, group));
}

fn draw_group(out: &mut String, of: &StructPlan, group: &Group) {
    let kind = match group.kind {
        GroupKind::HotReadMostly => "hot, read-mostly",
        GroupKind::HotWritten => "hot, written",
        GroupKind::Cold => "cold",
    };
    let advice = match group.alignment {
        GroupAlignment::None => "no alignment",
        GroupAlignment::Aligned => "align",
        GroupAlignment::Conditional => "align conditionally",
    };
    let _ = write!(out, "  {kind:<16} {:>5} +{:<4} {advice:<19}", group.first_offset, group.bytes);
    if group.padding.is_empty() {
        let _ = writeln!(out, " {} members", group.members.len());
        return;
    }
    let list = |bytes: fn(&Padding) -> u64| {
        group.padding.iter().map(|padding| bytes(padding).to_string()).collect::<Vec<_>>().join(" ")
    };
    let (always, conditional) = (list(|of| of.aligned), list(|of| of.conditional));
    let _ = writeln!(out, " {always} / {conditional}: {}; {}", member_names(of, &group.members), group.why);
}

/// Appends the structs that hold the planned one and change their size with it.
pub(crate) fn draw_embeddings(out: &mut String, of: &StructPlan) {
    for row in of.embedded_in.iter().filter(|row| row.before != row.after) {
        let Embedding { name, member, before, after, slab_before, slab_after } = row;
        let _ = writeln!(
            out,
            "  struct {name} holds it ({member}): {before} ({slab_before}) -> {after} ({slab_after}) bytes (kmalloc class)"
        );
    }
}
