//! What commands read: files between commands, programs and their recordings, layouts of any file.
//!
//! * `document`: JSON files between commands.
//! * `recordings`: programs and their recordings.
//! * `trace`: recorded accesses and objects.
//! * `select`: types by name or by glob.
//! * `origin`: files on disk or in a git.
//! * `shelf`: layouts of a program, a kernel, BTF or a baseline.

pub(crate) mod document;
pub(crate) mod origin;
pub(crate) mod recordings;
pub(crate) mod select;
pub(crate) mod shelf;
pub(crate) mod trace;
