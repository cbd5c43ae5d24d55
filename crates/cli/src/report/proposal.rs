//! `report.md` of a proposal: what was measured, what moves and why, what was left alone.

use super::color::Paint;
use super::heat::TypeHeat;
use super::{coverage, heat_text, plan_text};
use crate::stages::Patched;
use fieldline_layout::access::AccessProfile;
use fieldline_plan::Plan;
use std::fmt::Write;

/// The report as Markdown.
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
    for (name, _) in &patched.patches {
        let _ = writeln!(out, "- `{name}`");
    }
    for note in &patched.notes {
        let _ = writeln!(out, "- to look at: {note}");
    }
    for (name, reason) in &patched.refusals {
        let _ = writeln!(out, "- struct {name} refused: {reason}");
    }
    if patched.patches.is_empty() && patched.refusals.is_empty() {
        out.push_str("Nothing moves, so there is no patch.\n");
    }
    for of in &plan.structs {
        let _ = writeln!(out, "\n## struct {}\n", of.name);
        let options = heat_text::Options { lines: &plan.lines, top: 10, paint };
        let sampled =
            profile.types.iter().find(|known| known.name == of.name && known.fingerprint == of.fingerprint);
        match sampled {
            Some(sampled) => fenced(&mut out, |text| {
                heat_text::draw(text, &TypeHeat::new(profile, sampled, sampled.layout.as_ref()), &options);
            }),
            None => out.push_str("No samples.\n"),
        }
    }
    out
}

fn fenced(out: &mut String, write: impl FnOnce(&mut String)) {
    let mut text = String::new();
    write(&mut text);
    let _ = writeln!(out, "```text\n{}\n```\n", text.trim_end());
}
