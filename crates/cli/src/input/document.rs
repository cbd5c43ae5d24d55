//! JSON files between commands: read with their format and version checked, written whole or not at all.

use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_access::access::{self, AccessProfile};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// Reads a file of a format; `what` names it in messages.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, format: &str, version: u64) -> Result<T> {
    let place = || path.display().to_string();
    if path.is_dir() {
        bail!("{}: a folder, not a {format} file", place());
    }
    let bytes = fieldline_files::read(path).with_context(place)?;
    check_format(&bytes, format, version).with_context(place)?;
    serde_json::from_slice(&bytes).with_context(|| format!("{}: broken {format} file", place()))
}

/// The first two fields of every file we write.
#[derive(serde::Deserialize)]
struct Header {
    format: Option<String>,
    version: Option<u64>,
}

fn check_format(bytes: &[u8], format: &str, version: u64) -> Result<()> {
    let header: Header = serde_json::from_slice(bytes).with_context(|| format!("not a {format} file"))?;
    match header.format.as_deref() {
        Some(found) if found == format => {}
        Some(found) => bail!("a {found} file, but a {format} file is expected"),
        None => bail!("not a {format} file: it has no \"format\""),
    }
    if header.version != Some(version) {
        let found = header.version.map_or_else(|| "none".to_owned(), |version| version.to_string());
        bail!("{format} version {found}, but this fieldline reads version {version}");
    }
    Ok(())
}

pub(crate) fn to_json(value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a value to its file.
pub(crate) fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    output::write_file(path, &to_json(value)?)
}

/// Writes a value to its file if one is given.
pub(crate) fn write_if_named(path: Option<&PathBuf>, value: &impl Serialize) -> Result<()> {
    path.map_or(Ok(()), |path| write(path, value))
}

pub(crate) fn read_profile(path: &Path) -> Result<AccessProfile> {
    read(path, access::FORMAT, u64::from(access::VERSION))
}
