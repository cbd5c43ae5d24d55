//! The files of a tree and of its build, by the words in them.

use crate::uses::read_up_to;
use anyhow::{Context, Result};
use fieldline_files::UnreadableKind;
use fieldline_frontend::SourceUnit;
use fieldline_source::SourceText;
use fieldline_source::declared::{DeclaredName, declared_names, words};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Larger files are tables.
const LARGEST: u64 = 16 << 20;

/// The files that the units of a build consist of.
#[derive(Debug)]
pub(super) struct Texts {
    /// By path, absolute.
    pub(super) files: BTreeMap<PathBuf, TextFile>,
}

/// A file.
#[derive(Debug)]
pub(super) struct TextFile {
    pub(super) text: Vec<u8>,
    /// Whether it is included by units and is none.
    pub(super) is_header: bool,
}

impl Texts {
    /// Reads the units and what they include: as the build kept it, else all that may be meant in the folders.
    pub(super) fn read(folders: &[&Path], units: &[SourceUnit]) -> Result<Self> {
        let mut paths: BTreeSet<PathBuf> = units.iter().map(|unit| unit.file.clone()).collect();
        let sources = paths.clone();
        paths.extend(units.iter().flat_map(|unit| unit.reads.iter().cloned()));
        if units.iter().any(|unit| unit.reads.is_empty()) {
            folders.iter().try_for_each(|folder| list(folder, &mut paths))?;
        }
        let paths: Vec<PathBuf> = paths.into_iter().collect();
        let texts = fieldline_parallel::map(&paths, |path| read_if_there(path));
        let texts = texts.into_iter().collect::<Result<Vec<_>>>()?;
        let file = |(path, text): (PathBuf, Vec<u8>)| {
            let is_header = !sources.contains(&path);
            (path, TextFile { text, is_header })
        };
        Ok(Self { files: paths.into_iter().zip(texts).map(file).collect() })
    }

    /// The names that all files declare.
    pub(super) fn declared(&self) -> Vec<DeclaredName> {
        let texts: Vec<&TextFile> = self.files.values().filter(|file| file.is_header).collect();
        let found = fieldline_parallel::map(&texts, |file| declared_names(&SourceText::new(&file.text)));
        found.into_iter().flatten().collect()
    }

    /// Which of some words each file has.
    pub(super) fn present<'w>(&self, wanted: &FxHashSet<&'w str>) -> BTreeMap<&Path, FxHashSet<&'w str>> {
        let files: Vec<(&PathBuf, &TextFile)> = self.files.iter().collect();
        let found = fieldline_parallel::map(&files, |(_, file)| {
            // A header named as the struct is says nothing of it.
            let lines = file.text.split(|byte| *byte == b'\n').filter(|line| include_of(line).is_none());
            let known = lines.flat_map(words).filter_map(|word| std::str::from_utf8(word).ok());
            known.filter_map(|word| wanted.get(word).copied()).collect::<FxHashSet<&'w str>>()
        });
        files.into_iter().map(|(path, _)| path.as_path()).zip(found).collect()
    }

    /// The files that each file includes, by the ends of the paths in its `#include` lines.
    pub(super) fn includes(&self) -> Includes<'_> {
        let paths: Vec<&Path> = self.files.keys().map(PathBuf::as_path).collect();
        let mut by_name: FxHashMap<&OsStr, Vec<u32>> = FxHashMap::default();
        for (number, path) in (0..).zip(&paths) {
            by_name.entry(path.file_name().unwrap_or_default()).or_default().push(number);
        }
        let files: Vec<&TextFile> = self.files.values().collect();
        let of_files = fieldline_parallel::map(&files, |file| {
            let named = included(&file.text).into_iter().flat_map(|name| {
                let end = PathBuf::from(name.trim_start_matches("../").trim_start_matches("./"));
                let known = by_name.get(end.file_name().unwrap_or_default()).into_iter().flatten().copied();
                let is_meant =
                    |number: &u32| paths.get(*number as usize).is_some_and(|path| path.ends_with(&end));
                known.filter(is_meant).collect::<Vec<u32>>()
            });
            named.collect::<Vec<u32>>()
        });
        Includes { paths, of_files }
    }
}

/// Files, by number, and the files that each includes.
#[derive(Debug)]
pub(super) struct Includes<'t> {
    /// In order.
    pub(super) paths: Vec<&'t Path>,
    pub(super) of_files: Vec<Vec<u32>>,
}

impl Includes<'_> {
    /// The files that a file includes.
    pub(super) fn by(&self, path: &Path) -> &[u32] {
        let number = self.paths.binary_search(&path).ok();
        number.and_then(|number| self.of_files.get(number)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Paths in the `#include` lines of a text.
fn included(text: &[u8]) -> Vec<String> {
    let lines = text.split(|byte| *byte == b'\n').filter_map(|line| {
        let rest = include_of(line)?;
        let close = if rest.first() == Some(&b'<') { b'>' } else { b'"' };
        let rest = rest.get(1..)?;
        let end = rest.iter().position(|byte| *byte == close)?;
        String::from_utf8(rest.get(..end)?.to_vec()).ok()
    });
    lines.collect()
}

/// The file named behind `#include`.
fn include_of(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
    Some(line.strip_prefix(b"include")?.trim_ascii_start())
}

/// A file's text. One that vanished or is too large has none, but a pipe in its place is an error.
fn read_if_there(path: &Path) -> Result<Vec<u8>> {
    match read_up_to(path, LARGEST) {
        Err(error) if UnreadableKind::in_error(&error).is_some() => {
            Err(error).with_context(|| path.display().to_string())
        }
        read => Ok(read.unwrap_or_default()),
    }
}

/// Fails if a compiler could meet a pipe or a device among the C and C++ files below a folder: it would wait for ever.
pub(crate) fn check_regular(folder: &Path) -> Result<()> {
    list(folder, &mut BTreeSet::new())
}

/// C and C++ files below a folder; links to folders are not followed. Fails if one is a pipe or a device.
fn list(folder: &Path, paths: &mut BTreeSet<PathBuf>) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if kind.is_dir() && !is_hidden {
            list(&path, paths)?;
        } else if kind.is_file() && is_code(&path) {
            paths.insert(path);
        } else if is_code(&path) {
            fieldline_files::check_entry(&path)?;
        }
    }
    Ok(())
}

/// Whether a file is in assembler, by its name.
pub(super) fn is_assembler(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    ["S", "s", "asm"].contains(&end)
}

fn is_code(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    is_assembler(path)
        || ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inc", "def", "inl", "tbl"].contains(&end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_included_by_the_end_of_their_path() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("a/b")).unwrap();
        let put = |path: &str, text: &str| std::fs::write(tree.path().join(path), text).unwrap();
        put("a/b/x.h", "");
        put("a/x.h", "#include <no/x.h>\n");
        put("u.c", "# include \"b/x.h\"\n#include <stdio.h>\n");
        let unit = SourceUnit { file: tree.path().join("u.c"), ..SourceUnit::default() };
        let texts = Texts::read(&[tree.path()], &[unit]).unwrap();
        let includes = texts.includes();
        let named = |path: &str| {
            let found = includes.by(&tree.path().join(path)).iter();
            found.map(|number| includes.paths[*number as usize].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(named("u.c"), [tree.path().join("a/b/x.h")]);
        assert!(named("a/x.h").is_empty());
        assert!(texts.files[&tree.path().join("a/x.h")].is_header);
        assert!(!texts.files[&tree.path().join("u.c")].is_header);
    }
}
