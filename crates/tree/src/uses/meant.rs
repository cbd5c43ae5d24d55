//! Uses by meaning, over the whole tree: which files are read, and by what names a struct is known in them.
//!
//! A small tree is read whole. Of a large one those files are read that say the struct's tag; the names that these
//! give it (typedefs, macros, variables, functions, members of other structs that hold it) lead to more.

use super::by_file::{UsesByFile, has_name, names};
use super::kept_words::{KeptWords, Stamp, Wanted};
use super::scope::{DeclaredStruct, Scope, read_up_to};
use super::words::WordFinder;
use fieldline_layout::Layout;
use fieldline_source::meaning::{
    KnownName, ReadFile, TargetMember, TargetStruct, find_meant_uses, find_names, plainly_spelled,
};
use fieldline_source::uses::{StructUse, UseDemand};
use std::path::Path;

/// Trees with no more files and bytes of code than this are read whole.
const SMALL: (usize, u64) = (4000, 24 << 20);
/// Larger files of code, and larger headers, are tables.
const LARGEST: u64 = 32 << 20;
const LARGEST_HEADER: u64 = 1 << 20;

/// How names of files with code end.
pub(super) const ENDS: [&str; 17] = [
    ".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".S", ".s", ".asm", ".inc", ".def",
    ".inl", ".ipp", ".C",
];

/// Most names of a large tree that lead to more files.
const MOST_NAMES: usize = 2000;

/// Structs of a large tree that are read for together, and most files that they are read for together in.
const AT_ONCE: usize = 8;
const MOST_FILES: usize = 500;

/// A file that is read.
pub(super) struct Text {
    path: String,
    pub(super) bytes: Vec<u8>,
}

/// Files of a tree that can know a struct.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeFiles<'f> {
    pub(super) all: &'f [String],
    /// Those that say the tag of a struct, or that are too large for it to be known.
    pub(super) tagged: &'f [String],
    /// By struct, the files that can know it.
    pub(super) scopes: &'f [Scope],
    /// The words that they are known to say before they are read.
    pub(super) words: &'f KeptWords<'f>,
}

/// Which texts say any of some names.
#[derive(Debug)]
pub(super) struct NameFinder {
    finder: WordFinder<()>,
    wanted: Wanted,
}

impl NameFinder {
    /// For the tags of structs.
    pub(super) fn for_tags(structs: &[DeclaredStruct<'_>]) -> Self {
        Self::for_names(structs.iter().map(|declared| KnownName::word(&subject(declared).name)))
    }

    fn for_names(names: impl Iterator<Item = KnownName>) -> Self {
        let names: Vec<(KnownName, ())> = names.map(|name| (name, ())).collect();
        let wanted = Wanted::new(names.iter().map(|(name, ())| name));
        Self { finder: WordFinder::new(names), wanted }
    }

    /// Whether a text says any of the names.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.finder.said(text).next().is_some()
    }

    /// The names, to be asked for in what is kept of files.
    pub(super) fn wanted(&self) -> &Wanted {
        &self.wanted
    }
}

/// Adds the uses of each struct.
pub(super) fn add_uses(
    tree: &Path,
    files: TreeFiles<'_>,
    structs: &[DeclaredStruct<'_>],
    found: &mut [UsesByFile],
) {
    if let Some(mut paths) = small_tree(tree) {
        paths.extend(structs.iter().map(|declared| declared.header.to_owned()));
        paths.sort_unstable();
        paths.dedup();
        let texts = fieldline_parallel::map(&paths, |path| read(tree, path));
        return in_groups(structs, files.scopes, found, |structs, scopes, found| {
            add_small(&texts, structs, scopes, found);
        });
    }
    // A struct with a common name leads to most of a tree: a few at a time keep the memory within bounds.
    in_groups(structs, files.scopes, found, |structs, scopes, found| {
        add_large(tree, TreeFiles { scopes, ..files }, structs, found);
    });
}

/// Some structs at a time, with the files that can know them and their uses.
fn in_groups(
    structs: &[DeclaredStruct<'_>],
    scopes: &[Scope],
    found: &mut [UsesByFile],
    mut add: impl FnMut(&[DeclaredStruct<'_>], &[Scope], &mut [UsesByFile]),
) {
    let groups = structs.chunks(AT_ONCE).zip(scopes.chunks(AT_ONCE));
    for ((structs, scopes), found) in groups.zip(found.chunks_mut(AT_ONCE)) {
        add(structs, scopes, found);
    }
}

/// Adds the uses in a tree that is read whole. Structs whose addresses go too far beside others are read for again,
/// alone. If all of them go too far, they meet in the same places, and each would do so alone.
fn add_small(texts: &[Text], structs: &[DeclaredStruct<'_>], scopes: &[Scope], found: &mut [UsesByFile]) {
    for number in add_meant(texts, true, (structs, scopes), found) {
        let range = number..number + 1;
        let alone = (structs.get(range.clone()), scopes.get(range.clone()), found.get_mut(range));
        if let (Some(structs), Some(scopes), Some(found)) = alone {
            add_meant(texts, true, (structs, scopes), found);
        }
    }
}

/// Adds the uses in a large tree. Structs that too many names or files lead to together are read for one by one, and so
/// are those whose addresses go too far beside others: what is asked together keeps its values in the same places.
fn add_large(tree: &Path, files: TreeFiles<'_>, structs: &[DeclaredStruct<'_>], found: &mut [UsesByFile]) {
    let (texts, is_cut) = large_tree(tree, files, structs, &structs.iter().map(subject).collect::<Vec<_>>());
    if (is_cut || texts.len() > MOST_FILES) && structs.len() > 1 {
        drop(texts);
        let half = structs.len() / 2;
        let (first, second) = found.split_at_mut(half);
        let (own, others) = files.scopes.split_at(half);
        add_large(tree, TreeFiles { scopes: own, ..files }, &structs[..half], first);
        return add_large(tree, TreeFiles { scopes: others, ..files }, &structs[half..], second);
    }
    let again = add_meant(&texts, false, (structs, files.scopes), found);
    drop(texts);
    for number in again {
        let range = number..number + 1;
        let alone = (structs.get(range.clone()), files.scopes.get(range.clone()), found.get_mut(range));
        if let (Some(structs), Some(scopes), Some(found)) = alone {
            add_large(tree, TreeFiles { scopes, ..files }, structs, found);
        }
    }
    for (declared, uses) in structs.iter().zip(found).filter(|_| is_cut) {
        let description = "more names lead to it than are searched for".to_owned();
        let used = StructUse { line: 0, demand: UseDemand::Whole, members: Vec::new(), description };
        uses.0.push((declared.header.to_owned(), used));
    }
}

/// Adds what the texts say of the structs. Gives those of several that weren't followed to their ends, of which nothing
/// is added.
fn add_meant(
    texts: &[Text],
    is_complete: bool,
    (structs, scopes): (&[DeclaredStruct<'_>], &[Scope]),
    found: &mut [UsesByFile],
) -> Vec<usize> {
    let subjects: Vec<TargetStruct> = structs.iter().map(subject).collect();
    let read: Vec<ReadFile<'_>> = texts
        .iter()
        .map(|text| ReadFile { path: &text.path, text: &text.bytes, is_searched: true })
        .collect();
    let meant = find_meant_uses(&read, &subjects, is_complete);
    let is_settled = structs.len() == 1 || is_complete && meant.unfollowed.len() == structs.len();
    let again = if is_settled { Vec::new() } else { meant.unfollowed };
    for meant in meant.uses.into_iter().filter(|meant| !again.contains(&meant.subject)) {
        let (Some(text), Some(scope)) = (texts.get(meant.file), scopes.get(meant.subject)) else { continue };
        let is_known = is_complete || scope.knows(&text.path);
        if let Some(uses) = found.get_mut(meant.subject).filter(|_| is_known) {
            uses.0.push((text.path.clone(), meant.used));
        }
    }
    again
}

pub(super) fn read(tree: &Path, path: &str) -> Text {
    let largest = if path.ends_with(".h") { LARGEST_HEADER } else { LARGEST };
    // A file that vanishes or can't be read says nothing; the header itself was read before.
    Text {
        path: path.to_owned(),
        bytes: plainly_spelled(read_up_to(&tree.join(path), largest).unwrap_or_default()),
    }
}

pub(super) fn subject(declared: &DeclaredStruct<'_>) -> TargetStruct {
    let layout: &Layout = declared.layout;
    let hides =
        |name: &str| layout.members.iter().any(|member| !member.is_inherited() && has_name(member, name));
    let own_names = |member: &fieldline_layout::Member| {
        let mut own = names(std::slice::from_ref(member));
        own.retain(|name| !member.is_inherited() || !hides(name));
        own.into_iter().map(str::to_owned).collect()
    };
    let member = |member: &fieldline_layout::Member| TargetMember {
        names: own_names(member),
        offset: member.offset(),
        size: if member.bit_size == 0 { 0 } else { member.size() },
    };
    TargetStruct {
        name: fieldline_layout::types::split_namespace(&layout.name).1.to_owned(),
        file: declared.header.to_owned(),
        members: layout.members.iter().map(member).collect(),
        size: layout.size,
    }
}

pub(super) fn is_code(path: &str) -> bool {
    ENDS.iter().any(|end| path.ends_with(end))
}

/// Whether it is C++, by its name.
pub(super) fn is_cpp(path: &str) -> bool {
    let ends = [".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".ipp", ".C"];
    ends.iter().any(|end| path.ends_with(end))
}

/// All files with code, if they are few.
fn small_tree(tree: &Path) -> Option<Vec<String>> {
    let (mut found, mut bytes, mut seen) = (Vec::new(), 0_u64, 0_usize);
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(tree.join(&folder)) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > SMALL.0 * 4 || found.len() > SMALL.0 || bytes > SMALL.1 {
                return None;
            }
            let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if kind.is_dir() && !path.rsplit('/').next().is_some_and(|name| name.starts_with('.')) {
                folders.push(path);
            } else if kind.is_file() && is_code(&path) {
                bytes += entry.metadata().map_or(0, |data| data.len());
                found.push(path);
            }
        }
    }
    (bytes <= SMALL.1).then_some(found)
}

/// The files of a large tree that say a name of the structs, and whether they have more names than are searched for.
fn large_tree(
    tree: &Path,
    files: TreeFiles<'_>,
    structs: &[DeclaredStruct<'_>],
    subjects: &[TargetStruct],
) -> (Vec<Text>, bool) {
    let tags: Vec<KnownName> = subjects.iter().map(|subject| KnownName::word(&subject.name)).collect();
    let own = |path: &String| structs.iter().any(|declared| declared.header == *path);
    let is_known = |path: &&String| files.scopes.iter().any(|scope| scope.knows(path));
    let tagged: Vec<String> = files.tagged.iter().filter(is_known).cloned().collect();
    let mut texts = say((tree, files.words), &tagged, &tags, own);
    let read: Vec<ReadFile<'_>> = texts
        .iter()
        .map(|text| ReadFile { path: &text.path, text: &text.bytes, is_searched: false })
        .collect();
    let mut names = find_names(&read, subjects);
    names.retain(|name| !tags.contains(name));
    let is_cut = names.len() > MOST_NAMES;
    names.truncate(MOST_NAMES);
    if !names.is_empty() {
        let known: std::collections::HashSet<&str> = texts.iter().map(|text| text.path.as_str()).collect();
        let is_new = |path: &&String| !known.contains(path.as_str()) && is_known(path);
        let rest: Vec<String> = files.all.iter().filter(is_new).cloned().collect();
        let more = say((tree, files.words), &rest, &names, |_| false);
        texts.extend(more);
        texts.sort_by(|single, other| single.path.cmp(&other.path));
    }
    (texts, is_cut)
}

/// Files that say one of the names.
fn say(
    (tree, words): (&Path, &KeptWords<'_>),
    files: &[String],
    names: &[KnownName],
    is_wanted: impl Fn(&String) -> bool + Sync,
) -> Vec<Text> {
    let finder = NameFinder::for_names(names.iter().cloned());
    let found = fieldline_parallel::map(files, |path| {
        let lacks = || words.lacks(path, Stamp::read(&tree.join(path)), finder.wanted());
        if !is_wanted(path) && lacks() {
            return None;
        }
        let text = read(tree, path);
        (finder.is_in(&text.bytes) || is_wanted(path)).then_some(text)
    });
    found.into_iter().flatten().collect()
}
