//! Facts that a trial, or a run of it, depends on, as text beside its results: something else must not go on with them.

use crate::error::{Error, Result};
use std::fs;
use std::path::Path;

/// Writes what a folder is made of, or checks it if it is there.
pub(crate) fn write_or_check(path: &Path, now: &str) -> Result<()> {
    match fs::read_to_string(path) {
        Ok(known) => check(path, &known, now),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => write_whole(path, now),
        Err(error) => Err(Error::file(path)(error)),
    }
}

/// Compares what something was made of with what it would be made of now.
pub(crate) fn check(path: &Path, known: &str, now: &str) -> Result<()> {
    let mut pairs = known.trim_end().lines().zip(now.trim_end().lines());
    let is_longer = known.trim_end().lines().count() != now.trim_end().lines().count();
    let difference = pairs.find(|(known, now)| known != now);
    let what = match difference {
        Some((known, now)) => format!("made of something else\nthere: {known}\nnow:   {now}"),
        None if is_longer => "made of more or fewer variants".to_owned(),
        None => return Ok(()),
    };
    Err(Error::Input {
        path: path.to_owned(),
        what: format!("{what}\nname another folder (-o), or remove this one"),
    })
}

/// Some parts as a number of 128 bits.
pub(crate) fn digest(parts: &[&[u8]]) -> String {
    let mut state = xxhash_rust::xxh3::Xxh3::new();
    for part in parts {
        state.update(&(part.len() as u64).to_le_bytes());
        state.update(part);
    }
    format!("{:032x}", state.digest128())
}

/// Writes a file that appears whole or not at all.
pub(crate) fn write_whole(path: &Path, text: &str) -> Result<()> {
    let partial = path.with_extension("partial");
    fs::write(&partial, text).map_err(Error::file(&partial))?;
    fs::rename(&partial, path).map_err(Error::file(path))
}
