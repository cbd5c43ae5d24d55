//! A tree with some files replaced, beside it: real folders above replaced files, links for the rest.
//!
//! A header that a source file includes with quotes is looked for beside that file first, and compilers take
//! the folder as it is spelled, so that a folder of links shadows the tree's.

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The files that a patch changes, from the top of the tree, with their new text.
pub type Patch = BTreeMap<String, Vec<u8>>;

/// The replaced tree; it is removed when this is dropped.
#[derive(Debug)]
pub(super) struct Overlay {
    folder: TempDir,
}

impl Overlay {
    /// A tree with a patch, whose folders of `sources` (from the top of the tree) are real.
    pub(super) fn new(tree: &Path, patch: &Patch, sources: &BTreeSet<PathBuf>) -> Result<Self> {
        let folder = temporary_folder("fieldline-tree-")?;
        let files = patch.keys().map(Path::new).chain(sources.iter().map(PathBuf::as_path));
        let real: BTreeSet<&Path> = files.flat_map(|file| file.ancestors().skip(1)).collect();
        for inner in &real {
            std::fs::create_dir_all(folder.path().join(inner))?;
        }
        for inner in &real {
            link(tree, folder.path(), inner, |path| {
                real.contains(path) || path.to_str().is_some_and(|path| patch.contains_key(path))
            })
            .with_context(|| tree.join(inner).display().to_string())?;
        }
        for (path, text) in patch {
            std::fs::write(folder.path().join(path), text).with_context(|| path.clone())?;
        }
        Ok(Self { folder })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

pub(super) fn temporary_folder(prefix: &str) -> Result<TempDir> {
    tempfile::Builder::new().prefix(prefix).tempdir().context("no temporary folder")
}

/// Links what lies in a folder of the tree, except what is made by others.
fn link(tree: &Path, top: &Path, inner: &Path, is_made: impl Fn(&Path) -> bool) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(tree.join(inner)) {
        // The patch makes the folder.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let name = entry?.file_name();
        let path = inner.join(&name);
        if !is_made(&path) {
            symlink(&tree.join(&path), &top.join(&path))?;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("builds are verified where folders can hold links"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_patch_changes_is_replaced_and_the_rest_is_the_tree() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("a/b")).unwrap();
        std::fs::create_dir_all(tree.path().join("other")).unwrap();
        for file in ["a/b/x.h", "a/b/y.h", "a/z.h", "other/o.h"] {
            std::fs::write(tree.path().join(file), "old").unwrap();
        }
        let patch = Patch::from([("a/b/x.h".to_owned(), b"new".to_vec())]);
        let overlay = Overlay::new(tree.path(), &patch, &BTreeSet::new()).unwrap();
        let text = |file: &str| std::fs::read_to_string(overlay.path().join(file)).unwrap();
        assert_eq!(text("a/b/x.h"), "new");
        for file in ["a/b/y.h", "a/b/../z.h", "a/b/../../other/o.h"] {
            assert_eq!(text(file), "old", "{file}");
        }
        let top = overlay.path().to_owned();
        drop(overlay);
        assert!(!top.exists() && tree.path().join("other/o.h").exists());
    }
}
