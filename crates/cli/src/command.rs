//! The commands: open the inputs, call the libraries, report.

pub(crate) mod baseline;
pub(crate) mod check;
pub(crate) mod demo;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod layout;
pub(crate) mod merge;
pub(crate) mod patch;
pub(crate) mod place;
pub(crate) mod plan;
pub(crate) mod profile;
pub(crate) mod propose;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod samples;
pub(crate) mod simulate;
pub(crate) mod verify;
