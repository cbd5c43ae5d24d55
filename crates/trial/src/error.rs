//! Errors of trials.

use std::io;
use std::path::{Path, PathBuf};

/// Why a trial can't go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file can't be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An input is broken.
    #[error("{path}: {what}")]
    Input {
        /// The file.
        path: PathBuf,
        /// The fault, and its place.
        what: String,
    },
    /// Debug info or a kernel's code can't be read.
    #[error(transparent)]
    DebugInfo(Box<fieldline_debuginfo::Error>),
    /// The guest wasn't recorded.
    #[error(transparent)]
    Guest(Box<fieldline_guest::Error>),
    /// A tree can't be copied, or was written to.
    #[error("{0}")]
    Tree(String),
    /// A command of the build failed.
    #[error("{command}: {what}\n{last_lines}")]
    Build {
        /// The command.
        command: String,
        /// How it ended, and where all its output is.
        what: String,
        /// The last lines it printed.
        last_lines: String,
    },
    /// A kernel isn't what it should be.
    #[error("{kernel}: {what}")]
    Kernel {
        /// The variant.
        kernel: String,
        /// The difference.
        what: String,
    },
}

/// A result with this error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn file(path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::File { path, source }
    }

    pub(crate) fn tree(error: impl std::fmt::Display) -> Self {
        Self::Tree(format!("{error:#}"))
    }

    pub(crate) fn debug_info(error: fieldline_debuginfo::Error) -> Self {
        Self::DebugInfo(Box::new(error))
    }
}

impl From<fieldline_guest::Error> for Error {
    fn from(error: fieldline_guest::Error) -> Self {
        Self::Guest(Box::new(error))
    }
}
