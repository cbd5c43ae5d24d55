//! Texts of results.

pub(crate) mod color;
pub(crate) mod table;
