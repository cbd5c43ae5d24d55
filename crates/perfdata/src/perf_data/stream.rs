//! From the bytes of a recording to its records.
//!
//! * `source`: the file or memory they are read from.
//! * `inflate`: records out of zstd.
//! * `records`: where each record begins and ends; blocks of them for several threads.
//! * `record`: the contents of each kind.

mod inflate;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod source;
