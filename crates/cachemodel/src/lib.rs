//! Caches of several CPUs: private set-associative ones over a shared one, kept coherent (MESI), with true
//! LRU.
//!
//! A model, not hardware: no prefetching, no timing.
//!
//! ```
//! use fieldline_cachemodel::{Hierarchy, ServedLevel};
//!
//! // Two CPUs, caches of 1, 4 and 64 KiB, lines of 64 bytes. The other CPU's load of a written line is a HITM.
//! let mut caches = Hierarchy::new(2, [1 << 10, 4 << 10, 64 << 10], 64, 1);
//! assert_eq!(caches.access(0, 5, true), ServedLevel::Memory);
//! assert_eq!(caches.access(0, 5, false), ServedLevel::First);
//! assert_eq!(caches.access(1, 5, false), ServedLevel::Modified);
//! ```
//!
//! * `cache`: a set-associative cache.
//! * `hierarchy`: private caches of CPUs over a shared one, kept coherent.

mod cache;
mod hierarchy;

pub use hierarchy::{Hierarchy, MAX_CPUS, ServedLevel};
