//! Recordings as the text that `perf script` prints of them.
//!
//! [`Script`] goes over the text once to learn which fields its lines have, then streams [`Record`]s as
//! [`crate::perf_data::PerfFile`] does: one line at a time through a window of fixed size.
//!
//! The forms are those of `tools/perf/builtin-script.c` (`perf_sample__fprintf_start` and `process_event`) and, for
//! mappings, `tools/perf/util/event.c`.
//!
//! * `lines`: lines of bounded length, with their numbers.
//! * `front`: command, process, thread, CPU and time.
//! * `sample_line`: a line cut into its parts.
//! * `columns`: which number of a line is what, learnt from all lines of an event.
//! * `symbol`: symbol, offset and file behind an address; what of it tells where the program lay.
//! * `other`: lines that are no samples: mappings, losses.
//! * `about`: what the text says of its recording: comments of `--header`, names of events.
//! * `reader`: a line with the call chain behind it.
//! * `survey`: the first look at all lines.
//! * `file`: all of it as a recording.
//!
//! [`Record`]: crate::perf_data::Record

mod about;
mod columns;
mod file;
mod front;
mod lines;
mod other;
mod reader;
mod sample_line;
mod survey;
mod symbol;

pub use file::{Script, ScriptRecords};
pub use symbol::{AddressSpace, Landmark};

pub(crate) use file::is_text;
