//! Errors of this crate: each names the file and the place.

use std::path::PathBuf;

/// Why debug info could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the words of each variant say what its fields are")]
pub enum Error {
    /// The file could not be opened or mapped; `source` is what the system said.
    #[error("{}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The container is broken; `place` is a section or the header.
    #[error("{file}: {place}: {what}")]
    Elf { file: String, place: String, what: String },
    /// The debug info is broken or of a kind we don't read; `place` is a section and an offset.
    #[error("{file}: {place}: {what}")]
    Dwarf { file: String, place: String, what: String },
    /// The file holds no debug info of the kind asked for; `hint` says where to get it, beginning with `; `, or is empty.
    #[error("{file}: no {wanted} in this file{hint}")]
    Missing { file: String, wanted: &'static str, hint: String },
}

/// Result with [`Error`], unless another is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;
