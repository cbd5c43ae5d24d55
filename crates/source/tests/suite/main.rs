//! What the crate promises, from outside.

// `cfg(test)` tells clippy that helpers may unwrap and print too.
#[cfg(test)]
mod generate;
#[cfg(test)]
mod patches;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod real_tree;
#[cfg(test)]
mod traps;
