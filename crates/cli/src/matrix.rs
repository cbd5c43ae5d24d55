//! Other builds of the program: the same structs under other configurations and on other machines.

use anyhow::{Context, Result};
use fieldline_debuginfo::types::{self, Types};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::Layout;
use fieldline_plan::cost::elsewhere::Elsewhere;
use std::path::{Path, PathBuf};

/// A file named by `--also`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Also {
    pub(crate) path: PathBuf,
    /// Cacheline size in bytes, if the user gave one.
    pub(crate) line: Option<u64>,
}

/// Cacheline size in bytes that raw BTF is taken to be compiled for, since it doesn't name the machine.
const RAW_BTF_LINE: u64 = 64;

/// `FILE` or `FILE@BYTES`.
pub(crate) fn also(text: &str) -> Result<Also, String> {
    let given = text.rsplit_once('@').filter(|(_, bytes)| bytes.parse::<u64>().is_ok());
    match given {
        Some((path, bytes)) if !Path::new(text).exists() => {
            Ok(Also { path: path.into(), line: Some(crate::args::line_size(bytes)?) })
        }
        _ => Ok(Also { path: text.into(), line: None }),
    }
}

/// Whether each file is one that types could be read from; an error names the first that isn't.
pub(crate) fn check(files: &[Also]) -> Result<()> {
    let known = |file: &Also| machine(&file.path).with_context(|| format!("--also {}", file.path.display()));
    files.iter().try_for_each(|file| known(file).map(|_| ()))
}

/// Reads the structs, those that are there, out of each file.
pub(crate) fn read(files: &[Also], types: &[String]) -> Result<Vec<Elsewhere>> {
    let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
    let names = names(&paths);
    files.iter().zip(names).map(|(file, name)| read_one(file, name, types)).collect()
}

fn read_one(file: &Also, name: String, types: &[String]) -> Result<Elsewhere> {
    let (line, pointer) = machine(&file.path)?;
    types::with_types(&file.path, None, None, |found| {
        let pointer = match found {
            Types::Btf { btf, .. } => u64::from(btf.target().pointer_size),
            Types::Dwarf { .. } => pointer,
        };
        let layouts = types.iter().map(|name| layout(found, types::bare(name)));
        let layouts: Vec<Option<Layout>> = layouts.collect::<Result<_>>()?;
        Ok(Elsewhere {
            name,
            line: file.line.unwrap_or(line),
            pointer,
            layouts: layouts.into_iter().flatten().collect(),
        })
    })
    .with_context(|| format!("--also {}", file.path.display()))
}

/// The definition of a name that most units share, if there is one.
fn layout(types: &Types<'_, '_>, name: &str) -> Result<Option<Layout>> {
    if types.find(name)?.is_empty() { Ok(None) } else { Ok(types.layouts(name)?.into_iter().next()) }
}

/// Cacheline size and pointer size in bytes of the machine a file is for.
pub(crate) fn machine(path: &Path) -> Result<(u64, u64)> {
    let file = FileBytes::open(path)?;
    if types::is_raw_btf(file.bytes()) {
        return Ok((RAW_BTF_LINE, 8));
    }
    let elf = Elf::parse(&file)?;
    Ok((elf.cacheline(), u64::from(elf.pointer_size())))
}

/// As much of the end of each path as tells all of them apart; of equal ones the whole.
fn names(paths: &[&Path]) -> Vec<String> {
    let deepest = paths.iter().map(|path| path.components().count()).max().unwrap_or(1);
    let ends = |parts: usize| -> Vec<String> { paths.iter().map(|path| end(path, parts)).collect() };
    let mut candidates = (1..=deepest).map(ends);
    let distinct = candidates.find(|names| {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    });
    distinct.unwrap_or_else(|| {
        let numbered = paths.iter().enumerate();
        numbered.map(|(index, path)| format!("{} ({})", path.display(), index + 1)).collect()
    })
}

/// The last parts of a path.
fn end(path: &Path, parts: usize) -> String {
    let all: Vec<_> = path.components().collect();
    let kept: PathBuf = all[all.len().saturating_sub(parts)..].iter().collect();
    kept.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let of = |paths: &[&str]| names(&paths.iter().map(Path::new).collect::<Vec<_>>());
        assert_eq!(of(&["/a/x", "/b/y"]), ["x", "y"]);
        assert_eq!(of(&["/a/x", "/b/x", "y"]), ["a/x", "b/x", "y"]);
        assert_eq!(of(&["x", "x"]), ["x (1)", "x (2)"]);
    }

    #[test]
    fn a_line_size_may_follow_the_file() {
        assert_eq!(also("no/such/file@128"), Ok(Also { path: "no/such/file".into(), line: Some(128) }));
        assert_eq!(also("no/such@file"), Ok(Also { path: "no/such@file".into(), line: None }));
        assert!(also("no/such/file@100").is_err());
    }
}
