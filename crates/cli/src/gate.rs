//! `fieldline check`: layouts of several targets checked by rules; `mailed`: those that patches by mail change.

pub(crate) mod acceptance;
pub(crate) mod config;
pub(crate) mod date;
mod keys;
pub(crate) mod mailed;
pub(crate) mod targets;
pub(crate) mod verdict;
