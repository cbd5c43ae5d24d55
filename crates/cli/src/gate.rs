//! `fieldline check`: layouts of several targets checked by rules.

pub(crate) mod acceptance;
pub(crate) mod config;
pub(crate) mod date;
mod keys;
pub(crate) mod targets;
pub(crate) mod verdict;
