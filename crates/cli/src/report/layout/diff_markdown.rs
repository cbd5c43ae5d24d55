//! Changed layouts as a comment on a pull request.

use crate::report::layout::diff_text::{facts, rows, summary};
use fieldline_check::SetDiff;
use fieldline_check::change::TypeChange;
use std::fmt::Write;

/// Types shown with their members; comments have a limit.
const DETAILS: usize = 50;

pub(crate) fn draw(diff: &SetDiff) -> String {
    let mut out = format!("### Struct layouts\n\n{}\n", summary(diff));
    if diff.changed.is_empty() {
        return out;
    }
    out.push_str("\n| type | change |\n| --- | --- |\n");
    for change in &diff.changed {
        let _ = writeln!(out, "| `{} {}` | {} |", change.kind, change.name, facts(change).join(", "));
    }
    for change in diff.changed.iter().take(DETAILS) {
        details(&mut out, change);
    }
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
