//! What a profile says.

pub(crate) mod coverage;
pub(crate) mod heat;
pub(crate) mod heat_sharing;
pub(crate) mod heat_text;
pub(crate) mod types_text;
