//! Recorded accesses and objects, as files (docs/formats.md).

use anyhow::{Context, Result, bail};
use fieldline_cachemodel::MAX_CPUS;
use fieldline_debuginfo::FileBytes;
use fieldline_plan::simulate::{RECORD_BYTES, TraceAccess, TraceAccesses, TraceObject};
use std::path::Path;

pub(crate) enum Trace {
    Binary(FileBytes),
    Text(Vec<TraceAccess>),
}

/// Opens a trace: text if it begins as text, binary records otherwise.
pub(crate) fn open(path: &Path) -> Result<Trace> {
    let file = FileBytes::open(path)?;
    let head = file.bytes().get(..4096).unwrap_or(file.bytes());
    if head.is_empty() {
        bail!("{}: the trace is empty", path.display());
    }
    if head.iter().all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) {
        let text = String::from_utf8_lossy(file.bytes());
        return parse_text(&text).map(Trace::Text).with_context(|| path.display().to_string());
    }
    let (len, path) = (file.bytes().len(), path.display());
    if len % RECORD_BYTES != 0 {
        bail!(
            "{path}: {len} bytes are no whole number of {RECORD_BYTES}-byte records, and the file is no text"
        );
    }
    Ok(Trace::Binary(file))
}

impl Trace {
    pub(crate) fn accesses(&self) -> TraceAccesses<'_> {
        match self {
            Self::Binary(file) => TraceAccesses::Binary(file.bytes().chunks_exact(RECORD_BYTES)),
            Self::Text(accesses) => TraceAccesses::Listed(accesses.iter()),
        }
    }
}

fn parse_text(text: &str) -> Result<Vec<TraceAccess>> {
    let mut accesses = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or("").trim();
        if !line.is_empty() {
            accesses.push(parse_line(line).with_context(|| {
                format!("line {number}: '{line}' is not CPU ADDRESS SIZE l|s (address in hexadecimal)")
            })?);
        }
    }
    Ok(accesses)
}

fn parse_line(line: &str) -> Option<TraceAccess> {
    let mut words = line.split_whitespace();
    let cpu = words.next()?.parse().ok().filter(|cpu| *cpu < MAX_CPUS)?;
    let address = parse_hex(words.next()?)?;
    let size = words.next()?.parse().ok()?;
    let is_store = match words.next()? {
        "s" => true,
        "l" => false,
        _ => return None,
    };
    words.next().is_none().then_some(TraceAccess { cpu, address, size, is_store })
}

/// A number in hexadecimal, with `0x` or without.
pub(crate) fn parse_hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

/// Reads where objects of other types than one are: address, size and type.
pub(crate) fn read_holders(path: &Path, held: &str) -> Result<Vec<(u64, u64, String)>> {
    let text = fieldline_files::read_to_string(path).with_context(|| path.display().to_string())?;
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, name, size, ..] = words[..] else { return None };
        Some((parse_hex(address)?, size.parse().ok()?, name.to_owned()))
    };
    let rows = text.lines().filter(|line| !line.starts_with('#')).filter_map(row);
    Ok(rows.filter(|(.., name)| name != held).collect())
}

/// Reads where objects are: `ADDRESS TYPE SIZE …` a line, address in hexadecimal. Only the types named count,
/// by index.
pub(crate) fn read_objects(path: &Path, types: &[&str]) -> Result<Vec<TraceObject>> {
    let place = || path.display().to_string();
    let text = fieldline_files::read_to_string(path).with_context(place)?;
    let mut objects = Vec::new();
    let is_meant = |line: &str| !line.starts_with('#') && !line.trim().is_empty();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| is_meant(line)) {
        let broken = || format!("{}: line {number}: '{line}' is not ADDRESS TYPE SIZE", place());
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, name, size, ..] = words[..] else { bail!(broken()) };
        let Some(struct_index) = types.iter().position(|wanted| *wanted == name) else { continue };
        let (base, size) = parse_hex(address).zip(size.parse().ok()).with_context(broken)?;
        objects.push(TraceObject { base, size, struct_index });
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_are_skipped() {
        let parsed =
            parse_text("# cpu address size kind\n3 0xffff888000001008 8 s\n\n0 40 4 l # a load\n").unwrap();
        let store = TraceAccess { cpu: 3, address: 0xffff_8880_0000_1008, size: 8, is_store: true };
        assert_eq!(parsed, [store, TraceAccess { cpu: 0, address: 0x40, size: 4, is_store: false }]);
    }

    #[test]
    fn a_broken_line_is_named() {
        for line in ["1 zz 8 l", "1 10 8", "999 10 8 l", "1 10 8 x", "1 10 8 l more"] {
            let error = parse_text(&format!("0 10 8 l\n{line}\n")).unwrap_err().to_string();
            assert!(error.starts_with("line 2: "), "{error}");
        }
    }
}
