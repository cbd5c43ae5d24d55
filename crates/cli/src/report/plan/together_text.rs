//! Planned structs side by side in another one, in a sentence.

use fieldline_plan::Plan;
use fieldline_plan::result::{AlignedLines, AlignedPart, Together, TogetherChoice};

/// Sentences about the holders whose last planned part is the struct of that name: each is said once in a plan.
pub(crate) fn describe_holders(plan: &Plan, name: &str) -> Vec<String> {
    let is_last = |found: &&Together| found.parts.last().is_some_and(|part| part.name == name);
    plan.together.iter().filter(is_last).map(describe).collect()
}

/// Where a part begins by its alignment, and what that costs and saves.
pub(crate) fn describe_alignment(found: &Together, aligned: &AlignedPart) -> String {
    let AlignedPart { member, to, padding, lines } = aligned;
    let part = found.parts.iter().find(|part| part.member == *member);
    let name = part.map_or(member.as_str(), |part| part.name.as_str());
    let changed = lines.iter().filter(|row| (row.lines.before - row.lines.after).abs() > 0.000_5);
    let change = |row: &AlignedLines| {
        let AlignedLines { line, build_line, lines } = row;
        let build = if line == build_line { String::new() } else { format!(" ({build_line} B build)") };
        format!("{line} B{build} {:.3} -> {:.3}", lines.before, lines.after)
    };
    let changes: Vec<String> = changed.map(change).collect();
    format!(
        "{member} aligned to {to} B, for {padding} bytes of padding: lines/visit of {name} {}",
        changes.join(", ")
    )
}

fn describe(found: &Together) -> String {
    let Together { holder, before, after, slab_before, slab_after, .. } = found;
    let parts: Vec<String> = found.parts.iter().map(|part| format!("{} at {}", part.name, part.to)).collect();
    let slab = match slab_before == slab_after {
        true => String::new(),
        false => format!(", kmalloc class {slab_before} -> {slab_after}"),
    };
    let mut text = format!("{holder} {before} -> {after} bytes{slab}, {}", parts.join(", "));
    for aligned in &found.aligned {
        text.push_str(&format!("; {}", describe_alignment(found, aligned)));
    }
    if let Some(reason) = &found.unaligned {
        text.push_str(&format!("; {reason}"));
    }
    if let Some(reason) = &found.unjudged {
        return format!("{text}; not judged together: {reason}");
    }
    for lines in &found.lines {
        let build = match lines.line == lines.build_line {
            true => String::new(),
            false => format!(" ({} B build)", lines.build_line),
        };
        let (line, before, after) = (lines.line, lines.lines.before, lines.lines.after);
        text.push_str(&format!("; lines/visit {line} B{build} {before:.3} -> {after:.3}"));
        if (lines.alone - after).abs() > 0.000_5 {
            text.push_str(&format!(" (planned alone {:.3})", lines.alone));
        }
    }
    text.push_str(match found.chosen {
        TogetherChoice::Alone => "; orders found together are no better than those found alone",
        TogetherChoice::Together => "; orders found together",
        TogetherChoice::Some => {
            "; not all orders found alone are better side by side, so some stay as declared"
        }
    });
    text
}
