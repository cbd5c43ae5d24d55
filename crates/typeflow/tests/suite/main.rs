//! Tests of the crate's public interface.

// `cfg(test)` tells clippy that helpers may unwrap too.
#[cfg(test)]
mod aarch64;
#[cfg(test)]
mod idiom;
#[cfg(test)]
mod idioms;
#[cfg(test)]
mod lattice;
