//! Debug info of fixtures, of files put together record by record, and of files that no compiler writes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "helpers of tests fail as tests do and say what they leave out"
)]

mod btf;
mod hostile;
mod names;
