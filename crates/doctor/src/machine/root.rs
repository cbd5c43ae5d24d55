//! Small text files below a root folder.

use fieldline_files::UnreadableKind;
use std::cell::RefCell;
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
    /// The first file that was a pipe, a device or the like.
    special: RefCell<Option<(PathBuf, UnreadableKind)>>,
}

impl Root {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), special: RefCell::default() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    pub(super) fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// A file's text without blanks around it; none if it can't be read.
    pub(super) fn text(&self, path: &str) -> Option<String> {
        let (path, mut bytes) = (self.path(path), Vec::new());
        let opened = fieldline_files::open_any_system(&path);
        let kind = opened.as_ref().err().and_then(UnreadableKind::in_error);
        if let Some(kind) = kind.filter(|kind| *kind != UnreadableKind::Folder) {
            self.special.borrow_mut().get_or_insert((path, kind));
        }
        opened.ok()?.take(TEXT_LIMIT).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The first file so far that could not be read for what it is, and what it is.
    pub(super) fn special(&self) -> Option<(PathBuf, UnreadableKind)> {
        self.special.borrow().clone()
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
