//! Inputs of commands: files between commands, programs and their recordings, layouts of any file.

pub(crate) mod code;
pub(crate) mod document;
#[cfg(feature = "parquet")]
pub(crate) mod fleet;
#[cfg(not(feature = "parquet"))]
#[path = "input/no_fleet.rs"]
pub(crate) mod fleet;
pub(crate) mod fleet_options;
pub(crate) mod layout_set;
pub(crate) mod origin;
pub(crate) mod paths;
pub(crate) mod recordings;
pub(crate) mod runs;
pub(crate) mod select;
pub(crate) mod stacks;
pub(crate) mod trace;

/// Checks that a cacheline can have so many bytes.
pub(crate) fn check_line_size(bytes: u64) -> Result<u64, String> {
    let usable = bytes.is_power_of_two() && (16..=4096).contains(&bytes);
    if usable { Ok(bytes) } else { Err("a cacheline is a power of two from 16 to 4096 bytes".to_owned()) }
}
