//! Samples to objects: what addresses show of instances of structs in memory.
//!
//! * `evidence`: what sampled addresses show of objects.
//! * `known`: instances of structs in memory.
//! * `slides`: addresses of several processes.
//! * `decide`: what a sample touched, by code and address together.

pub(crate) mod decide;
pub(crate) mod evidence;
pub(crate) mod known;
pub(crate) mod slides;
pub(crate) use decide::decide;
pub(crate) use evidence::{Evidence, Seen, Votes};
pub(crate) use known::Objects;
pub(crate) use slides::{Slides, in_space};
