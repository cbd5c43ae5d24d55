//! Other builds, groups, and structs that embed the planned one, as text.

use super::member_names;
use fieldline_plan::StructPlan;
use fieldline_plan::result::{BuildJudged, BuildNote, Embedding, Group, GroupAlignment, GroupKind, Padding};
use std::fmt::Write;

/// The label of a build's columns: its number among those evaluated, in brackets; empty for the recorded one.
pub(crate) fn build_label(plan: &StructPlan, build: Option<&str>) -> String {
    let mut judged = plan.builds.iter().filter(|note| note.judged == BuildJudged::Yes);
    let position = build.and_then(|build| judged.position(|note| note.build == build));
    position.map_or_else(String::new, |place| format!("[{}] ", place + 1))
}

/// Appends the other builds that were evaluated, by their numbers in the table, and those that were not.
pub(crate) fn draw_builds(out: &mut String, plan: &StructPlan) {
    for note in &plan.builds {
        let head = format!("  {}{}", build_label(plan, Some(&note.build)), note.build);
        let reason = note.reason.as_deref().unwrap_or_default();
        let _ = match note.judged {
            BuildJudged::Yes => writeln!(out, "{head}: {}", describe_build(plan, note)),
            BuildJudged::Equivalent => writeln!(out, "{head}: places every order like {reason}"),
            BuildJudged::No => writeln!(out, "{head}: not evaluated, {reason}"),
        };
    }
}

fn describe_build(plan: &StructPlan, note: &BuildNote) -> String {
    let mut facts = format!("{} B lines, {} bytes as declared", note.line, note.size.unwrap_or(0));
    if !note.absent.is_empty() {
        let _ = write!(facts, ", without {}", member_names(plan, &note.absent));
    }
    if !note.extra.is_empty() {
        let _ = write!(facts, ", also with {}", note.extra.join(", "));
    }
    facts
}

/// Appends the groups of the chosen order and what aligning them would cost.
pub(crate) fn draw_groups(out: &mut String, plan: &StructPlan) {
    let Some(padded) = plan.groups.iter().find(|group| !group.padding.is_empty()) else { return };
    let lines: Vec<String> = padded.padding.iter().map(|padding| padding.line.to_string()).collect();
    let _ = writeln!(
        out,
        "  groups: bytes the struct grows by if one is aligned to lines of {} B,\n  \
         always / only where lines are as long as the recorded machine's",
        lines.join(", ")
    );
    plan.groups.iter().for_each(|group| draw_group(out, plan, group));
}

fn draw_group(out: &mut String, plan: &StructPlan, group: &Group) {
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
    let (always, conditional) = (list(|padding| padding.aligned), list(|padding| padding.conditional));
    let _ = writeln!(out, " {always} / {conditional}: {}; {}", member_names(plan, &group.members), group.why);
}

/// Appends the structs that embed the planned one and change their size with it.
pub(crate) fn draw_embeddings(out: &mut String, plan: &StructPlan) {
    for row in plan.embedded_in.iter().filter(|row| row.before != row.after) {
        let Embedding { name, member, before, after, slab_before, slab_after, .. } = row;
        let all = row.describe_all();
        let _ = writeln!(
            out,
            "  struct {name} embeds it ({member}): {before} ({slab_before}) -> {after} ({slab_after}) bytes (kmalloc class){all}"
        );
    }
}
