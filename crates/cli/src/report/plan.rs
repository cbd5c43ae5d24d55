//! Orders: what is proposed and why, where a member goes, what models and builds say.

pub(crate) mod confidence_text;
pub(crate) mod matrix_text;
pub(crate) mod packing_text;
pub(crate) mod place_text;
pub(crate) mod plan_terms;
pub(crate) mod plan_text;
pub(crate) mod proposal;
pub(crate) mod simulate_text;
pub(crate) mod verify_text;

use fieldline_plan::StructPlan;

/// The name of a member by its declared index.
pub(crate) fn member_name(of: &StructPlan, index: usize) -> &str {
    of.declared.members.get(index).and_then(|member| member.name.as_deref()).unwrap_or("(anonymous)")
}
