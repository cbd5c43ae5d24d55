//! Small text files below a root folder.

use std::io::Read;
use std::path::{Path, PathBuf};

/// More than `/proc/cpuinfo` of a machine with a thousand CPUs takes.
const TEXT_LIMIT: u64 = 8 << 20;
/// More entries than any folder read here has.
const ENTRY_LIMIT: usize = 1 << 14;

/// A folder in place of `/`.
#[derive(Clone, Debug)]
pub(super) struct Root {
    folder: PathBuf,
}

impl Root {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// A file's text without blanks around it; none if it can't be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let mut bytes = Vec::new();
        fieldline_files::open_any_system(&self.path(path))
            .ok()?
            .take(TEXT_LIMIT)
            .read_to_end(&mut bytes)
            .ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    pub(super) fn number(&self, path: &str) -> Option<i64> {
        self.text(path)?.parse().ok()
    }

    /// The names in a folder, sorted; none if there is no such folder.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten().take(ENTRY_LIMIT).flatten();
        let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        names
    }
}
