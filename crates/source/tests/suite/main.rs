//! Properties of the crate, from outside.

// `cfg(test)` lets helpers unwrap and print too (clippy).
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod generate;
#[cfg(test)]
mod patches;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod real_tree;
