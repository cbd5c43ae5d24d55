//! Errors of reading a recording.

use fieldline_files::UnreadableKind;
use std::{fmt, io};

/// Where in a recording something was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BytePosition {
    /// Byte offset, counted from the start of the file, or of the decompressed records.
    pub offset: u64,
    /// The offset counts decompressed bytes, since the records come out of `COMPRESSED` ones.
    pub decompressed: bool,
}

impl BytePosition {
    /// A byte of the file itself.
    #[must_use]
    pub fn in_file(offset: u64) -> Self {
        Self { offset, decompressed: false }
    }

    /// The position `bytes` further on.
    #[must_use]
    pub fn plus(self, bytes: u64) -> Self {
        Self { offset: self.offset.saturating_add(bytes), ..self }
    }
}

impl fmt::Display for BytePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = if self.decompressed { " of the decompressed records" } else { "" };
        write!(f, "byte {}{part}", self.offset)
    }
}

/// Why a recording could not be read. The path is the caller's to add.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused to open or to read the file.
    #[error("cannot read {what} at byte {offset}")]
    Io {
        /// The part that was being read.
        what: &'static str,
        /// Where in the file.
        offset: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The path names a directory; `perf record --threads` writes such recordings.
    #[error("is a directory, not a perf.data file{}", if *.is_recording {
        " (a recording by `perf record --threads`; record without --threads)" } else { "" })]
    Directory {
        /// It holds a file named `data`, so it is a recording in directory form.
        is_recording: bool,
    },
    /// The path names a pipe, a socket, a device or a file of the kernel.
    #[error("is {0}")]
    NotRegular(UnreadableKind),
    /// The file has no bytes at all.
    #[error("is empty: `perf record` wrote nothing to it")]
    Empty,
    /// The first eight bytes are not those of a recording.
    #[error("is not a perf.data file: it begins with the bytes {magic:02x?} and not with PERFILE2")]
    NotPerfData {
        /// The first bytes, zeros past the end of a shorter file.
        magic: [u8; 8],
    },
    /// The file, a section or a record is shorter than its stated size.
    #[error("truncated: {what} at {place} needs {needed} bytes and {available} are left")]
    Truncated {
        /// The part that was being read.
        what: &'static str,
        /// Where it starts.
        place: BytePosition,
        /// Bytes it needs.
        needed: u64,
        /// Bytes there are.
        available: u64,
    },
    /// A value that no recording can hold.
    #[error("malformed {what} at {place}: {problem}")]
    Malformed {
        /// The part that was being read.
        what: &'static str,
        /// Where it starts.
        place: BytePosition,
        /// The problem, with the numbers.
        problem: String,
    },
    /// A line of a text that can't be understood. Whoever knows the path writes `PATH:LINE: problem`.
    #[error("line {line}: {problem}")]
    Line {
        /// Which, counted from 1.
        line: u64,
        /// The problem.
        problem: String,
    },
    /// A valid recording that uses a feature this reader does not know.
    #[error("unsupported {what} at {place}: {problem}")]
    Unsupported {
        /// The part that was being read.
        what: &'static str,
        /// Where it starts.
        place: BytePosition,
        /// The unsupported feature.
        problem: String,
    },
}

impl Error {
    pub(crate) fn malformed(what: &'static str, place: BytePosition, problem: impl Into<String>) -> Self {
        Self::Malformed { what, place, problem: problem.into() }
    }

    pub(crate) fn line(line: u64, problem: String) -> Self {
        Self::Line { line, problem }
    }

    pub(crate) fn unsupported(what: &'static str, place: BytePosition, problem: impl Into<String>) -> Self {
        Self::Unsupported { what, place, problem: problem.into() }
    }
}
