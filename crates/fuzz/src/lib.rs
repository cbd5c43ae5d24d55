//! Entry points of the fuzz targets: one function for each kind of input, which does what the commands do with its bytes.
//!
//! A test of the command's crate calls them, too, for every input that was once a finding. They return for all bytes: an
//! error is a result, a panic is a bug.

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

/// The function of a fuzz target.
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
