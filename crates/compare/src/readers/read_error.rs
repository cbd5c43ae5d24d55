//! Why a text holds no measurements.

/// Why a text holds no measurements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// No line is any tool's.
    #[error("no benchmark's output is recognised; its first line is: {first}")]
    Unknown {
        /// The first line that is not empty, shortened.
        first: String,
    },
    /// There is nothing in it.
    #[error("the file is empty")]
    Empty,
    /// A tool's output that is broken, or that ends too early.
    #[error("line {line}: {problem}")]
    Broken {
        /// The line's number, from 1.
        line: usize,
        /// A sentence.
        problem: String,
    },
}

impl ReadError {
    pub(crate) fn broken(line: usize, problem: impl Into<String>) -> Self {
        Self::Broken { line, problem: problem.into() }
    }
}
