//! Orders: planned, written as patches, proven.

pub(crate) mod patch;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod propose;
pub(crate) mod simulate;
pub(crate) mod verify;
