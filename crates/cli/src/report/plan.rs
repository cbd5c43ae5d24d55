//! Texts of plans, of locations for new members, of simulations and of verified builds.

pub(crate) mod builds_text;
mod confidence_text;
pub(crate) mod place_text;
mod plan_terms;
pub(crate) mod plan_text;
pub(crate) mod proposal;
pub(crate) mod simulate_text;
pub(crate) mod split_text;
pub(crate) mod together_text;
pub(crate) mod verify_json;
pub(crate) mod verify_text;

use fieldline_plan::StructPlan;
use fieldline_plan::result::{Candidate, Mark, MovedMember};

/// Names of members by their declared indexes.
pub(crate) fn member_names(plan: &StructPlan, indexes: &[usize]) -> String {
    indexes.iter().map(|index| member_name(plan, *index)).collect::<Vec<_>>().join(", ")
}

/// A candidate's marks as text.
pub(crate) fn format_marks(candidate: &Candidate) -> String {
    let marks = candidate.marks.iter().map(|mark| match mark {
        Mark::Smallest => "smallest",
        Mark::Recommended => "recommended",
        Mark::Best => "best",
        Mark::Chosen => "chosen",
    });
    marks.collect::<Vec<_>>().join(", ")
}

/// A line size, and the one that was compiled for if that is another.
pub(crate) fn line_size(line: u64, build_line: u64) -> String {
    if line == build_line { format!("{line} B") } else { format!("{line}/{build_line} B") }
}

/// The name of a member by its declared index.
pub(crate) fn member_name(plan: &StructPlan, index: usize) -> &str {
    plan.declared.members.get(index).and_then(|member| member.name.as_deref()).unwrap_or("(anonymous)")
}

/// Whether two moved members are neighbours in one run of bit-fields.
pub(crate) fn is_bit_run(plan: &StructPlan, first: &MovedMember, second: &MovedMember) -> bool {
    let is_bit = |at: usize| plan.declared.members.get(at).is_some_and(|member| member.bit_size.is_some());
    first.index + 1 == second.index && is_bit(first.index) && is_bit(second.index)
}
