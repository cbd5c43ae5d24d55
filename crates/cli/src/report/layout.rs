//! Layouts, and how they differ.

pub(crate) mod diff_text;
pub(crate) mod pahole;
pub(crate) mod table;
