//! Other builds of the program: the same structs under other configurations and on other machines.

use anyhow::{Context, Result};
use fieldline_debuginfo::types::{self, Types};
use fieldline_debuginfo::{Elf, FileBytes};
use fieldline_layout::Layout;
use fieldline_plan::cost::AlternateBuild;
use std::path::{Path, PathBuf};

/// Another build's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherBuild {
    /// The file.
    pub path: PathBuf,
    /// Cacheline size in bytes, if the user gave one.
    pub line: Option<u64>,
}

/// Cacheline size in bytes that raw BTF is taken to be compiled for, since it doesn't name the machine.
const RAW_BTF_LINE: u64 = 64;

/// Whether each file is one that types could be read from; an error names the first that isn't.
pub fn check_files(files: &[OtherBuild]) -> Result<()> {
    files.iter().try_for_each(|file| {
        let machine = BuildMachine::from_file(&file.path);
        machine.map(|_| ()).with_context(|| format!("--also {}", file.path.display()))
    })
}

/// Reads the structs, those that are there, out of each file.
pub fn read_builds(files: &[OtherBuild], types: &[String]) -> Result<Vec<AlternateBuild>> {
    let paths: Vec<&Path> = files.iter().map(|file| file.path.as_path()).collect();
    files.iter().zip(unique_names(&paths)).map(|(file, name)| read_build(file, name, types)).collect()
}

fn read_build(file: &OtherBuild, name: String, types: &[String]) -> Result<AlternateBuild> {
    let machine = BuildMachine::from_file(&file.path)?;
    types::with_types(&file.path, None, None, |found| {
        let pointer = match found {
            Types::Btf { btf, .. } => u64::from(btf.target().pointer_size),
            Types::Dwarf { .. } => machine.pointer,
        };
        let layouts = types.iter().map(|name| layouts(found, types::strip_keyword(name)));
        let layouts: Vec<Vec<Layout>> = layouts.collect::<Result<_>>()?;
        let layouts = layouts.into_iter().filter_map(|all| all.into_iter().next()).collect();
        Ok(AlternateBuild { name, line: file.line.unwrap_or(machine.line), pointer, layouts })
    })
    .with_context(|| format!("--also {}", file.path.display()))
}

/// All layouts of a name, the one that most units share first; none if there are none.
pub(crate) fn layouts(types: &Types<'_, '_>, name: &str) -> Result<Vec<Layout>> {
    if types.find(name)?.is_empty() { Ok(Vec::new()) } else { types.layouts(name) }
}

/// Properties of a file's machine that place members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildMachine {
    /// Bytes of a cacheline it is compiled for (arch/*/include/asm/cache.h: L1_CACHE_SHIFT).
    pub line: u64,
    /// Bytes of a pointer.
    pub pointer: u64,
    /// Most alignment of a scalar in bytes.
    pub align_limit: u64,
}

impl BuildMachine {
    /// The machine a file is for.
    pub fn from_file(path: &Path) -> Result<Self> {
        let file = FileBytes::open(path)?;
        if types::is_raw_btf(file.bytes()) {
            return Ok(Self { line: RAW_BTF_LINE, pointer: 8, align_limit: u64::MAX });
        }
        let elf = Elf::parse(&file)?;
        let (pointer, align_limit) = (u64::from(elf.pointer_size()), elf.scalar_align_limit());
        Ok(Self { line: elf.cacheline(), pointer, align_limit })
    }
}

/// As much of the end of each path as distinguishes all of them; of equal ones the whole.
fn unique_names(paths: &[&Path]) -> Vec<String> {
    let deepest = paths.iter().map(|path| path.components().count()).max().unwrap_or(1);
    let ends = |parts: usize| -> Vec<String> { paths.iter().map(|path| path_end(path, parts)).collect() };
    let mut candidates = (1..=deepest).map(ends);
    let distinct = candidates.find(|names| {
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort();
        sorted.windows(2).all(|pair| pair[0] != pair[1])
    });
    distinct.unwrap_or_else(|| {
        paths.iter().enumerate().map(|(index, path)| format!("{} ({})", path.display(), index + 1)).collect()
    })
}

fn path_end(path: &Path, parts: usize) -> String {
    let all: Vec<_> = path.components().collect();
    let kept: PathBuf = all[all.len().saturating_sub(parts)..].iter().collect();
    kept.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let named = |paths: &[&str]| unique_names(&paths.iter().map(Path::new).collect::<Vec<_>>());
        assert_eq!(named(&["/a/x", "/b/y"]), ["x", "y"]);
        assert_eq!(named(&["/a/x", "/b/x", "y"]), ["a/x", "b/x", "y"]);
        assert_eq!(named(&["x", "x"]), ["x (1)", "x (2)"]);
    }
}
