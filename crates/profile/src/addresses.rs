//! Addresses of the recorded machine to addresses as linked.
//!
//! * `identity`: which file a program is, and whether a recording is of it.
//! * `spaces`: what each process had mapped, over time.
//! * `landmarks`: by how much something was moved, where a text names symbols only.
//! * `link`: what turns a recording's addresses into a program's.
//! * `dso`: which program, library or module an address is in.

pub(crate) mod dso;
mod identity;
mod landmarks;
mod link;
mod spaces;

pub use identity::{BuildIdMismatch, check_build_id, is_kernel};
pub use landmarks::{Displaced, check_addresses};
pub use link::Linker;
pub use spaces::Linked;
