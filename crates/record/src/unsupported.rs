//! Stubs for other machines.

use crate::{
    Error, RecordTarget, StepOptions, StepRecording, WatchOptions, WatchRecording, WatchRotation, WatchTarget,
};
use fieldline_debuginfo::Elf;
use fieldline_profile::addresses::LoadBias;
use std::ffi::OsStr;
use std::io;

/// Refuses.
///
/// # Errors
/// Always.
pub fn record_steps(_target: &RecordTarget, _options: &StepOptions) -> Result<StepRecording, Error> {
    Err(Error::Unsupported)
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn record_watches(
    _target: &WatchTarget,
    _rotation: &WatchRotation,
    _options: &WatchOptions,
) -> Result<WatchRecording, Error> {
    Err(Error::Unsupported)
}

/// Nothing is known of processes.
pub fn program_load_bias(_pid: u32, _elf: &Elf<'_>) -> Option<LoadBias> {
    None
}

pub(crate) fn kill(_pid: u32) {}

/// Refuses.
pub fn stop_and_exec<A: AsRef<OsStr>>(_program: &OsStr, _args: &[A]) -> io::Error {
    io::Error::from(io::ErrorKind::Unsupported)
}
