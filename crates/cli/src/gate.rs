//! `fieldline check`: layouts of several targets judged by rules.

pub(crate) mod config;
pub(crate) mod day;
mod keys;
pub(crate) mod targets;
pub(crate) mod verdict;
