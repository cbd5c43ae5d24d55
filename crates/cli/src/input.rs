//! Inputs of commands: files between commands, programs and their recordings, layouts of any file.

pub(crate) mod document;
pub(crate) mod layout_set;
pub(crate) mod origin;
pub(crate) mod recordings;
pub(crate) mod select;
pub(crate) mod trace;
