//! Files on disk, or in a git repository at some revision.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileOrigin {
    /// On disk.
    File(PathBuf),
    /// `git:REV:FILE`: FILE is relative to the folder, as on disk.
    Git { folder: PathBuf, rev: String, file: String },
}

/// A file that can be opened, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct FetchedFile {
    path: PathBuf,
    name: String,
    copy: Option<TempDir>,
}

impl FileOrigin {
    /// Parses a file's name as the user wrote it. Paths are relative to `folder`.
    pub(crate) fn parse(text: &str, folder: &Path) -> Result<Self> {
        let Some(rest) = text.strip_prefix("git:") else { return Ok(Self::File(folder.join(text))) };
        let (rev, file) = rest.split_once(':').unwrap_or((rest, ""));
        if rev.is_empty() || file.is_empty() || rev.starts_with('-') {
            bail!("'{text}': git:REV:FILE is expected, such as git:HEAD~1:layouts.json");
        }
        if Path::new(file).is_absolute() {
            bail!("'{text}': an absolute path; the file is relative to the current folder");
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        Ok(Self::Git { folder: folder.to_owned(), rev: rev.to_owned(), file: file.to_owned() })
    }

    /// An argument: a path as it is, or `git:REV:FILE`.
    pub(crate) fn from_argument(path: &Path) -> Result<Self> {
        match path.to_str().filter(|text| text.starts_with("git:")) {
            Some(text) => Self::parse(text, Path::new("")),
            None => Ok(Self::File(path.to_owned())),
        }
    }

    /// Makes the file ready to be opened. A file of a git repository is copied to a temporary folder.
    pub(crate) fn fetch(&self) -> Result<FetchedFile> {
        match self {
            Self::File(path) => {
                Ok(FetchedFile { path: path.clone(), name: path.display().to_string(), copy: None })
            }
            Self::Git { folder, rev, file } => {
                let name = format!("git:{rev}:{file}");
                let bytes = read_blob(folder, rev, file).with_context(|| name.clone())?;
                let kept = tempfile::tempdir().context("a temporary folder")?;
                let path = kept.path().join(Path::new(file).file_name().unwrap_or("file".as_ref()));
                std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
                Ok(FetchedFile { path, name, copy: Some(kept) })
            }
        }
    }
}

impl FetchedFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A result about it, whose error names the file as the user does, not the copy.
    pub(crate) fn with_name_in_error<T>(&self, result: Result<T>) -> Result<T> {
        if self.copy.is_some() { result.with_context(|| self.name.clone()) } else { result }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// The content of a file in a revision. git fetches nothing, so that it writes nothing to the repository.
fn read_blob(folder: &Path, rev: &str, file: &str) -> Result<Vec<u8>> {
    let file = file.strip_prefix("./").unwrap_or(file);
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(["cat-file", "blob", &format!("{rev}:./{file}")]);
    git.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0").env("GIT_NO_LAZY_FETCH", "1");
    let output = git.output().context("git can't be started; it is needed for git:REV:FILE")?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let message = String::from_utf8_lossy(&output.stderr);
    let first = message.lines().next().unwrap_or("").trim_start_matches("fatal: ");
    bail!("git has no such file in {}: {first}", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_written() {
        let parse = |text| FileOrigin::parse(text, Path::new("sub"));
        assert_eq!(parse("a.json").unwrap(), FileOrigin::File(PathBuf::from("sub/a.json")));
        let git = FileOrigin::Git {
            folder: PathBuf::from("sub"),
            rev: "v1.0^".to_owned(),
            file: "dir/a:b.json".to_owned(),
        };
        assert_eq!(parse("git:v1.0^:dir/a:b.json").unwrap(), git);
        for wrong in
            ["git:", "git:HEAD", "git::a.json", "git:HEAD:", "git:--output=x:a", "git:HEAD:/etc/passwd"]
        {
            assert!(parse(wrong).unwrap_err().to_string().contains(wrong), "{wrong}");
        }
    }
}
