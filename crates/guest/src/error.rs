//! Errors of recording a guest.

use std::io;
use std::path::PathBuf;

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A program isn't there.
    #[error("{program} was not found: install it (Debian: {packages}){hint}")]
    MissingProgram {
        /// Its name.
        program: String,
        /// The Debian packages that have it.
        packages: &'static str,
        /// Another way out.
        hint: &'static str,
    },
    /// QEMU is too old, or is none.
    #[error(
        "{program} is QEMU {version}: install {packages} (Debian trixie has it), or name another (--qemu PATH)"
    )]
    OldQemu {
        /// Its path.
        program: String,
        /// Its version.
        version: String,
        /// The Debian packages that have a newer one.
        packages: &'static str,
    },
    /// A program of ours can't be compiled.
    #[error("{compiler} can't build {what}:\n{output}")]
    Compiler {
        /// The compiler.
        compiler: String,
        /// The program to build.
        what: &'static str,
        /// Its output.
        output: String,
    },
    /// A file can't be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The kernel lacks something.
    #[error("{kernel}: {what}")]
    Kernel {
        /// The file with debug info.
        kernel: String,
        /// The missing thing.
        what: String,
    },
    /// Nothing is to be traced.
    #[error("no code to trace: {0}")]
    NothingToTrace(String),
    /// QEMU or the guest failed.
    #[error("the guest stopped {when}\n{details}")]
    Guest {
        /// Before what.
        when: &'static str,
        /// The last lines of QEMU and of the guest's console.
        details: String,
    },
    /// Debug info can't be read.
    #[error(transparent)]
    DebugInfo(#[from] anyhow::Error),
}

impl Error {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { path, source }
    }
}

/// The result of recording.
pub type Result<T> = std::result::Result<T, Error>;
