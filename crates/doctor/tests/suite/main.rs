//! The crate's behaviour, from outside.

// `cfg(test)` tells clippy that helpers may unwrap and print too.
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod recordings;
