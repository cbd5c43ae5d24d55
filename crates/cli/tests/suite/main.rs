//! The commands as users call them, and hostile input of every kind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do; a test that is skipped says why"
)]

mod accesses;
mod bad_input;
mod bench;
#[path = "../../../profile/tests/suite/built.rs"]
#[allow(dead_code, reason = "other tests ask the programs for their members")]
mod built;
mod compare;
mod demo;
mod documented;
mod hostile;
mod install;
mod layouts;
mod orders;
mod page;
mod special_files;
mod terminal;
mod wrong_use;
