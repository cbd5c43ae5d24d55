//! Which files say names of structs.

use super::scope::{DeclaredStruct, LARGEST, read_up_to};
use super::words::WordFinder;
use fieldline_source::meaning::KnownName;
use std::path::Path;

/// Names to look for, each of some structs by their numbers.
pub(super) struct Names(WordFinder<usize>);

impl Names {
    /// From names with the number of their struct each.
    pub(super) fn new(all: Vec<(KnownName, usize)>) -> Self {
        Self(WordFinder::new(all))
    }

    /// The numbers of the structs that a text says a name of, in order. `counts`: whether a place of the text counts.
    pub(super) fn said(&self, text: &[u8], counts: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        for (number, place) in self.0.said(text) {
            if !found.contains(number) && counts(place) {
                found.push(*number);
            }
        }
        found.sort_unstable();
        found
    }
}

/// The tags of structs, as code says them: in C only behind `struct` or `union`.
pub(super) fn tags(tree: &Path, files: &[String], structs: &[DeclaredStruct<'_>]) -> Vec<KnownName> {
    let has_cpp = files.iter().any(|path| !path.ends_with(".c") && super::meant::is_cpp(path));
    let name = |declared: &DeclaredStruct<'_>| {
        let name = fieldline_layout::types::split_namespace(&declared.layout.name).1;
        // The header was read before.
        let text = read_up_to(&tree.join(declared.header), LARGEST).unwrap_or_default();
        let tag = KnownName::tag(name);
        let is_tag = memchr::memmem::find_iter(&text, name.as_bytes())
            .any(|at| tag.is_said(&text, at..at + name.len()));
        if is_tag && !has_cpp { tag } else { KnownName::word(name) }
    };
    structs.iter().map(name).collect()
}
