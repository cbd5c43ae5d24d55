//! Texts of results.

pub(crate) mod color;
pub(crate) mod confidence_text;
pub(crate) mod coverage;
pub(crate) mod diff_markdown;
pub(crate) mod diff_text;
pub(crate) mod doctor_text;
pub(crate) mod explain_text;
pub(crate) mod findings;
pub(crate) mod heat;
pub(crate) mod heat_sharing;
pub(crate) mod heat_text;
pub(crate) mod matrix_text;
pub(crate) mod packing_text;
pub(crate) mod pahole;
pub(crate) mod place_text;
pub(crate) mod plan_terms;
pub(crate) mod plan_text;
pub(crate) mod proposal;
pub(crate) mod simulate_text;
pub(crate) mod table;
pub(crate) mod types_text;
pub(crate) mod verify_text;
