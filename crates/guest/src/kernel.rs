//! Facts of a kernel that the recording needs: which code to trace, which instructions to watch.
//!
//! * `names`: names in kernels.
//! * `members`: offsets in its structs.
//! * `selection`: code to trace, by units, symbols or types.
//! * `wide`: instructions that touch more bytes than an access has.
//! * `points`: instructions to watch, and what to write there.

pub(crate) mod members;
pub(crate) mod names;
pub(crate) mod points;
pub(crate) mod selection;
pub(crate) mod wide;
