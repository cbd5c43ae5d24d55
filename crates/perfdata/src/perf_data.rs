//! Recordings by `perf record`: the container and its records.
//!
//! [`PerfFile`] holds the facts; [`Records`] streams the records in file order through a window of fixed
//! size, so memory does not grow with the file. The format is that of
//! `tools/perf/Documentation/perf.data-file-format.txt`.
//!
//! * `bytes`, `error`: numbers in the recording's byte order; what can be wrong with them, and where.
//! * `header`: what a recording says about itself.
//! * `stream`: its records.
//! * `file`: both together.
//! * `tally`: counts over all records.

mod bytes;
mod error;
mod file;
mod header;
mod stream;
mod tally;

pub use bytes::Endian;
pub use error::{BytePlace, Error};
pub(crate) use file::Found;
pub use file::{PerfFile, Records};
pub use header::attr::{Attr, DataBreakpoint};
pub use header::facts::{
    BuildId, CpuCount, DsoBuildId, Event, EventIndex, PmuCaps, RecordingFacts, is_kernel_image,
};
pub(crate) use header::features::feature;
pub(crate) use stream::record::kind;
pub use stream::record::{Mmap, RawRecord, Record, Task};
pub(crate) use stream::records::{Block, Blocks};
pub(crate) use stream::source::{Source, Stream};
pub use tally::{EventTally, KernelMap, RecordTally};
