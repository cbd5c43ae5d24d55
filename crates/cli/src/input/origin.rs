//! Where a file is: on disk, or in a git as it was in some revision.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// On disk.
    File(PathBuf),
    /// `git:REV:FILE`: FILE counts from the folder, as it does on disk.
    Git { folder: PathBuf, rev: String, file: String },
}

/// A file that can be opened, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Fetched {
    path: PathBuf,
    name: String,
    copy: Option<TempDir>,
}

impl Origin {
    /// What the user wrote. Paths count from `folder`.
    pub(crate) fn parse(text: &str, folder: &Path) -> Result<Self> {
        let Some(rest) = text.strip_prefix("git:") else { return Ok(Self::File(folder.join(text))) };
        let (rev, file) = rest.split_once(':').unwrap_or((rest, ""));
        if rev.is_empty() || file.is_empty() || rev.starts_with('-') {
            bail!("'{text}': git:REV:FILE is wanted, such as git:HEAD~1:layouts.json");
        }
        if Path::new(file).is_absolute() {
            bail!("'{text}': the file counts from here; an absolute path is not in the git");
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Ok(Self::Git { folder: folder.to_owned(), rev: rev.to_owned(), file: file.to_owned() })
    }

    /// An argument: a path as it is, or `git:REV:FILE`.
    pub(crate) fn of(path: &Path) -> Result<Self> {
        match path.to_str().filter(|text| text.starts_with("git:")) {
            Some(text) => Self::parse(text, Path::new("")),
            None => Ok(Self::File(path.to_owned())),
        }
    }

    /// Makes the file ready to be opened. Nothing is written in the git: its file is copied to a folder of ours.
    pub(crate) fn fetch(&self) -> Result<Fetched> {
        match self {
            Self::File(path) => {
                Ok(Fetched { path: path.clone(), name: path.display().to_string(), copy: None })
            }
            Self::Git { folder, rev, file } => {
                let name = format!("git:{rev}:{file}");
                let bytes = blob(folder, rev, file).with_context(|| name.clone())?;
                let kept = tempfile::tempdir().context("a temporary folder")?;
                let path = kept.path().join(Path::new(file).file_name().unwrap_or("file".as_ref()));
                std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
                Ok(Fetched { path, name, copy: Some(kept) })
            }
        }
    }
}

impl Fetched {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A result about it, which names the file the user knows if an error names a copy of ours.
    pub(crate) fn named<T>(&self, result: Result<T>) -> Result<T> {
        if self.copy.is_some() { result.with_context(|| self.name.clone()) } else { result }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// The content of a file in a revision. git is told to fetch nothing, which would write to the git.
fn blob(folder: &Path, rev: &str, file: &str) -> Result<Vec<u8>> {
    let file = file.strip_prefix("./").unwrap_or(file);
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["cat-file", "blob", &format!("{rev}:./{file}")]);
    git.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
    let output = git.output().context("git can't be started; it is needed for git:REV:FILE")?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or("").trim_start_matches("fatal: ");
    bail!("git has no such file in {}: {first}", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_written() {
        let of = |text| Origin::parse(text, Path::new("sub"));
        assert_eq!(of("a.json").unwrap(), Origin::File(PathBuf::from("sub/a.json")));
        let git = Origin::Git {
            folder: PathBuf::from("sub"),
            rev: "v1.0^".to_owned(),
            file: "dir/a:b.json".to_owned(),
        };
        assert_eq!(of("git:v1.0^:dir/a:b.json").unwrap(), git);
        for wrong in
            ["git:", "git:HEAD", "git::a.json", "git:HEAD:", "git:--output=x:a", "git:HEAD:/etc/passwd"]
        {
            assert!(of(wrong).unwrap_err().to_string().contains(wrong), "{wrong}");
        }
    }
}
