//! From the bytes of a recording to its records.
//!
//! * `source`: the file or memory they are read from.
//! * `inflate`: records out of zstd.
//! * `block`: whole records in a row, for several threads.
//! * `records`: where each record begins and ends.
//! * `record`: what each kind says.

pub(crate) mod block;
mod inflate;
pub(crate) mod record;
pub(crate) mod records;
pub(crate) mod source;
