//! Texts of results.

pub(crate) mod color;
pub(crate) mod pahole;
pub(crate) mod table;
