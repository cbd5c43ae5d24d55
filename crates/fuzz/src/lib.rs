//! What the commands do with input of others, from its bytes on: one function for each kind of input.
//!
//! The fuzz targets call these, and a test of the command's crate calls them for every input that was once a finding.
//! Whatever the bytes are, each returns: an error is an answer, a panic is a bug.

mod code;
mod documents;
mod recording;
mod text;
mod types;

pub use code::code;
pub use documents::{plan, profile};
pub use recording::{perf_data, script};
pub use text::source;
pub use types::{btf, dwarf};

/// The function of a kind of input, by the name of its fuzz target.
pub fn entry(name: &str) -> Option<fn(&[u8])> {
    Some(match name {
        "perf_data" => perf_data,
        "script" => script,
        "dwarf" => dwarf,
        "btf" => btf,
        "plan" => plan,
        "profile" => profile,
        "source" => source,
        "code" => code,
        _ => return None,
    })
}
