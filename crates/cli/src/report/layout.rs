//! Layouts and their differences as text.

pub(crate) mod diff_text;
pub(crate) mod pahole;
pub(crate) mod table;
#[cfg(test)]
mod tests;
