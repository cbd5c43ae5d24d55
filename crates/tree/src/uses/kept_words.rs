//! Which words the files of a tree say, kept between runs, so that files that say none of those looked for aren't read.
//!
//! Of each file a Bloom filter is kept (Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970): it
//! may say a word that the file hasn't, but none is missing. It holds as long as the file's size, times and inode are
//! as they were; a file that changed just before it was read isn't kept (git, Documentation/technical/racy-git).

use super::scope::{LARGEST, is_word};
use fieldline_source::meaning::{KnownName, plainly_spelled};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

/// Goes up with every change of what is kept.
const VERSION: u32 = 1;
/// Bits of a filter for each word. With `PROBES`, 1 of 2000 words is taken for one of the file.
const BITS_PER_WORD: usize = 20;
const PROBES: u64 = 5;
/// A file that is younger may change again without another time.
const SETTLED: Duration = Duration::from_secs(2);

/// By what a file is known to be as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    size: u64,
    inode: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Of a file of a size that is kept.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let data = std::fs::metadata(path).ok()?;
        (data.is_file() && data.len() <= LARGEST).then(|| Self::from(&data))
    }
}

/// Whether a file can't change any more without another time.
pub(super) fn is_settled(stamp: Stamp, now: SystemTime) -> bool {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let limit = i64::try_from(now.saturating_sub(SETTLED).as_secs()).unwrap_or(0);
    stamp.modified.0 < limit && stamp.changed.0 < limit
}

impl From<&Metadata> for Stamp {
    fn from(data: &Metadata) -> Self {
        Self {
            size: data.len(),
            inode: data.ino(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        }
    }
}

/// Words of a text.
pub(super) fn filter(text: Vec<u8>) -> Vec<u8> {
    let text = plainly_spelled(text);
    let words: FxHashSet<u64> = text
        .split(|byte| !is_word(*byte))
        .filter(|word| word.first().is_some_and(|first| !first.is_ascii_digit()))
        .map(xxh3_64)
        .collect();
    let mut bits = vec![0_u8; (words.len() * BITS_PER_WORD).div_ceil(8).max(1)];
    for word in words {
        for (byte, bit) in places(word, bits.len()) {
            if let Some(byte) = bits.get_mut(byte) {
                *byte |= bit;
            }
        }
    }
    bits
}

/// Bytes and bits of a word in a filter (double hashing: Kirsch and Mitzenmacher, 2006).
fn places(word: u64, bytes: usize) -> impl Iterator<Item = (usize, u8)> {
    let bits = (bytes as u64).saturating_mul(8).max(1);
    let step = (word >> 32) | 1;
    (0..PROBES).map(move |probe| {
        let bit = word.wrapping_add(probe.wrapping_mul(step)) % bits;
        ((bit / 8) as usize, 1 << (bit % 8))
    })
}

/// Words looked for.
#[derive(Debug)]
pub(super) struct Wanted(Option<Vec<u64>>);

impl Wanted {
    /// A name that isn't a word may be anywhere.
    pub(super) fn new<'n>(names: impl Iterator<Item = &'n KnownName>) -> Self {
        let hash = |name: &KnownName| {
            let text = name.text.as_bytes();
            let is_plain = text.iter().all(|byte| is_word(*byte));
            (is_plain && !text.first()?.is_ascii_digit()).then(|| xxh3_64(text))
        };
        Self(names.map(hash).collect())
    }

    fn may_be_in(&self, filter: &[u8]) -> bool {
        let is_in = |word: &u64| {
            places(*word, filter.len()).all(|(byte, bit)| filter.get(byte).is_some_and(|own| own & bit != 0))
        };
        filter.is_empty() || self.0.as_ref().is_none_or(|words| words.iter().any(is_in))
    }
}

/// A file, with its words.
#[derive(Debug, Serialize, Deserialize)]
struct Entry<'k> {
    path: &'k str,
    stamp: Stamp,
    filter: &'k [u8],
}

/// Where the words of a tree are kept.
#[derive(Debug)]
pub(super) struct WordsFile {
    path: PathBuf,
    bytes: Vec<u8>,
    /// When files began to be read: what changed shortly before may change again without another time.
    opened: SystemTime,
}

impl WordsFile {
    /// For a tree, in a folder of such files.
    pub(super) fn open(folder: &Path, tree: &Path) -> Self {
        let tree = std::fs::canonicalize(tree).unwrap_or_else(|_| tree.to_owned());
        let name = xxh3_128(tree.as_os_str().as_encoded_bytes());
        let path = folder.join(format!("{name:032x}.words"));
        // Without such a file, or with one that is cut, all is read.
        let bytes = fieldline_files::read(&path).unwrap_or_default();
        Self { path, bytes, opened: SystemTime::now() }
    }

    /// The words that are kept.
    pub(super) fn words(&self) -> KeptWords<'_> {
        let kept: Option<(u32, Vec<Entry<'_>>)> = postcard::from_bytes(&self.bytes).ok();
        let entries = kept.filter(|(version, _)| *version == VERSION).map(|(_, entries)| entries);
        KeptWords(entries.into_iter().flatten().map(|entry| (entry.path, entry)).collect())
    }

    /// Keeps new words of files beside those kept before. A folder that can't be written to keeps nothing.
    pub(super) fn keep(&self, words: &KeptWords<'_>, learned: &[(&String, Stamp, Vec<u8>)]) {
        let settled = learned.iter().filter(|(_, stamp, _)| is_settled(*stamp, self.opened));
        let new: FxHashMap<&str, (Stamp, &[u8])> =
            settled.map(|(path, stamp, filter)| (path.as_str(), (*stamp, filter.as_slice()))).collect();
        if new.is_empty() {
            return;
        }
        let old = words.0.values().filter(|entry| !new.contains_key(entry.path));
        let old = old.map(|entry| Entry { path: entry.path, stamp: entry.stamp, filter: entry.filter });
        let mut entries: Vec<Entry<'_>> = old.collect();
        entries.extend(new.iter().map(|(path, (stamp, filter))| Entry { path, stamp: *stamp, filter }));
        entries.sort_unstable_by_key(|entry| entry.path);
        let Ok(bytes) = postcard::to_stdvec(&(VERSION, entries)) else { return };
        drop(write_whole(&self.path, &bytes));
    }
}

/// Words of files as they were.
#[derive(Debug, Default)]
pub(super) struct KeptWords<'k>(FxHashMap<&'k str, Entry<'k>>);

impl KeptWords<'_> {
    /// Whether the words of a file are known.
    pub(super) fn knows(&self, path: &str, stamp: Option<Stamp>) -> bool {
        stamp.is_some() && self.0.get(path).map(|entry| entry.stamp) == stamp
    }

    /// Whether a file is known to say none of some words.
    pub(super) fn lacks(&self, path: &str, stamp: Option<Stamp>, wanted: &Wanted) -> bool {
        let entry = self.0.get(path).filter(|entry| Some(entry.stamp) == stamp);
        entry.is_some_and(|entry| !wanted.may_be_in(entry.filter))
    }
}

/// A hash of this program: rules change with it, so that another program's results are none.
pub(crate) fn program() -> u128 {
    xxh3_128(&std::env::current_exe().and_then(std::fs::read).unwrap_or_default())
}

/// Writes a file as a whole or not at all, with its folder.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(names: &[&str]) -> Wanted {
        let names: Vec<KnownName> = names.iter().map(|name| KnownName::word(name)).collect();
        Wanted::new(names.iter())
    }

    #[test]
    fn no_word_of_a_text_is_missing() {
        let words: Vec<String> = (0..500).map(|number| format!("w{}", number * 7919)).collect();
        let filter = filter(words.join("->").into_bytes());
        assert!(words.iter().all(|word| wanted(&[word]).may_be_in(&filter)));
        let others = (0..2000).filter(|number| wanted(&[&format!("x{number}")]).may_be_in(&filter)).count();
        assert!(others < 20, "{others} of 2000 other words are taken for some of the text's");
        assert!(wanted(&["x", "operator()"]).may_be_in(&filter), "that is no word");
        assert!(wanted(&["split_word"]).may_be_in(&self::filter(b"split_\\\nword".to_vec())));
    }

    #[test]
    fn words_are_known_as_long_as_the_file_is_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.c");
        std::fs::write(&file, "int one;").unwrap();
        let old = SystemTime::now() - Duration::from_secs(100);
        let stamp = || {
            let stamp = Stamp::read(&file).unwrap();
            Stamp { changed: (0, 0), ..stamp }
        };
        let age = || std::fs::File::options().write(true).open(&file).unwrap().set_modified(old).unwrap();
        age();
        let path = "a.c".to_owned();
        let kept = || WordsFile::open(&folder.path().join("kept"), folder.path());
        let (before, first) = (kept(), stamp());
        before.keep(&before.words(), &[(&path, first, filter(b"int one;".to_vec()))]);
        let after = kept();
        assert!(after.words().knows("a.c", Some(first)));
        assert!(after.words().lacks("a.c", Some(first), &wanted(&["two"])));
        assert!(!after.words().lacks("a.c", Some(first), &wanted(&["two", "one"])));
        assert!(!after.words().lacks("b.c", Some(first), &wanted(&["two"])));
        std::fs::write(&file, "int two;").unwrap();
        assert!(!after.words().lacks("a.c", Some(stamp()), &wanted(&["two"])));
        // As young as that, a file may change once more within the same time.
        before.keep(&before.words(), &[(&path, stamp(), filter(b"int two;".to_vec()))]);
        assert!(kept().words().knows("a.c", Some(first)));
        let file = kept().path;
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        assert!(!kept().words().knows("a.c", Some(first)));
    }
}
