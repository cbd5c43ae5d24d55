//! Accesses: recorded, attributed to members, reported.

pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod import;
pub(crate) mod merge;
pub(crate) mod profile;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod samples;
