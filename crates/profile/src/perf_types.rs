//! perf's own data-type results: counts by type and offset.
//!
//! * `counts`: counts read from any form.
//! * `report`: `perf report -s type,typeoff[,symbol] -n --stdio`.
//! * `annotate`: `perf annotate --data-type -n --stdio`.
//! * `json`: the JSON of data-type profiles, version 1.
//! * `to_profile`: counts to an `AccessProfile`.

mod annotate;
mod counts;
mod json;
mod report;
mod to_profile;

use counts::SIZE_LIMIT;
pub use counts::{Error, MemoryOperation, PerfOutputForm, TypeCountRow, TypeCounts};
pub use to_profile::{CountsMismatch, profile, tags};

/// Reads any of the forms, detected by content.
///
/// # Errors
/// If it is none of them, or broken.
pub fn parse(bytes: &[u8]) -> Result<TypeCounts, Error> {
    if bytes.len() > SIZE_LIMIT {
        return Err(Error::TooLarge { size: bytes.len() });
    }
    let text = String::from_utf8_lossy(bytes);
    if text.trim_start().starts_with(['{', '[']) {
        return json::parse(&text);
    }
    let first = text.lines().find(|row| !row.trim().is_empty() && !row.starts_with('#')).unwrap_or_default();
    match () {
        () if first.starts_with(annotate::SECTION_PREFIX) => annotate::parse(&text),
        () if text.lines().any(report::is_head) => report::parse(&text),
        () => Err(Error::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused() {
        for text in ["", "hello", "# Overhead  Symbol\n", "\u{0}\u{1}"] {
            assert!(matches!(parse(text.as_bytes()), Err(Error::Unknown)), "{text:?}");
        }
        assert!(matches!(parse(b"{\"version\": 2, \"dsos\": []}"), Err(Error::Version { found: 2 })));
        assert!(matches!(parse(b"{\"version\": 1, \"dsos\": 7}"), Err(Error::Json(_))));
    }
}
