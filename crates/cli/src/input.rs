//! What commands read: files between commands, programs and their recordings, layouts of any file.

pub(crate) mod document;
pub(crate) mod origin;
pub(crate) mod recordings;
pub(crate) mod select;
pub(crate) mod shelf;
pub(crate) mod trace;
