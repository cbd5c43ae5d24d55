//! `fieldline check`: layouts of several targets judged by rules.
//!
//! * `config`: fieldline.toml as a value, and `keys`: which keys it may have.
//! * `day`: dates.
//! * `targets`: the layouts of each target, now and before.
//! * `verdict`: what the rules find, and what is suppressed.

pub(crate) mod config;
pub(crate) mod day;
mod keys;
pub(crate) mod targets;
pub(crate) mod verdict;
