//! Findings in the text of a large tree, kept between runs.
//!
//! An entry is named by what was asked: the tree, the structs and this program. It holds as long as every file of code is
//! known to be as it was, by its stamp.

use super::by_file::UsesByFile;
use super::kept_words::{Stamp, is_settled, program, write_whole};
use super::scope::DeclaredStruct;
use fieldline_source::uses::StructUse;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use xxhash_rust::xxh3::Xxh3;

/// Findings, and a hash of the files that they are of.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    files: u128,
    /// By struct.
    found: Vec<Vec<(String, StructUse)>>,
}

/// The findings of one question.
#[derive(Debug)]
pub(super) struct KeptFindings {
    path: PathBuf,
    files: u128,
    /// Whether no file changed so shortly ago that it may change again without another time.
    is_settled: bool,
}

impl KeptFindings {
    /// For structs of a tree with these files, each with its stamp, in a folder of such findings.
    pub(super) fn new(
        (tree, folder): (&Path, &Path),
        files: &[(String, Option<Stamp>)],
        structs: &[DeclaredStruct<'_>],
    ) -> Self {
        let now = SystemTime::now();
        let mut hash = Xxh3::new();
        for (path, stamp) in files {
            hash.update(&path.len().to_le_bytes());
            hash.update(path.as_bytes());
            hash.update(format!("{stamp:?}").as_bytes());
        }
        let is_settled = files.iter().filter_map(|file| file.1).all(|stamp| is_settled(stamp, now));
        let mut question = Xxh3::new();
        let tree = std::fs::canonicalize(tree).unwrap_or_else(|_| tree.to_owned());
        // Debug formats quote strings, so that no two questions look alike.
        question.update(format!("{tree:?} {structs:?}").as_bytes());
        question.update(&program().to_le_bytes());
        let path = folder.join(format!("{:032x}.found", question.digest128()));
        Self { path, files: hash.digest128(), is_settled }
    }

    /// The findings, if all files are as they were.
    pub(super) fn find(&self) -> Option<Vec<UsesByFile>> {
        let bytes = fieldline_files::read(&self.path).ok()?;
        let entry: Entry = postcard::from_bytes(&bytes).ok()?;
        (entry.files == self.files)
            .then(|| entry.found.into_iter().map(|found| UsesByFile(found, Vec::new())).collect())
    }

    /// Keeps findings. A folder that can't be written to keeps nothing.
    pub(super) fn keep(&self, found: &[UsesByFile]) {
        if !self.is_settled {
            return;
        }
        let entry = Entry { files: self.files, found: found.iter().map(|uses| uses.0.clone()).collect() };
        if let Ok(bytes) = postcard::to_stdvec(&entry) {
            drop(write_whole(&self.path, &bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_layout::Layout;
    use fieldline_source::uses::UseDemand;
    use std::time::Duration;

    #[test]
    fn findings_hold_until_a_file_changes() {
        let (tree, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = || {
            ["a.c", "b.c"].map(|path| {
                let data = std::fs::metadata(tree.path().join(path)).ok();
                (path.to_owned(), data.as_ref().map(Stamp::from))
            })
        };
        let layout = Layout { name: "s".into(), ..Layout::default() };
        let structs = [DeclaredStruct { layout: &layout, header: "s.h" }];
        let open = || KeptFindings::new((tree.path(), kept.path()), &files(), &structs);
        let write = |text: &str, age: u64| {
            let path = tree.path().join("a.c");
            std::fs::write(&path, text).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        };
        let used = StructUse { line: 1, demand: UseDemand::Whole, members: vec![], description: "is".into() };
        let found = [UsesByFile(vec![("a.c".into(), used)], Vec::new())];
        write("int one;", 100);
        let asked = KeptFindings { is_settled: true, ..open() };
        assert!(asked.find().is_none());
        asked.keep(&found);
        assert_eq!(open().find().unwrap()[0].0, found[0].0);
        let other = Layout { size: 8, ..layout.clone() };
        let structs = [DeclaredStruct { layout: &other, header: "s.h" }];
        assert!(KeptFindings::new((tree.path(), kept.path()), &files(), &structs).find().is_none());
        write("int two, three;", 100);
        assert!(open().find().is_none());
        // It may change once more within the same time.
        write("int four;", 0);
        open().keep(&found);
        assert!(open().find().is_none());
    }
}
