//! Writes recordings, so that tests and fixtures can have any they need.
//!
//! A [`RecordingWriter`] collects events, records and features, and gives the bytes of a perf.data file in
//! file or in pipe mode, of either byte order, packed or not. `perf` itself reads what this writes.
//!
//! * `recording`: the recording under construction; `features`, `records` and `sample` add to it.
//! * `packing`: records as `perf record -z` packs them.
//! * `output`: the bytes of all of it.

mod bytes;
mod features;
mod output;
mod packing;
mod recording;
mod records;
mod sample;

pub use packing::Packing;
pub use recording::{RecordingWriter, SampleId};
pub use records::Mapping;
pub use sample::SampleValues;
