//! Debug info in a file of its own (`objcopy --only-keep-debug`), for a program that was stripped of it.
//!
//! It is found the way debuggers find it: by build id below `.build-id`, by the name in `.gnu_debuglink` beside the program,
//! in `.debug` beside it, or below a folder of debug files.

use crate::elf::hex;
use crate::{Elf, FileBytes};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// The folder in which distributions put debug files.
const DEBUG_ROOT: &str = "/usr/lib/debug";

/// The file with a program's debug info, if that is not the program itself. `folders` go before the usual one.
pub fn open_debug_file(elf: &Elf<'_>, folders: &[PathBuf]) -> Result<Option<FileBytes>> {
    if elf.has_dwarf() {
        return Ok(None);
    }
    for path in debug_file_paths(elf, folders).into_iter().filter(|path| path.is_file()) {
        let bytes = FileBytes::open(&path)?;
        let debug = Elf::parse(&bytes)?;
        check_build_id(elf, &debug)?;
        if debug.has_dwarf() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}

fn debug_file_paths(elf: &Elf<'_>, folders: &[PathBuf]) -> Vec<PathBuf> {
    let beside = elf.path().parent().unwrap_or(Path::new("."));
    let usual = [PathBuf::from(DEBUG_ROOT)];
    let roots = || folders.iter().chain(&usual);
    let mut paths = Vec::new();
    if let Some((head, tail)) = elf.build_id().map(hex).as_deref().and_then(|id| id.split_at_checked(2)) {
        let by_id = format!("{head}/{tail}.debug");
        paths.extend(folders.iter().map(|root| root.join(&by_id)));
        paths.extend(roots().map(|root| root.join(".build-id").join(&by_id)));
    }
    if let Some(name) = elf.debug_link().map(String::from_utf8_lossy) {
        let name = name.as_ref();
        paths.extend(folders.iter().map(|root| root.join(name)));
        paths.extend([beside.join(name), beside.join(".debug").join(name)]);
        let full = beside.canonicalize().unwrap_or_else(|_| beside.to_owned());
        let below = full.strip_prefix("/").map(Path::to_owned).unwrap_or(full);
        paths.extend(roots().map(|root| root.join(&below).join(name)));
    }
    // The program's own name, as kernels' debug packages have it for modules.
    if let Some(name) = elf.path().file_name() {
        paths.extend(folders.iter().map(|root| root.join(name)));
    }
    paths
}

/// Fails if the debug file is of another build.
fn check_build_id(elf: &Elf<'_>, debug: &Elf<'_>) -> Result<()> {
    match (elf.build_id(), debug.build_id()) {
        (Some(own), Some(other)) if own != other => bail!(
            "{}: build id {}, but {} is the debug file of build id {}",
            elf.name(),
            hex(own),
            debug.name(),
            hex(other)
        ),
        _ => Ok(()),
    }
}
