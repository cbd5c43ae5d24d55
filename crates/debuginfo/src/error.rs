//! Errors of this crate: each names the file and the place.

use std::path::PathBuf;

/// Why debug info could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened or mapped.
    #[error("{}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a regular file (a directory, a device).
    #[error("{}: not a regular file", path.display())]
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// The container is broken.
    #[error("{file}: {place}: {what}")]
    Elf {
        /// The file.
        file: String,
        /// Section or header.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// The debug info is broken or of a kind we don't read.
    #[error("{file}: {place}: {what}")]
    Dwarf {
        /// The file.
        file: String,
        /// Section and offset.
        place: String,
        /// What is wrong.
        what: String,
    },
    /// The file holds no debug info of the kind asked for.
    #[error("{file}: no {wanted} in this file{hint}")]
    Missing {
        /// The file.
        file: String,
        /// `DWARF` or `BTF`.
        wanted: &'static str,
        /// Where to get it, beginning with `; `, or empty.
        hint: String,
    },
}

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
