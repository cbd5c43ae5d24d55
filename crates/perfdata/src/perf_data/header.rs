//! Facts about a recording, apart from its records.
//!
//! * `allocations`: memory that a recorder saw allocated.
//! * `attr`: the attribute of an event.
//! * `facts`: all of it together.
//! * `event_table`: which event a record belongs to.
//! * `features`: the sections about the machine and the events.
//! * `file_header`, `pipe`: the same in a file, and in a stream.

pub(crate) mod allocations;
pub(crate) mod attr;
pub(crate) mod event_table;
pub(crate) mod facts;
pub(crate) mod features;
pub(crate) mod file_header;
pub(crate) mod pipe;
