//! The cost of a layout on recorded accesses: lines per visit, and misses of a modelled memory hierarchy.
//!
//! Every object of the planned structs gets an address of its own, at the same distances before and after,
//! and its members move as the layout says; all other accesses stay where they were. Two layouts see the same
//! accesses, so what differs is the layout. A model, not hardware: no prefetching, no timing, true LRU.
//!
//! * `relocation`: objects moved, members rearranged.
//! * `trace`: accesses in order.
//! * `run`: a run over a trace, counted by blocks of it.
//! * `kinds`: what objects of each kind touch.
//! * `interval`: how sure a change is.
//! * `sampled`: accesses drawn from a profile, where there is no trace.

mod interval;
mod kinds;
mod relocation;
mod run;
mod sampled;
mod trace;

pub use crate::result::Interval;
pub use interval::bootstrap_change;
pub use kinds::{KindTouches, touches_by_kind};
pub use relocation::{Rearrangement, Relocation, SharedAllocation, TraceObject};
pub use run::{ReplayCounts, SimulatedMachine, Simulation, simulate};
pub use sampled::{GAP, Population, SampledTrace, SimulatedStruct, sample_trace};
pub use trace::{RECORD_BYTES, TraceAccess, TraceAccesses};
