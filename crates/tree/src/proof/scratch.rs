//! Copies of a tree that may be written to, and proof that the tree itself wasn't.

use super::overlay::Patch;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

/// Files in which builds keep absolute paths.
const BUILD_FILES: &[&str] =
    &["CMakeCache.txt", "build.ninja", "Makefile", "config.status", "meson-info.json"];
/// Larger ones aren't searched.
const LARGEST: u64 = 16 << 20;
/// File times may be as coarse as this.
const COARSE: Duration = Duration::from_millis(20);

/// A copy of a tree.
#[derive(Debug)]
pub struct TreeCopy {
    folder: PathBuf,
}

impl TreeCopy {
    /// Copies a tree into a folder that isn't there, with its files' times, so that what was built is up to date.
    ///
    /// # Errors
    /// If it can't be read or written.
    pub fn new(tree: &Path, folder: &Path) -> Result<Self> {
        std::fs::create_dir(folder).with_context(|| folder.display().to_string())?;
        let mut copy = Command::new("cp");
        copy.arg("-a");
        // Where the file system can, blocks are shared until they are written.
        if cfg!(target_os = "linux") {
            copy.arg("--reflink=auto");
        }
        let output = copy.arg("--").arg(tree.join(".")).arg(folder).output().context("cannot run cp")?;
        if !output.status.success() {
            let why = String::from_utf8_lossy(&output.stderr);
            bail!("{}: cannot be copied to {}: {}", tree.display(), folder.display(), why.trim());
        }
        Ok(Self { folder: folder.canonicalize().with_context(|| folder.display().to_string())? })
    }

    /// The folder of the copy.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Writes the files of a patch. Links are replaced, not followed: what they lead to may be the tree's own.
    ///
    /// # Errors
    /// If a file can't be written, or lies outside the copy.
    pub fn apply(&self, patch: &Patch) -> Result<()> {
        for (name, text) in patch {
            let path = self.folder.join(name);
            let parent = path.parent().map(Path::canonicalize).transpose().with_context(|| name.clone())?;
            if !parent.is_some_and(|parent| parent.starts_with(&self.folder)) {
                bail!("{name}: a link leads out of the tree, so its copy can't be changed");
            }
            match std::fs::remove_file(&path) {
                // A patch may add files.
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| path.display().to_string());
                }
                _ => {}
            }
            std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}

/// Removes a copy.
pub(super) fn remove(folder: &Path) -> Result<()> {
    std::fs::remove_dir_all(folder).with_context(|| folder.display().to_string())
}

/// Fails if a file of the tree was written to since a time: what ran in a copy then used the tree itself.
///
/// # Errors
/// If one was.
pub fn check_untouched(tree: &Path, since: SystemTime) -> Result<()> {
    let since = since + COARSE;
    let is_newer = |path: &Path| {
        let changed = path.symlink_metadata().and_then(|data| data.modified());
        changed.is_ok_and(|changed| changed > since)
    };
    match files_below(tree).find(|path| is_newer(path)) {
        Some(path) => bail!(
            "{}: its command wrote to the tree, not to the copy it ran in: its build names {}; \
             let the command configure the build, or give a tree that was cleaned",
            path.display(),
            tree.display()
        ),
        None => Ok(()),
    }
}

/// A note if a build in a copy names the tree by its path: it may have read the tree's own files.
pub(super) fn note_fixed_paths(copy: &Path, tree: &Path) -> Vec<String> {
    let path = tree.display().to_string();
    let names_tree = |file: &PathBuf| {
        let is_build_file =
            file.file_name().is_some_and(|name| BUILD_FILES.iter().any(|known| name == *known));
        let is_small = || file.metadata().is_ok_and(|data| data.is_file() && data.len() <= LARGEST);
        is_build_file
            && is_small()
            && fieldline_files::read(file)
                .is_ok_and(|text| memchr::memmem::find(&text, path.as_bytes()).is_some())
    };
    let mut found: Vec<PathBuf> = files_below(copy).filter(names_tree).collect();
    found.sort();
    let first = found.first().map(|file| file.strip_prefix(copy).unwrap_or(file).display().to_string());
    let note = |file| {
        format!("{file} names {path}: what was tested may have been built from there, without the patch")
    };
    first.map(note).into_iter().collect()
}

/// All that lies below a folder but folders; links aren't followed, and what can't be read is left out.
fn files_below(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    std::iter::from_fn(move || {
        loop {
            if let Some(file) = files.pop() {
                return Some(file);
            }
            let entries = std::fs::read_dir(folders.pop()?).into_iter().flatten().flatten();
            for entry in entries {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_folder { folders.push(entry.path()) } else { files.push(entry.path()) }
            }
        }
    })
}
