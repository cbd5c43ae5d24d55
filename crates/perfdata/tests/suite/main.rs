//! The crate's behaviour, from outside.

// `cfg(test)` tells clippy that helpers may unwrap and print too.
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod perf_script;
#[cfg(test)]
#[path = "../../src/testing.rs"]
mod random;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod rows;
