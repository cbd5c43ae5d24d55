//! Errors in files of a fleet.

use std::path::{Path, PathBuf};

/// An error in a file or folder.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct Error {
    /// The file or folder.
    pub path: PathBuf,
    /// The problem.
    pub problem: FileProblem,
}

/// A problem of a file or folder.
#[derive(Debug, thiserror::Error)]
pub enum FileProblem {
    /// It can't be read.
    #[error("{0}")]
    Unreadable(std::io::Error),
    /// It is no Parquet, or its bytes are damaged or end too early.
    #[error("broken Parquet file: {0}")]
    Broken(String),
    /// Its columns are not those of one of the tables.
    #[error("a Parquet file, but none of fieldline's tables (docs/formats.md): its columns are {0}")]
    NoTable(String),
    /// A column has another type.
    #[error("column {0} should hold {1}")]
    ColumnType(&'static str, &'static str),
    /// A row has what its column can't have.
    #[error("row {row}: {problem}")]
    Row {
        /// Number of the row, from 1.
        row: u64,
        /// The problem with it.
        problem: String,
    },
    /// A sum is too large.
    #[error("{0}")]
    Overflow(#[from] crate::row_sums::Overflow),
    /// There is nothing.
    #[error("no Parquet files there")]
    NoFiles,
    /// There are files, but none of the table without which the others mean nothing.
    #[error("no table recordings among the {0} files there")]
    NoRecordings(usize),
    /// A recording is there twice.
    #[error("recording {0} is there twice, with the same samples")]
    Twice(String),
    /// Nothing is left.
    #[error("no recording is left by --where; {0}")]
    NothingLeft(String),
    /// A condition asks for a key that the tables don't have.
    #[error("{0}")]
    Condition(String),
    /// A layout can't be read.
    #[error("the layout of {0}: {1}")]
    Layout(String, String),
}

impl Error {
    /// An error of a file.
    pub fn new(path: &Path, problem: impl Into<FileProblem>) -> Self {
        Self { path: path.to_path_buf(), problem: problem.into() }
    }
}

impl From<parquet::errors::ParquetError> for FileProblem {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self::Broken(error.to_string())
    }
}
