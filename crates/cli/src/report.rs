//! Texts of results.
//!
//! * `layout`: layouts and how they differ.
//! * `profile`: what was recorded.
//! * `plan`: orders, their figures, and what became of them.
//! * `findings`: what a check found.
//! * `doctor_text`, `explain_text`: the answers of these commands.
//! * `color`: colour for terminals.

pub(crate) mod color;
pub(crate) mod doctor_text;
pub(crate) mod explain_text;
pub(crate) mod findings;
pub(crate) mod layout;
pub(crate) mod plan;
pub(crate) mod profile;
