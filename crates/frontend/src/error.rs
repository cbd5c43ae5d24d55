//! Errors of the front end.

use std::path::PathBuf;

/// Why nothing could be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no libclang.
    #[error(
        "no libclang was found; install libclang1-19 and libclang-common-19-dev (Debian's names), or name its folder in LIBCLANG_PATH"
    )]
    Missing,
    /// The program is linked with its C library, so that it loads no shared libraries.
    #[error(
        "this program is a static build, which has no C front end: it can't load libclang; take a build that isn't static \
         (Debian's package, or cargo install), or leave --build out, which reads the source as text"
    )]
    Static,
    /// The newest libclang is too old.
    #[error("{} is older than 17; install libclang1-19 and libclang-common-19-dev (Debian's names)", .0.display())]
    Old(PathBuf),
    /// clang's builtin headers are missing.
    #[error("no builtin headers for {}; install libclang-common-19-dev (Debian's name)", .0.display())]
    Headers(PathBuf),
    /// A unit that the front end gave up on.
    #[error("{}: the front end can't read it (libclang's error {code})", .file.display())]
    Unit {
        /// The source.
        file: PathBuf,
        /// libclang's number.
        code: i32,
    },
    /// A file or folder that can't be read.
    #[error("{}: {error}", .file.display())]
    Input {
        /// The file.
        file: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file that isn't what it should be.
    #[error("{}: {message}", .file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The fault.
        message: String,
    },
}

impl Error {
    /// For `map_err`.
    pub(crate) fn input(file: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let file = file.to_owned();
        |error| Self::Input { file, error }
    }
}
