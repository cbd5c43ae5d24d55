//! What other machines get.

use crate::{Caught, Error, RecordTarget, Rotation, StepOptions, Taken, WatchOptions, Watched};
use fieldline_debuginfo::Elf;
use std::ffi::OsStr;
use std::io;

/// Refuses.
///
/// # Errors
/// Always.
pub fn record_steps(_target: &RecordTarget, _options: &StepOptions) -> Result<Taken, Error> {
    Err(Error::Unsupported)
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn record_watches(
    _watched: &Watched,
    _rotation: &Rotation,
    _options: &WatchOptions,
) -> Result<Caught, Error> {
    Err(Error::Unsupported)
}

/// Nothing is known of processes.
pub fn program_slide(_pid: u32, _elf: &Elf<'_>) -> Option<u64> {
    None
}

pub(crate) fn kill(_pid: u32) {}

/// Refuses.
pub fn hold<A: AsRef<OsStr>>(_program: &OsStr, _args: &[A]) -> io::Error {
    io::Error::from(io::ErrorKind::Unsupported)
}
