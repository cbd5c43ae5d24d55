//! `report.md` of a proposal: what was measured, what moves and why, what was left alone.

use crate::report::color::Paint;
use crate::report::plan::plan_text;
use crate::report::profile::heat::TypeHeat;
use crate::report::profile::{coverage, heat_text};
use fieldline_access::access::AccessProfile;
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::edits::Patched;
use std::fmt::Write;

pub(crate) fn markdown(profile: &AccessProfile, plan: &Plan, patched: &Patched) -> String {
    let paint = Paint::new(false);
    let mut out = String::from("# Member order proposed by fieldline\n\n");
    out.push_str(
        "Predicted are cachelines touched, never a speed-up: measure before you send.\n\n## Recordings\n\n",
    );
    fenced(&mut out, |text| coverage::draw(text, profile, paint));
    out.push_str("## Plan\n\n");
    fenced(&mut out, |text| plan_text::draw(text, plan, paint));
    out.push_str("## Patches\n\n");
    out.extend(patched.patches.iter().map(|(name, _)| format!("- `{name}`\n")));
    out.extend(patched.notes.iter().map(|note| format!("- to look at: {note}\n")));
    let refused = |(name, reason): &(String, String)| format!("- struct {name} refused: {reason}\n");
    out.extend(patched.refusals.iter().map(refused));
    if patched.patches.is_empty() && patched.refusals.is_empty() {
        out.push_str("Nothing moves, so there is no patch.\n");
    }
    for of in &plan.structs {
        let _ = writeln!(out, "\n## struct {}\n", of.name);
        neighbours(&mut out, of);
        let options = heat_text::Options { lines: &plan.lines, top: 10, paint };
        let sampled =
            profile.types.iter().find(|known| known.name == of.name && known.fingerprint == of.fingerprint);
        let Some(sampled) = sampled else {
            out.push_str("No samples.\n");
            continue;
        };
        let heat = TypeHeat::new(profile, sampled, sampled.layout.as_ref());
        fenced(&mut out, |text| heat_text::draw(text, &heat, &options));
    }
    out
}

/// What the source and the rest of the tree say about the order: what holds a member, and what to look at.
fn neighbours(out: &mut String, of: &StructPlan) {
    if of.held.is_empty() && of.notes.is_empty() && of.grows.is_empty() {
        return;
    }
    out.push_str("| | member | why |\n| --- | --- | --- |\n");
    for held in &of.held {
        let member = of.declared.members.iter().find(|member| member.index == held.index);
        let name = member.and_then(|member| member.name.as_deref()).unwrap_or("(unnamed)");
        row(out, "held", name, &held.reason);
    }
    of.grows.iter().for_each(|case| row(out, "costs lines", "", case));
    of.notes.iter().for_each(|note| row(out, "look at", "", note));
    out.push('\n');
}

/// A row of a Markdown table.
fn row(out: &mut String, kind: &str, member: &str, why: &str) {
    let _ = writeln!(out, "| {kind} | {member} | {} |", why.replace('|', "\\|"));
}

fn fenced(out: &mut String, write: impl FnOnce(&mut String)) {
    let mut text = String::new();
    write(&mut text);
    let _ = writeln!(out, "```text\n{}\n```\n", text.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_limits_an_order_is_a_table() {
        let member = serde_json::json!({"index": 0, "name": "lead", "type_name": "int", "offset": 0, "size": 4, "line": 0});
        let order = serde_json::json!({"size": 4, "members": [member]});
        let text = serde_json::json!({"name": "s", "fingerprint": 0, "outcome": "moved", "samples": 0, "needed": 0,
            "declared": order, "chosen": order, "held": [{"index": 0, "reason": "a | b (x.c:3)"}],
            "grows": ["without X it takes 128 bytes instead of 64"], "notes": ["y.rst:1: z"]});
        let mut of: StructPlan = serde_json::from_value(text).unwrap();
        let mut out = String::new();
        neighbours(&mut out, &of);
        let rows: Vec<&str> = out.trim_end().lines().skip(2).collect();
        let expected = [
            "| held | lead | a \\| b (x.c:3) |",
            "| costs lines |  | without X it takes 128 bytes instead of 64 |",
            "| look at |  | y.rst:1: z |",
        ];
        assert_eq!(rows, expected);
        (of.held, of.grows, of.notes) = Default::default();
        out.clear();
        neighbours(&mut out, &of);
        assert_eq!(out, "");
    }
}
