//! The front end for a build, its results kept in the user's cache, and how far it is.

use crate::output::{self, Stage};
use anyhow::Result;
use fieldline_debuginfo::elf::imported_symbols;
use fieldline_tree::code::{CodeReader, Progress};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};
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

/// Shows how many units are read: on a terminal, or from time to time in lines if --verbose is given.
#[derive(Default)]
pub(crate) struct ProgressMeter {
    stage: OnceLock<Stage>,
    printed: Mutex<Option<Instant>>,
}

impl ProgressMeter {
    /// No more units are read.
    pub(crate) fn finish(&self) {
        self.stage.get().into_iter().for_each(Stage::clear);
    }

    pub(crate) fn print(&self, progress: Progress) {
        let Progress { done, count, left } = progress;
        let stage = self.stage.get_or_init(|| output::begin_stage("reading units"));
        stage.set(done as u64, count as u64);
        let Ok(mut printed) = self.printed.lock() else { return };
        if printed.is_some_and(|printed| printed.elapsed() < PAUSE) {
            return;
        }
        *printed = Some(Instant::now());
        output::print_progress(&format!("{done} of {count} units read, {} s left", left.as_secs()));
    }
}
