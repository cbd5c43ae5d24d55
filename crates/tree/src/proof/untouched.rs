//! Proof that a command wrote nothing where it must not: what lies in some folders, before and after.

use anyhow::{Result, bail};
use fieldline_frontend::{SourceUnit, absolute};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Size, inode and time of the last change of an entry. A folder's change when something in it is made or removed.
type Stamp = (u64, u64, (i64, i64));

/// The entries of some folders.
#[derive(Debug)]
pub(super) struct FolderListing {
    folders: BTreeSet<PathBuf>,
    entries: BTreeMap<PathBuf, Stamp>,
}

impl FolderListing {
    /// Lists the folders of a tree and a build that a unit's command could write to: where it ran, where its source and
    /// object are, and all that it names.
    pub(super) fn new(unit: &SourceUnit, tops: &[&Path]) -> Self {
        let mut folders: BTreeSet<PathBuf> = tops.iter().map(|top| (*top).to_owned()).collect();
        folders.insert(unit.directory.clone());
        folders.extend(unit.file.parent().map(Path::to_owned));
        for name in unit.arguments.iter().flat_map(|word| word.split([',', '='])) {
            let path = absolute(&unit.directory, Path::new(name));
            folders.extend(path.parent().map(Path::to_owned));
            folders.insert(path);
        }
        // The same folder may be named through a link.
        let real =
            folders.iter().filter(|folder| folder.is_dir()).filter_map(|folder| folder.canonicalize().ok());
        let folders: BTreeSet<PathBuf> =
            real.filter(|folder| tops.iter().any(|top| folder.starts_with(top))).collect();
        let entries = list(&folders);
        Self { folders, entries }
    }

    /// Fails if something was made, changed or removed since.
    pub(super) fn check_unchanged(&self, program: &str) -> Result<()> {
        let now = list(&self.folders);
        let is_new = |(path, stamp): &(&PathBuf, &Stamp)| self.entries.get(*path) != Some(*stamp);
        let written = now.iter().filter(is_new).map(|(path, _)| path);
        let removed = self.entries.keys().filter(|path| !now.contains_key(*path));
        let changed: Vec<&PathBuf> = written.chain(removed).collect();
        // A folder changes with what is in it; the file says more.
        let first = changed.iter().find(|path| !path.is_dir()).or(changed.first());
        match first {
            Some(path) => bail!(
                "{}: was written to while {program} ran, which has to leave tree and build folder as they are; \
                 one of its options writes there, or something else did at the same time",
                path.display()
            ),
            None => Ok(()),
        }
    }
}

fn list(folders: &BTreeSet<PathBuf>) -> BTreeMap<PathBuf, Stamp> {
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let stamped = entries.filter_map(|entry| {
        let data = entry.metadata().ok()?;
        Some((entry.path(), (data.len(), data.ino(), (data.mtime(), data.mtime_nsec()))))
    });
    stamped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_changed_or_removed_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("out/k")).unwrap();
        std::fs::write(top.join("a.c"), "").unwrap();
        let arguments = ["cc", "-c", "-o", "k/a.o", "-Wa,-al=k/a.s"].map(str::to_owned).to_vec();
        let (directory, file) = (top.join("out"), top.join("a.c"));
        let unit = SourceUnit { directory, arguments, file, reads: Vec::new() };
        let listing = FolderListing::new(&unit, &[&top]);
        assert!(listing.check_unchanged("cc").is_ok());
        std::fs::write(top.join("out/k/a.s"), "text").unwrap();
        let error = listing.check_unchanged("cc").unwrap_err().to_string();
        assert!(error.contains("out/k/a.s: was written to while cc ran"), "{error}");
        let listing = FolderListing::new(&unit, &[&top]);
        std::fs::write(top.join("out/k/a.s"), "longer text").unwrap();
        assert!(listing.check_unchanged("cc").is_err());
        let listing = FolderListing::new(&unit, &[&top]);
        std::fs::remove_file(top.join("out/k/a.s")).unwrap();
        assert!(listing.check_unchanged("cc").is_err());
    }
}
