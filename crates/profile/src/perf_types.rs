//! perf's own data-type results: counts by type and offset that perf worked out, imported as they are.
//!
//! * `counts`: what all forms come to.
//! * `report`: `perf report -s type,typeoff[,symbol] -n --stdio`.
//! * `annotate`: `perf annotate --data-type -n --stdio`.
//! * `json`: the JSON of data-type profiles, version 1.
//! * `parse`: any of these, told by content.
//! * `sum`: counts to an `AccessProfile`.

mod annotate;
mod counts;
mod json;
mod parse;
mod report;
mod sum;

pub use counts::{Error, Form, MemoryOperation, Row, TypeCounts};
pub use parse::parse;
pub use sum::{CountsMismatch, profile, tags};
