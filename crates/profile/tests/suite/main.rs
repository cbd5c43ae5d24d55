//! Tests of the crate's public interface.

// `cfg(test)` tells clippy that helpers may unwrap too.
#[cfg(test)]
mod branches;
#[cfg(test)]
mod built;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod pmus;
#[cfg(test)]
mod programs;
#[cfg(test)]
mod script;
