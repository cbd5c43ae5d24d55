//! Planned structs side by side in another one, in a sentence.

use fieldline_plan::Plan;
use fieldline_plan::result::{Together, TogetherChoice};

/// Sentences about the holders whose last planned part is the struct of that name: each is said once in a plan.
pub(crate) fn describe_holders(plan: &Plan, name: &str) -> Vec<String> {
    let is_last = |found: &&Together| found.parts.last().is_some_and(|part| part.name == name);
    plan.together.iter().filter(is_last).map(describe).collect()
}

fn describe(found: &Together) -> String {
    let Together { holder, before, after, slab_before, slab_after, .. } = found;
    let parts: Vec<String> = found.parts.iter().map(|part| format!("{} at {}", part.name, part.to)).collect();
    let slab = match slab_before == slab_after {
        true => String::new(),
        false => format!(", kmalloc class {slab_before} -> {slab_after}"),
    };
    let mut text = format!("{holder} {before} -> {after} bytes{slab}, {}", parts.join(", "));
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
