//! Findings of the front end in units, kept between runs.
//!
//! An entry is named by what was asked: the unit's command, the structs, the front end and this program. It holds as
//! long as the content of every file that the unit read is the same.

use super::shared_headers::UnitPart;
use crate::uses::{program, write_whole};
use fieldline_frontend::{Subject, UnitUses};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// A folder of entries.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// This program and the front end.
    reader: u128,
}

#[derive(Debug, Deserialize)]
struct Entry {
    /// Of the content of all files that were read.
    content: String,
    uses: UnitUses,
}

/// The same, to be written.
#[derive(Debug, Serialize)]
struct WrittenEntry<'u> {
    content: String,
    uses: &'u UnitUses,
}

/// The structs that units are asked for, as a hash.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked(u128);

impl Asked {
    pub(super) fn new(subjects: &[Subject]) -> Self {
        // Debug formats quote strings, so that no two questions look alike.
        Self(xxh3_128(format!("{subjects:?}").as_bytes()))
    }
}

/// Hashes of files' contents.
#[derive(Debug, Default)]
pub(super) struct Contents(FxHashMap<PathBuf, u128>);

impl Cache {
    pub(super) fn new(folder: PathBuf, frontend: &str) -> Self {
        let reader = program() ^ xxh3_128(frontend.as_bytes());
        Self { folder, reader }
    }

    fn path(&self, part: &UnitPart<'_>, asked: Asked) -> PathBuf {
        let unit = part.unit;
        let mut hash = Xxh3::new();
        hash.update(&self.reader.to_le_bytes());
        hash.update(&asked.0.to_le_bytes());
        let paths = [&unit.file, &unit.directory].map(|path| path.as_os_str().as_encoded_bytes());
        let elsewhere = part.read_elsewhere.iter().map(|path| path.as_os_str().as_encoded_bytes());
        hash.update(&unit.arguments.len().to_le_bytes());
        // Lengths in front, so that no two commands look alike.
        for word in paths.into_iter().chain(unit.arguments.iter().map(String::as_bytes)).chain(elsewhere) {
            hash.update(&word.len().to_le_bytes());
            hash.update(word);
        }
        self.folder.join(format!("{:032x}.uses", hash.digest128()))
    }

    /// The files whose contents an entry depends on; none if there is no entry.
    pub(super) fn find(&self, part: &UnitPart<'_>, asked: Asked) -> Option<CachedUses> {
        let bytes = fieldline_files::read(&self.path(part, asked)).ok()?;
        let entry: Entry = postcard::from_bytes(&bytes).ok()?;
        Some(CachedUses(entry))
    }

    /// Keeps what was found. A folder that can't be written to keeps nothing.
    pub(super) fn keep(&self, part: &UnitPart<'_>, asked: Asked, uses: &UnitUses, contents: &Contents) {
        let Some(content) = contents.digest(&uses.files) else { return };
        let entry = WrittenEntry { content, uses };
        let path = self.path(part, asked);
        let Ok(bytes) = postcard::to_stdvec(&entry) else { return };
        drop(write_whole(&path, &bytes));
    }
}

/// An entry whose files may have changed since.
#[derive(Debug)]
pub(super) struct CachedUses(Entry);

impl CachedUses {
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.0.uses.files
    }

    /// The findings, if all files are as they were.
    pub(super) fn uses(self, contents: &Contents) -> Option<UnitUses> {
        (contents.digest(&self.0.uses.files)? == self.0.content).then_some(self.0.uses)
    }
}

impl Contents {
    /// Reads files that are not known yet.
    pub(super) fn read(&mut self, files: impl Iterator<Item = PathBuf>) {
        let mut new: Vec<PathBuf> = files.filter(|file| !self.0.contains_key(file)).collect();
        new.sort_unstable();
        new.dedup();
        let hash = |path: &PathBuf| fieldline_files::read(path).map(|bytes| xxh3_128(&bytes)).ok();
        let hashes = fieldline_parallel::map(&new, hash);
        self.0.extend(new.into_iter().zip(hashes).filter_map(|(path, hash)| Some((path, hash?))));
    }

    /// A hash over files in their order; `None` if one can't be read.
    fn digest(&self, files: &[PathBuf]) -> Option<String> {
        let mut hash = Xxh3::new();
        for file in files {
            hash.update(Path::as_os_str(file).as_encoded_bytes());
            hash.update(&self.0.get(file)?.to_le_bytes());
        }
        Some(format!("{:032x}", hash.digest128()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_frontend::SourceUnit;
    use std::collections::BTreeSet;

    #[test]
    fn an_entry_holds_until_a_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.h");
        std::fs::write(&file, "one").unwrap();
        let contents = || {
            let mut contents = Contents::default();
            contents.read(std::iter::once(file.clone()));
            contents
        };
        let cache = Cache::new(folder.path().join("kept"), "clang 19");
        let unit =
            SourceUnit { file: "/u.c".into(), arguments: vec!["cc".to_owned()], ..SourceUnit::default() };
        let uses = UnitUses { files: vec![file.clone()], ..UnitUses::default() };
        let other = SourceUnit { arguments: vec!["cc".to_owned(), "-DX".to_owned()], ..unit.clone() };
        let (unit, other) = (UnitPart::whole(&unit), UnitPart::whole(&other));
        let none = Asked::new(&[]);
        assert!(cache.find(&unit, none).is_none());
        cache.keep(&unit, none, &uses, &contents());
        assert_eq!(cache.find(&unit, none).unwrap().uses(&contents()), Some(uses));
        let less = UnitPart { read_elsewhere: BTreeSet::from([Path::new("/a.h")]), ..unit.clone() };
        assert!(cache.find(&other, none).is_none() && cache.find(&less, none).is_none());
        assert!(cache.find(&unit, Asked::new(&[Subject::default()])).is_none());
        std::fs::write(&file, "two").unwrap();
        assert_eq!(cache.find(&unit, none).unwrap().uses(&contents()), None);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(cache.find(&unit, none).unwrap().uses(&contents()), None);
    }
}
