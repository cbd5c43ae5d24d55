//! Line numbers in files that write 0 where none is known: for `#[serde(with = "...")]`.

use serde::{Deserialize, Deserializer, Serializer};

/// Writes a line number, or 0.
///
/// # Errors
/// If the serializer fails.
pub fn serialize<S: Serializer>(line: &Option<u32>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u32(line.unwrap_or(0))
}

/// Reads a line number; 0 is none.
///
/// # Errors
/// If there is no number.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    Ok(Some(u32::deserialize(deserializer)?).filter(|line| *line > 0))
}
