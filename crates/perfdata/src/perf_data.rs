//! Recordings by `perf record`: the container and its records.
//!
//! [`PerfFile`] holds the facts; [`Records`] streams the records in file order through a window of fixed
//! size, so memory does not grow with the file. The format is that of
//! `tools/perf/Documentation/perf.data-file-format.txt`.
//!
//! * `bytes`, `error`: numbers in the recording's byte order; errors with their positions.
//! * `header`: facts about a recording.
//! * `stream`: its records.
//! * `file`: both together.
//! * `counts`: counts over all records.

mod bytes;
mod counts;
mod error;
mod file;
mod header;
mod stream;

pub use bytes::Endian;
pub use counts::{KernelMap, RecordCounts, SampleCounts};
pub use error::{BytePosition, Error};
pub(crate) use file::BlockRecord;
pub use file::{PerfFile, Records, ScanProgress};
pub(crate) use header::allocations;
pub use header::allocations::NotedAllocation;
pub use header::attr::{Attr, DataBreakpoint};
pub use header::facts::{
    BuildId, CpuCount, DsoBuildId, Event, EventIndex, PmuCaps, RecordingFacts, is_kernel_image,
    is_modelled_event, is_step_event,
};
pub(crate) use header::features::feature;
pub(crate) use stream::record::kind;
pub use stream::record::{Mmap, RawRecord, Record, TaskRecord};
pub(crate) use stream::records::{RecordBlock, RecordBlocks};
pub(crate) use stream::source::{ByteSource, ByteStream};
