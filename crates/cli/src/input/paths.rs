//! Paths as files name each other.

use std::io;
use std::path::{Component, Path, PathBuf};

/// A path as a file in `folder` names it: relative, with `..` where needed; absolute if they share no root.
/// Links are not followed.
pub(crate) fn relative_to(path: &Path, folder: &Path) -> io::Result<PathBuf> {
    let (path, folder) = (normal(path)?, normal(folder)?);
    let (to, from): (Vec<_>, Vec<_>) = (path.components().collect(), folder.components().collect());
    let shared = to.iter().zip(&from).take_while(|(to, from)| to == from).count();
    if shared == 0 {
        return Ok(path);
    }
    let up = from.iter().skip(shared).map(|_| Component::ParentDir);
    Ok(up.chain(to.iter().skip(shared).copied()).collect())
}

/// The folder of a file that is to be written.
pub(crate) fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Absolute, without `.` and `..`.
fn normal(path: &Path) -> io::Result<PathBuf> {
    let mut out = PathBuf::new();
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    for component in std::path::absolute(path)?.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_each_other_by_relative_paths() {
        let relative = |path: &str, folder: &str| relative_to(Path::new(path), Path::new(folder)).unwrap();
        assert_eq!(relative("/a/b/c", "/a/b"), Path::new("c"));
        assert_eq!(relative("/a/b/c", "/a/d/e"), Path::new("../../b/c"));
        assert_eq!(relative("x/vmlinux", "x/ci"), Path::new("../vmlinux"));
        assert_eq!(relative("./x/../vmlinux", ""), Path::new("vmlinux"));
        assert_eq!(relative("/a", "/b"), Path::new("../a"));
    }
}
