//! Caches of several CPUs: private set-associative ones over a shared one, kept coherent (MESI), with true LRU.
//!
//! A model, not hardware: no prefetching, no timing.
//!
//! * `cache`: a set-associative cache.
//! * `hierarchy`: private caches of CPUs over a shared one, kept coherent.

mod cache;
mod hierarchy;

pub use hierarchy::{Hierarchy, MAX_CPUS, Served};
