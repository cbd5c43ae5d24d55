//! A source tree of links, in which some files are replaced. The tree itself is never written to.

use crate::command;
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Files by their path in the tree, as a patch leaves them.
pub type PatchFiles = BTreeMap<String, Vec<u8>>;

/// A tree whose files are links to those of another.
#[derive(Clone, Debug)]
pub(crate) struct LinkedTree {
    source: PathBuf,
    folder: PathBuf,
}

impl LinkedTree {
    /// Refuses a folder that is no kernel's source tree.
    ///
    /// # Errors
    ///
    /// It isn't one.
    pub(crate) fn check(source: &Path) -> Result<()> {
        if source.join("Kbuild").is_file() && source.join("Makefile").is_file() {
            return Ok(());
        }
        let what = "no kernel's source tree: it has no Kbuild".to_owned();
        Err(Error::Input { path: source.to_owned(), what })
    }

    /// Links a tree's files into a folder, the first time.
    ///
    /// # Errors
    ///
    /// The tree can't be read, or the folder not be written.
    pub(crate) fn make(source: &Path, folder: &Path) -> Result<Self> {
        let source = source.canonicalize().map_err(Error::file(source))?;
        if !folder.exists() {
            let partial = folder.with_extension("partial");
            if partial.exists() {
                fs::remove_dir_all(&partial).map_err(Error::file(&partial))?;
            }
            let mut copy = Command::new("cp");
            copy.args(["-a", "-s", "--"]).arg(source.join(".")).arg(&partial);
            fs::create_dir_all(&partial).map_err(Error::file(&partial))?;
            command::run(&mut copy, None)?;
            // With the history each build would ask git whether files changed.
            let history = partial.join(".git");
            if history.is_dir() {
                fs::remove_dir_all(&history).map_err(Error::file(&history))?;
            }
            fs::rename(&partial, folder).map_err(Error::file(folder))?;
        }
        Ok(Self { source, folder: folder.to_owned() })
    }

    /// The folder with the links.
    #[must_use]
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The text of a file of the tree itself.
    ///
    /// # Errors
    ///
    /// It can't be read.
    pub(crate) fn original(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.source.join(name);
        fieldline_files::read(&path).map_err(Error::file(&path))
    }

    /// Makes the tree that of a patch. `names` are the files of all patches: those this patch leaves alone become the
    /// tree's own again. Files whose content stays keep their time, so that nothing is built again for them.
    ///
    /// # Errors
    ///
    /// A file can't be read or written.
    pub(crate) fn apply(&self, patch: &PatchFiles, names: &BTreeSet<String>) -> Result<()> {
        for name in names {
            let path = self.folder.join(name);
            let text = match patch.get(name) {
                Some(text) => text.clone(),
                None if self.source.join(name).exists() => self.original(name)?,
                None => {
                    remove_if_there(&path)?;
                    continue;
                }
            };
            if fs::read(&path).is_ok_and(|known| known == text) {
                continue;
            }
            remove_if_there(&path)?;
            fs::write(&path, text).map_err(Error::file(&path))?;
        }
        Ok(())
    }
}

fn remove_if_there(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file(path)(error)),
        _ => Ok(()),
    }
}

/// The files that a folder's patches change, or those of one patch. Patches apply in the order of their names.
///
/// # Errors
///
/// A patch doesn't apply, names no file or one outside the tree, or git isn't there.
pub fn read_patches(tree: &Path, patches: &Path) -> Result<PatchFiles> {
    let scratch = tempfile::tempdir().map_err(Error::file(std::env::temp_dir()))?;
    let mut names = BTreeSet::new();
    for patch in patch_files(patches)? {
        let text = fieldline_files::read_to_string(&patch).map_err(Error::file(&patch))?;
        let named = named_files(&text);
        if named.is_empty() {
            return Err(Error::Input { path: patch, what: "the patch changes no file".to_owned() });
        }
        for name in named {
            fetch(tree, scratch.path(), &name, &patch)?;
            names.insert(name);
        }
        let mut apply = Command::new("git");
        apply.args(["apply", "--whitespace=nowarn"]).arg(patch.canonicalize().map_err(Error::file(&patch))?);
        // Outside any repository, so that git takes files as they are.
        apply.current_dir(scratch.path()).env("GIT_CEILING_DIRECTORIES", std::env::temp_dir());
        command::run(&mut apply, None)?;
    }
    let read = |name: String| {
        let path = scratch.path().join(&name);
        fs::read(&path).map_err(Error::file(&path)).map(|text| (name, text))
    };
    names.into_iter().filter(|name| scratch.path().join(name).exists()).map(read).collect()
}

/// Copies a file to be patched; one that isn't in the tree is new.
fn fetch(tree: &Path, scratch: &Path, name: &str, patch: &Path) -> Result<()> {
    let is_below = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if !is_below {
        return Err(Error::Input { path: patch.to_owned(), what: format!("'{name}' is outside the tree") });
    }
    let (from, to) = (tree.join(name), scratch.join(name));
    if to.exists() || !from.exists() {
        return Ok(());
    }
    let parent = to.parent().unwrap_or(scratch);
    fs::create_dir_all(parent).map_err(Error::file(parent))?;
    fs::write(&to, fieldline_files::read(&from).map_err(Error::file(&from))?).map_err(Error::file(&to))
}

/// The patches of a folder by name, without a cover letter; or the file itself.
fn patch_files(patches: &Path) -> Result<Vec<PathBuf>> {
    if !patches.is_dir() {
        return Ok(vec![patches.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(patches).map_err(Error::file(patches))? {
        let path = entry.map_err(Error::file(patches))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_file() && name.ends_with(".patch") && !name.contains("cover-letter") {
            found.push(path);
        }
    }
    if found.is_empty() {
        return Err(Error::Input { path: patches.to_owned(), what: "no *.patch is in it".to_owned() });
    }
    found.sort();
    Ok(found)
}

/// Files that a patch names as changed or new.
fn named_files(patch: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut before = "";
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("--- a/") {
            before = name;
        } else if let Some(name) = line.strip_prefix("+++ b/") {
            names.push(name);
        } else if line == "+++ /dev/null" {
            names.push(before);
        }
    }
    // git and diff put the time behind a tab.
    names.into_iter().map(|name| name.split('\t').next().unwrap_or(name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_testing::has_programs;

    fn source() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("Kbuild", ""), ("Makefile", ""), ("a.h", "one\ntwo\n"), ("b.h", "x\n")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    const PATCH: &str = "--- a/a.h\n+++ b/a.h\n@@ -1,2 +1,2 @@\n-one\n two\n+one\n";

    #[test]
    fn files_are_replaced_and_come_back_and_the_source_stays() {
        if !has_programs(&["git", "cp"]) {
            return;
        }
        let source = source();
        let work = tempfile::tempdir().unwrap();
        let patch = work.path().join("0001-x.patch");
        fs::write(&patch, PATCH).unwrap();
        let files = read_patches(source.path(), work.path()).unwrap();
        assert_eq!(files, [("a.h".to_owned(), b"two\none\n".to_vec())].into());
        let tree = LinkedTree::make(source.path(), &work.path().join("tree")).unwrap();
        let names: BTreeSet<String> = files.keys().cloned().collect();
        let read = |name: &str| fs::read_to_string(tree.folder().join(name)).unwrap();
        tree.apply(&files, &names).unwrap();
        assert_eq!((read("a.h"), read("b.h")), ("two\none\n".to_owned(), "x\n".to_owned()));
        let written = fs::metadata(tree.folder().join("a.h")).unwrap().modified().unwrap();
        tree.apply(&files, &names).unwrap();
        assert_eq!(fs::metadata(tree.folder().join("a.h")).unwrap().modified().unwrap(), written);
        tree.apply(&PatchFiles::new(), &names).unwrap();
        assert_eq!(read("a.h"), "one\ntwo\n");
        assert_eq!(fs::read_to_string(source.path().join("a.h")).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn patches_that_dont_apply_or_lead_outside_are_errors() {
        let source = source();
        let work = tempfile::tempdir().unwrap();
        let patch = work.path().join("x.patch");
        let outside = PATCH.replace("a.h", "../a.h");
        let other = PATCH.replace("one", "three");
        for text in [outside.as_str(), other.as_str(), "nothing\n"] {
            fs::write(&patch, text).unwrap();
            assert!(read_patches(source.path(), &patch).is_err(), "{text}");
        }
        assert!(read_patches(source.path(), &work.path().join("none")).is_err());
    }
}
