//! Places in the text of a tree that say members of a struct, and those that allocate it.
//!
//! Text knows no types: `->load` may mean another struct's member. So counts are an upper bound, except for names that
//! only this struct has.

use super::files_below;
use super::scope::{LARGEST, is_in_scope, is_word, read_up_to};
use anyhow::{Context, Result};
use memchr::memmem;
use std::path::Path;

/// Most allocations that are listed.
const MOST_ALLOCATIONS: usize = 12;
/// Most letters of a line that is listed.
const MOST_LETTERS: usize = 100;

/// Places that would change if members left a struct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcePlaces {
    /// By file, how many places say one of the members.
    pub files: Vec<(String, usize)>,
    /// Lines that allocate the struct: file, line and text.
    pub allocations: Vec<String>,
}

/// The path in the tree of a file that debug info names.
pub fn in_tree(tree: &Path, declared: &str) -> Option<String> {
    Some(crate::header::find_file(tree, declared)?.to_string_lossy().into_owned())
}

/// Counts the places of a tree that say `.member` or `->member`, in files that say the struct's name and may know the
/// header that declares it.
///
/// # Errors
/// If the tree can't be read.
pub fn find_places(tree: &Path, header: &str, name: &str, members: &[String]) -> Result<SourcePlaces> {
    let files = files_below(tree, "").with_context(|| tree.display().to_string())?;
    let mut paths: Vec<String> = files.into_iter().map(|(path, _)| path).collect();
    paths.retain(|path| is_in_scope(path, header));
    paths.sort_unstable();
    let by_file = fieldline_parallel::map(&paths, |path| {
        let text = read_up_to(&tree.join(path), LARGEST).unwrap_or_default();
        if !words(&text, name).any(|_| true) {
            return (0, Vec::new());
        }
        let says = |member: &String| words(&text, member).filter(|start| is_access(&text, *start)).count();
        (members.iter().map(says).sum(), allocations(path, &text, name))
    });
    let mut found = SourcePlaces::default();
    for (path, (count, allocations)) in paths.into_iter().zip(by_file) {
        found.allocations.extend(allocations);
        if count > 0 {
            found.files.push((path, count));
        }
    }
    found.allocations.truncate(MOST_ALLOCATIONS);
    found.files.sort_by(|this, other| other.1.cmp(&this.1).then_with(|| this.0.cmp(&other.0)));
    Ok(found)
}

/// Where a text says a word.
fn words<'t>(text: &'t [u8], word: &'t str) -> impl Iterator<Item = usize> + 't {
    memmem::find_iter(text, word.as_bytes()).filter(move |start| {
        let before = start.checked_sub(1).and_then(|place| text.get(place));
        let behind = text.get(start + word.len());
        !before.is_some_and(|byte| is_word(*byte)) && !behind.is_some_and(|byte| is_word(*byte))
    })
}

/// Whether a word is said as a member: behind `.` or `->`.
fn is_access(text: &[u8], start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default().trim_ascii_end();
    before.ends_with(b"->") || before.ends_with(b".") && !before.ends_with(b"..")
}

/// Lines that ask an allocator for the struct.
fn allocations(path: &str, text: &[u8], name: &str) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let wanted = [format!("sizeof(struct {name})"), format!("KMEM_CACHE({name},"), format!("struct {name},")];
    let allocates = |line: &str| {
        let line = line.to_ascii_lowercase();
        ["alloc", "kmem_cache", "new("].iter().any(|word| line.contains(word))
    };
    let found = (1..)
        .zip(text.lines())
        .filter(|(_, line)| allocates(line) && wanted.iter().any(|wanted| line.contains(wanted.as_str())));
    let found = found.map(|(number, line)| {
        let line: String = line.trim().chars().take(MOST_LETTERS).collect();
        format!("{path}:{number}: {line}")
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_allocations_are_found_where_the_struct_is_known() {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| std::fs::write(tree.path().join(path), text).unwrap();
        std::fs::create_dir_all(tree.path().join("kernel/sched")).unwrap();
        write("kernel/sched/a.h", "struct queue { long load, depth; };\n");
        write(
            "kernel/sched/a.c",
            "struct queue *q = kzalloc(sizeof(struct queue), 0);\nq->load = x.load + loads(load);\n",
        );
        write("kernel/sched/b.c", "other->load++;\n");
        write("kernel/c.c", "struct queue *q; q->load++;\n");
        let found =
            find_places(tree.path(), "kernel/sched/a.h", "queue", &["load".to_owned(), "depth".to_owned()]);
        let found = found.unwrap();
        assert_eq!(found.files, [("kernel/sched/a.c".to_owned(), 2)]);
        let line = "kernel/sched/a.c:1: struct queue *q = kzalloc(sizeof(struct queue), 0);";
        assert_eq!(found.allocations, [line.to_owned()]);
    }
}
