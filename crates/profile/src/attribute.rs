//! What each sample touched, by code and addresses.
//!
//! * `attributed`: what a sample touched.
//! * `questions`: what addresses are asked, each once.
//! * `straight`: runs of instructions between branches, and what they touched.
//! * `part`: one recording of a program, and what its samples touched.
//! * `accesses`: what a sample touched, as one of several programs tells.
//! * `attribution`: recordings of one program, and of several at once.

pub(crate) mod accesses;
pub(crate) mod attributed;
mod attribution;
pub(crate) mod part;
mod questions;
pub(crate) mod straight;

pub(crate) use accesses::{each_access, place};
pub use attributed::Attributed;
pub use attribution::{Attribution, Joint};
pub(crate) use part::Part;
pub(crate) use straight::Straight;
