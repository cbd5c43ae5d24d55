//! Commands that build: their output goes to a log, and errors show its end.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// Lines of a log that an error shows.
const SHOWN_LINES: usize = 25;
/// Most of a log that is read for these, in bytes.
const READ_BYTES: usize = 1 << 16;

/// Runs a command to its end, all output to a log; an error shows the last lines.
pub(crate) fn run(command: &mut Command, log: Option<&Path>) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let scratch;
    let path = if let Some(log) = log {
        log
    } else {
        scratch = tempfile::NamedTempFile::new().map_err(Error::file(std::env::temp_dir()))?;
        scratch.path()
    };
    let out = File::options().create(true).append(true).open(path).map_err(Error::file(path))?;
    let errors = out.try_clone().map_err(Error::file(path))?;
    command.stdin(Stdio::null()).stdout(out).stderr(errors);
    let failed = |what: String| Error::Build { command: name.clone(), what, last_lines: last_lines(path) };
    let status = command.status().map_err(|error| failed(format!("it can't be run: {error}")))?;
    if status.success() {
        return Ok(());
    }
    let place = log.map_or(String::new(), |log| format!("; {} has all it printed", log.display()));
    Err(failed(format!("{status}{place}")))
}

fn last_lines(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let end = bytes.get(bytes.len().saturating_sub(READ_BYTES)..).unwrap_or_default();
    let text = String::from_utf8_lossy(end);
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default().join("\n")
}
