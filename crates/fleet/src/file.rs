//! Tables in Parquet files: one table a file, known by its columns.

mod read;
mod write;

pub(crate) use read::{Selection, read_table};
pub use write::to_parquet;

/// Key in a file's metadata of two numbers: of how many bytes from the file's start, and their checksum (CRC-32). These
/// are all bytes that values are decoded of. A file that has it is checked before.
const CHECKSUM: &str = "fieldline.crc32";
