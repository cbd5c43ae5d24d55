//! What other machines get.

use crate::{Error, StepOptions, Taken, Target};
use std::ffi::OsStr;
use std::io;

/// Refuses.
///
/// # Errors
/// Always.
pub fn record_steps(_target: &Target, _options: &StepOptions) -> Result<Taken, Error> {
    Err(Error::Unsupported)
}

/// Nothing was started.
pub(crate) fn kill(_pid: u32) {}

/// Refuses.
pub fn hold<A: AsRef<OsStr>>(_program: &OsStr, _args: &[A]) -> io::Error {
    io::Error::from(io::ErrorKind::Unsupported)
}
