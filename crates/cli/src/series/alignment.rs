//! Mails about structs that are aligned within the one that holds them.

use super::mail::{write_paragraph, write_separate_paragraph};
use crate::report::plan::together_text;
use fieldline_plan::Plan;
use fieldline_plan::result::Together;
use fieldline_tree::edits::{PatchStep, PatchSubject};

/// The subject of the patch of a holder.
pub(super) fn subject(area: &str, plan: &Plan, holder: &str) -> String {
    let members: Vec<&str> = find(plan, holder)
        .into_iter()
        .flat_map(|found| &found.aligned)
        .map(|aligned| aligned.member.as_str())
        .collect();
    format!("{area}: Align {} in struct {holder}", members.join(" and "))
}

/// The body of the patch of a holder.
pub(super) fn body(plan: &Plan, holder: &str, step: &PatchStep) -> String {
    let mut out = String::new();
    let Some(found) = find(plan, holder) else { return out };
    let parts: Vec<&str> = found.parts.iter().map(|part| part.name.as_str()).collect();
    let text = format!(
        "Struct {holder} holds {} side by side. With the new orders a part of it would begin in the middle of a long \
         cacheline, and visits to it would touch more of these than in an allocation of its own.",
        parts.join(" and ")
    );
    write_paragraph(&mut out, "", &text);
    for aligned in &found.aligned {
        write_separate_paragraph(&mut out, &capitalised(&together_text::describe_alignment(found, aligned)));
    }
    for note in &step.notes {
        write_separate_paragraph(&mut out, &capitalised(note));
    }
    out
}

/// A section of the cover letter about the holders that are changed.
pub(super) fn write_cover(out: &mut String, plan: &Plan, steps: &[PatchStep]) {
    for step in steps {
        let PatchSubject::Alignment(holder) = &step.subject else { continue };
        let line = "=".repeat(holder.len() + 7);
        out.push_str(&format!("\nstruct {holder}\n{line}\n\n"));
        out.push_str(&body(plan, holder, step));
    }
}

fn find<'p>(plan: &'p Plan, holder: &str) -> Option<&'p Together> {
    plan.together.iter().find(|found| found.holder == holder)
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().collect::<String>());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
