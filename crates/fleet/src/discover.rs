//! Which files a folder or a pattern means.

use crate::error::{Error, FileProblem};
use std::path::{Component, Path, PathBuf};
use wildmatch::WildMatch;

/// How deep folders are searched: a link to a folder above ends here.
const MAX_DEPTH: usize = 40;

/// Whether a path names Parquet: a folder, a pattern, or a file by its ending.
pub fn is_fleet(path: &Path) -> bool {
    has_pattern(path) || path.is_dir() || has_ending(path)
}

fn has_ending(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "parquet")
}

fn has_pattern(path: &Path) -> bool {
    !path.exists() && path.to_string_lossy().contains(['*', '?'])
}

/// The Parquet files of folders, patterns and files, each once, by path. In a pattern `*` and `?` stand for
/// characters of one name, and `**` for any folders; a folder that matches means its Parquet files. Names that begin
/// with `.` or `_` are passed over: engines keep there what isn't finished.
///
/// # Errors
/// If a folder can't be read, or there is no such file.
pub fn find_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let before = files.len();
        if path.is_dir() {
            walk(path, MAX_DEPTH, &mut |file| files.extend(has_ending(file).then(|| file.to_path_buf())))?;
        } else if has_pattern(path) {
            find_matching(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
        if files.len() == before {
            return Err(Error::new(path, FileProblem::NoFiles));
        }
    }
    files.sort();
    files.dedup();
    Ok(files)
}

/// Files below the part of a path in front of its first pattern.
fn find_matching(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    let is_pattern = |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?']);
    let parts: Vec<Component<'_>> = path.components().collect();
    let fixed = parts.iter().position(is_pattern).unwrap_or(parts.len());
    let base: PathBuf = parts.iter().take(fixed).collect();
    let base = if base.as_os_str().is_empty() { PathBuf::from(".") } else { base };
    let patterns: Vec<String> =
        parts.iter().skip(fixed).map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    walk(&base, MAX_DEPTH, &mut |file| {
        let below = file.strip_prefix(&base).unwrap_or(file).components();
        let names: Vec<String> = below.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        let in_folder =
            || (1..names.len()).any(|depth| matches(&patterns, names.get(..depth).unwrap_or_default()));
        let is_meant = matches(&patterns, &names) || has_ending(file) && in_folder();
        files.extend(is_meant.then(|| file.to_path_buf()));
    })
}

fn matches(patterns: &[String], names: &[String]) -> bool {
    match (patterns, names) {
        ([], []) => true,
        ([first, rest @ ..], _) if first == "**" => {
            (0..=names.len()).any(|skipped| matches(rest, names.get(skipped..).unwrap_or_default()))
        }
        ([first, patterns @ ..], [name, names @ ..]) => {
            WildMatch::new(first).matches(name) && matches(patterns, names)
        }
        _ => false,
    }
}

fn walk(folder: &Path, depth: usize, found: &mut impl FnMut(&Path)) -> Result<(), Error> {
    let unreadable = |error| Error::new(folder, FileProblem::Unreadable(error));
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        if entry.file_name().to_string_lossy().starts_with(['.', '_']) {
            continue;
        }
        let path = entry.path();
        match path.is_dir() {
            true if depth > 0 => walk(&path, depth - 1, found)?,
            true => {}
            false => found(&path),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_find_files_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b/x.parquet", "a/d/y.parquet", "a/_temporary/z.parquet", "a/d/note.txt", ".h.parquet"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = |pattern: &str| {
            let files = find_files(&[folder.path().join(pattern)]).map_err(|error| error.to_string())?;
            let names =
                files.iter().map(|file| file.strip_prefix(folder.path()).unwrap().display().to_string());
            Ok::<_, String>(names.collect::<Vec<_>>())
        };
        assert_eq!(found("").unwrap(), ["a/d/y.parquet", "b/x.parquet"]);
        assert_eq!(found("**/*.parquet").unwrap(), ["a/d/y.parquet", "b/x.parquet"]);
        assert_eq!(found("*/x.parquet").unwrap(), ["b/x.parquet"]);
        assert_eq!(found("*").unwrap(), ["a/d/y.parquet", "b/x.parquet"], "folders mean what is in them");
        assert_eq!(found("?/d").unwrap(), ["a/d/y.parquet"]);
        assert!(found("*.parquet").unwrap_err().contains("no Parquet files there"));
        assert_eq!(found("missing.parquet").unwrap(), ["missing.parquet"], "opening it says what is wrong");
        assert!(is_fleet(&folder.path().join("**/*.parquet")) && !is_fleet(Path::new("profile.json")));
    }
}
