//! The front end for a build, its results kept in the user's cache, and how far it is.

use crate::output;
use anyhow::Result;
use fieldline_debuginfo::elf::imported_symbols;
use fieldline_tree::code::{CodeReader, Progress};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Time between two lines of progress.
const PAUSE: Duration = Duration::from_secs(2);

/// The reader of a build's units, if a build is given, and the program that it made.
pub(crate) fn open_build(
    tree: Option<&Path>,
    build: Option<&Path>,
    program: &Path,
) -> Result<Option<CodeReader>> {
    let Some((tree, build)) = tree.zip(build) else { return Ok(None) };
    let reader = CodeReader::open(tree, build, cache_folder("uses"))?;
    Ok(Some(reader.importing(imported_symbols(program)?)))
}

/// A folder for something that is kept between runs (XDG Base Directory Specification).
pub(crate) fn cache_folder(name: &str) -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(cache.join("fieldline").join(name))
}

/// Prints how many units are read, from time to time.
#[derive(Default)]
pub(crate) struct ProgressMeter {
    printed: Mutex<Option<Instant>>,
}

impl ProgressMeter {
    pub(crate) fn print(&self, progress: Progress) {
        let Ok(mut printed) = self.printed.lock() else { return };
        if printed.is_some_and(|printed| printed.elapsed() < PAUSE) {
            return;
        }
        *printed = Some(Instant::now());
        let Progress { done, count, left } = progress;
        output::print_progress(&format!("{done} of {count} units read, {} s left", left.as_secs()));
    }
}
