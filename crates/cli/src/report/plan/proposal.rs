//! `report.md` of a proposal: coverage, plan, patches, and each struct's heat and constraints.

use crate::report::color::Palette;
use crate::report::parts::{PlanPart, ReportPart};
use crate::report::plan::{member_names, plan_text};
use crate::report::profile::heat::TypeHeat;
use crate::report::profile::{coverage, heat_text};
use fieldline_access::access::AccessProfile;
use fieldline_plan::result::CommentToCheck;
use fieldline_plan::{Plan, StructPlan};
use fieldline_tree::edits::PatchSet;
use std::fmt::Write;

pub(crate) fn markdown(
    profile: &AccessProfile,
    plan: &Plan,
    patched: &PatchSet,
    measured: Option<&str>,
) -> String {
    let paint = Palette::new(false);
    let mut out = String::from("# Member order proposed by fieldline\n\n");
    out.push_str(
        "Cachelines touched are predicted, never a speed-up. Measure before you send.\n\n## Recordings\n\n",
    );
    write_fenced(&mut out, |text| coverage::draw(text, profile, paint));
    out.push_str("## Plan\n\n");
    write_fenced(&mut out, |text| plan_text::draw(text, plan, &PlanPart::ALL, paint));
    if let Some(text) = measured {
        out.push_str("## Measured results\n\n");
        write_fenced(&mut out, |out| {
            let _ = writeln!(out, "{text}");
        });
    }
    out.push_str("## Patches\n\n");
    out.extend(patched.patches.iter().map(|(name, _)| format!("- `{name}`\n")));
    out.extend(patched.notes.iter().map(|note| format!("- note: {note}\n")));
    let refused = |(name, reason): &(String, String)| format!("- struct {name} refused: {reason}\n");
    out.extend(patched.refusals.iter().map(refused));
    if patched.patches.is_empty() && patched.refusals.is_empty() {
        out.push_str("Nothing moves, so there is no patch.\n");
    }
    for struct_plan in &plan.structs {
        let _ = writeln!(out, "\n## struct {}\n", struct_plan.name);
        let proof = struct_plan.proof_sentence().filter(|_| struct_plan.changes());
        out.extend(proof.map(|proof| format!("As far as fieldline can tell, {proof}.\n\n")));
        write_constraints(&mut out, struct_plan);
        let options = heat_text::HeatOptions { lines: &plan.lines, top: 10, paint };
        let sampled = profile
            .types
            .iter()
            .find(|known| known.name == struct_plan.name && known.fingerprint == struct_plan.fingerprint);
        let Some(sampled) = sampled else {
            out.push_str("No samples.\n");
            continue;
        };
        let heat = TypeHeat::new(profile, sampled, sampled.layout.as_ref());
        write_fenced(&mut out, |text| heat_text::draw(text, &heat, &ReportPart::ALL, &options));
    }
    out
}

/// Constraints on members with their reasons, configurations that grow, and notes.
fn write_constraints(out: &mut String, struct_plan: &StructPlan) {
    let is_free = struct_plan.constraints.is_empty()
        && struct_plan.comments.is_empty()
        && struct_plan.insistence.is_none();
    if is_free && struct_plan.notes.is_empty() && struct_plan.grows.is_empty() {
        return;
    }
    out.push_str("| | member | reason |\n| --- | --- | --- |\n");
    for constraint in &struct_plan.constraints {
        let member = struct_plan.declared.members.iter().find(|member| member.index == constraint.index);
        let name = member.and_then(|member| member.name.as_deref()).unwrap_or("(unnamed)");
        row(out, "constraint", name, &constraint.reason);
    }
    for CommentToCheck { file, line, text, members } in &struct_plan.comments {
        let why = format!("{file}:{line}: {text}");
        row(out, "comment to look at", &member_names(struct_plan, members), &why);
    }
    if let Some(insistence) = &struct_plan.insistence {
        let kind = format!("depends on the order, allowed ({})", insistence.reason);
        insistence.uses.iter().for_each(|used| row(out, &kind, "", used));
    }
    struct_plan.grows.iter().for_each(|case| row(out, "costs lines", "", case));
    struct_plan.notes.iter().for_each(|note| row(out, "note", "", note));
    out.push('\n');
}

/// A row of a Markdown table.
fn row(out: &mut String, kind: &str, member: &str, why: &str) {
    let _ = writeln!(out, "| {kind} | {member} | {} |", why.replace('|', "\\|"));
}

fn write_fenced(out: &mut String, write: impl FnOnce(&mut String)) {
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
            "comments": [{"file": "x.h", "line": 4, "text": "fields below", "members": [0]}],
            "grows": ["without X it takes 128 bytes instead of 64"], "notes": ["y.rst:1: z"]});
        let mut struct_plan: StructPlan = serde_json::from_value(text).unwrap();
        let mut out = String::new();
        write_constraints(&mut out, &struct_plan);
        let rows: Vec<&str> = out.trim_end().lines().skip(2).collect();
        let expected = [
            "| constraint | lead | a \\| b (x.c:3) |",
            "| comment to look at | lead | x.h:4: fields below |",
            "| costs lines |  | without X it takes 128 bytes instead of 64 |",
            "| note |  | y.rst:1: z |",
        ];
        assert_eq!(rows, expected);
        (struct_plan.constraints, struct_plan.grows, struct_plan.notes) = Default::default();
        struct_plan.comments.clear();
        out.clear();
        write_constraints(&mut out, &struct_plan);
        assert_eq!(out, "");
    }
}
