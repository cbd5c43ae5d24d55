//! JSON files between commands: read with their format and version checked, written whole or not at all.

use super::fleet;
use super::fleet_options::FleetOptions;
use crate::output;
use anyhow::{Context, Result, bail};
use fieldline_access::access::{self, AccessProfile};
use fieldline_files::printable::{self, is_unprintable};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// Reads a file of a format; `what` names it in messages.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, format: &str, version: u64) -> Result<T> {
    let place = || path.display().to_string();
    if path.is_dir() {
        bail!("{}: a folder, not a {format} file", place());
    }
    let bytes = keep_names_printable(fieldline_files::read(path).with_context(place)?);
    check_format(&bytes, format, version).with_context(place)?;
    serde_json::from_slice(&bytes).with_context(|| format!("{}: broken {format} file", place()))
}

/// JSON in whose strings what controls terminals and ends lines is text, as in all names that are read: the
/// escape `\n` becomes the two characters it is written with. No string that we write has any.
fn keep_names_printable(bytes: Vec<u8>) -> Vec<u8> {
    if memchr::memchr2(b'\\', 0x7f, &bytes).is_none() && !bytes.contains(&0xc2) && !bytes.contains(&0xe2) {
        return bytes;
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return error.into_bytes(),
    };
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        let (plain, escape) = rest.split_at(at);
        out.push_str(&printable_in_json(plain));
        let length = if escape.as_bytes().get(1) == Some(&b'u') { 6 } else { 2 };
        let (escape, behind) = escape.split_at_checked(length).unwrap_or((escape, ""));
        let is_control = serde_json::from_str::<String>(&format!("\"{escape}\""))
            .is_ok_and(|text| text.chars().any(is_unprintable));
        out.push_str(if is_control { "\\" } else { "" });
        out.push_str(escape);
        rest = behind;
    }
    out.push_str(&printable_in_json(rest));
    out.into_bytes()
}

/// Text between escapes: unprintable characters as escapes of a backslash and what follows it.
fn printable_in_json(text: &str) -> String {
    let is_raw = |character: char| is_unprintable(character) && !matches!(character, '\n' | '\r' | '\t');
    printable::escape(text, is_raw).replace('\\', "\\\\")
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

/// The profile of a file, or of a folder or pattern of Parquet.
pub(crate) fn read_profile(path: &Path) -> Result<AccessProfile> {
    read_profile_of(path, None, &FleetOptions::default())
}

/// A profile for a program: of Parquet of several builds, with that program's layouts.
pub(crate) fn read_profile_of(
    path: &Path,
    program: Option<&Path>,
    fleet: &FleetOptions,
) -> Result<AccessProfile> {
    if fleet::is_fleet(path) {
        return fleet::read_profile(path, program, fleet);
    }
    if !fleet.is_empty() {
        bail!("{}: --where, --weight and --skip-broken are for profiles in Parquet", path.display());
    }
    read(path, access::FORMAT, u64::from(access::VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_documents_are_printable_and_others_stay() {
        let read = |text: &str| {
            let bytes = keep_names_printable(text.as_bytes().to_vec());
            serde_json::from_slice::<String>(&bytes).unwrap()
        };
        assert_eq!(read("\"a\\nb\\u001b[2J\""), "a\\nb\\u001b[2J");
        assert_eq!(read("\"a\u{9b}b\u{7f}c\""), "a\\u009bb\\u007fc");
        assert_eq!(read("\"\\\\n \\\"é─\\u00e9 \\ud83d\\ude00\""), "\\n \"é─é \u{1f600}");
        assert_eq!(keep_names_printable(b"{\n\t\"a\": 1}\r\n".to_vec()), b"{\n\t\"a\": 1}\r\n");
    }
}
