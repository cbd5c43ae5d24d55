//! Recordings as the text that `perf script` prints of them.
//!
//! [`ScriptFile`] goes over the text once to learn which fields its lines have, then streams [`Record`]s as
//! [`crate::perf_data::PerfFile`] does: one line at a time through a window of fixed size.
//!
//! The forms are those of `tools/perf/builtin-script.c` (`perf_sample__fprintf_start` and `process_event`)
//! and, for mappings, `tools/perf/util/event.c`.
//!
//! * `lines`: lines of bounded length, with their numbers.
//! * `line_prefix`: command, process, thread, CPU and time.
//! * `sample_line`: a line cut into its parts.
//! * `columns`: the meaning of numbers in lines, by all lines of an event.
//! * `symbol`: symbol, offset and file behind an address; loaded addresses of symbols.
//! * `records`: lines that are no samples: mappings, losses.
//! * `header`: facts by comments of `--header` and names of events.
//! * `reader`: a line with the call chain behind it.
//! * `scan`: the first pass over all lines.
//! * `file`: all of it as a recording.
//!
//! [`Record`]: crate::perf_data::Record

mod columns;
mod file;
mod header;
mod line_prefix;
mod lines;
mod reader;
mod records;
mod sample_line;
mod scan;
mod symbol;

pub use file::{ScriptFile, ScriptRecords};
pub use symbol::{AddressSpace, SymbolAddresses};

pub(crate) use file::is_text;
