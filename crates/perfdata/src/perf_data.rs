//! Recordings by `perf record`: the container and its records.
//!
//! [`PerfFile`] holds the facts; [`Records`] streams the records in file order through a window of fixed
//! size, so memory does not grow with the file. The format is that of
//! `tools/perf/Documentation/perf.data-file-format.txt`.

mod attr;
mod block;
mod bytes;
mod error;
mod event_name;
mod event_table;
mod facts;
mod features;
mod file;
mod header;
mod inflate;
mod pipe;
mod record;
mod source;
mod stream;
mod tally;

pub use attr::{Attr, DataBreakpoint};
pub(crate) use block::{Block, Blocks, Found};
pub use bytes::Endian;
pub use error::{Error, Place};
pub use event_table::SampleId;
pub use facts::{BuildId, CpuCount, DsoBuildId, Event, EventIndex, Facts, Mode, PmuCaps, is_kernel_image};
pub use file::{PerfFile, Records};
pub use record::{Mmap, RawRecord, Record, Task};
pub(crate) use source::Source;
pub use tally::{EventTally, KernelMap, Tally};
