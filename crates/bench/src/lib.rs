//! Loads in trees of cgroups (version 2), and what the kernel did meanwhile: counters, statistics, latencies.
//!
//! * `options`: options of a benchmark; `bandwidth`: the quota of each leaf.
//! * `groups`: the tree, its marks, and its removal.
//! * `load`: the process that runs the load; `latency`: percentiles of its latencies.
//! * `counters`, `statistics`: what the kernel counts.
//! * `environment`: facts on the machine.
//! * `figures`: the results of a run as a file that `compare` reads.
//! * `run`: all of it.
//! * `interrupt`: signals; `error`: errors.
//!
//! ```
//! use fieldline_bench::{LeafBandwidth, TreeShape};
//!
//! let shape = TreeShape { depth: 3, width: 10 };
//! let leaf = LeafBandwidth::share(64, shape.leaves(), 80, 10_000)?;
//! // 80 % of 64 CPUs in 1000 leaves are 0.512 ms of each 10 ms; the kernel wants 1 ms at least.
//! assert_eq!((leaf.quota, leaf.period), (1000, 19_531));
//! # Ok::<(), fieldline_bench::Error>(())
//! ```
#![cfg(target_os = "linux")]

mod bandwidth;
mod counters;
mod environment;
mod error;
mod figures;
mod groups;
mod interrupt;
mod latency;
mod load;
mod options;
mod run;
mod statistics;

pub use bandwidth::LeafBandwidth;
pub use environment::machine_facts;
pub use error::{Error, Result};
pub use figures::{BenchFigure, RunFigures};
pub use groups::{GroupFolder, remove_stale};
pub use interrupt::Interrupt;
pub use options::{BenchOptions, TreeShape};
pub use run::Bench;
