//! From samples to visits: the accesses one CPU makes to one object in one episode.
//!
//! * `occurrences` and `name_ranks`: the types of a profile that are or hold a struct, independent of the
//!   profile's order.
//! * `touched_ranges`: the bytes of a struct that are touched at all.
//! * `touch`: how often a function touches each range when it runs.
//! * `window_corpus` and `mixture`: which functions run together.
//! * `misses`: which patterns run on objects that are in no cache.
//! * `draw` and `sets`: sets of ranges that visits touch.
//! * `evidence`: the samples behind them, and `sufficiency`: whether these are enough.

pub mod draw;
pub mod evidence;
pub mod misses;
pub mod mixture;
pub mod name_ranks;
pub mod occurrences;
pub mod sets;
pub mod sufficiency;
pub mod touch;
pub mod touched_ranges;
pub mod window_corpus;

pub use draw::AccessPattern;
pub use mixture::Mixture;
pub use name_ranks::{NameRanks, WindowEntry};
pub use occurrences::{StructOccurrence, find_occurrences};
pub use sets::Visits;
pub use touch::FunctionTouch;
pub use touched_ranges::{TouchedRange, TouchedRanges};
pub use window_corpus::{WindowCorpus, WindowTable};
