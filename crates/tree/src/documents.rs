//! Documents of a source tree that list a struct's members: tables that a new order should be reflected in.

mod table;

use crate::uses;
use memchr::memmem;
use std::path::Path;

pub(crate) use table::ListedStruct;

/// Where trees keep documents.
const FOLDERS: &[&str] = &["Documentation", "docs", "doc"];
/// Folders below them whose documents follow others, or are no text for readers.
const OTHERS: &[&str] = &["translations", "devicetree"];
/// How documents' names end.
const ENDS: &[&str] = &[".rst", ".txt", ".md"];
/// Where the kernel keeps tables of members by cacheline (Documentation/networking/net_cachelines/index.rst).
const BY_CACHELINE: &str = "Documentation/networking/net_cachelines/";
/// Larger files are no documents.
const LARGEST: u64 = 1 << 20;

/// A note for each table that lists a struct's members, by struct, in order of paths.
pub(crate) fn find_notes(tree: &Path, listed: &[ListedStruct]) -> Vec<Vec<String>> {
    let finders: Vec<_> = listed.iter().map(|target| memmem::Finder::new(target.name.as_bytes())).collect();
    let mut files: Vec<String> = FOLDERS.iter().flat_map(|folder| files_below(tree, folder)).collect();
    files.sort_unstable();
    let by_file: Vec<Vec<Vec<usize>>> = fieldline_parallel::map(&files, |path| {
        // A file that vanishes or can't be read says nothing.
        let text = uses::read_up_to(&tree.join(path), LARGEST).unwrap_or_default();
        let lines = |(target, finder): (&ListedStruct, &memmem::Finder<'_>)| match finder.find(&text) {
            Some(_) => table::find_member_tables(&String::from_utf8_lossy(&text), stem(path), target),
            None => Vec::new(),
        };
        listed.iter().zip(&finders).map(lines).collect::<Vec<_>>()
    });
    let mut notes = vec![Vec::new(); listed.len()];
    for (path, found) in files.iter().zip(by_file) {
        for (notes, lines) in notes.iter_mut().zip(found) {
            notes.extend(lines.into_iter().map(|line| format_note(path, line)));
        }
    }
    notes
}

fn format_note(path: &str, line: usize) -> String {
    let by = if path.starts_with(BY_CACHELINE) { " by cacheline" } else { "" };
    format!("{path}:{line}: lists its members{by}: update it")
}

/// The file's name without its end.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn files_below(tree: &Path, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(tree.join(folder)).into_iter().flatten().flatten();
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in entries {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        let path = format!("{folder}/{name}");
        if kind.is_dir() && !name.starts_with('.') && !OTHERS.contains(&name.as_str()) {
            folders.push(path);
        } else if kind.is_file() && ENDS.iter().any(|end| name.ends_with(end)) {
            files.push(path);
        }
    }
    files.extend(fieldline_parallel::map(&folders, |folder| files_below(tree, folder)).into_iter().flatten());
    files
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(super) fn listed(name: &str, members: &[&str]) -> ListedStruct {
        let members = members.iter().map(|name| (*name).to_owned()).collect();
        ListedStruct { name: name.to_owned(), members }
    }

    #[test]
    fn tables_anywhere_below_the_documents_are_found_in_order_of_paths() {
        let tree = tempfile::tempdir().unwrap();
        let listed_box = || listed("box", &["lid", "hinge", "lock"]);
        assert_eq!(find_notes(tree.path(), &[listed_box()]), [Vec::<String>::new()]);
        let write = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("Documentation/networking/net_cachelines/b.rst", "title\n\n..struct   ..box\nint   lid\n");
        write("Documentation/networking/net_cachelines/a.rst", "..struct   ..boxes\nbox  box\n");
        let table = "struct box\n==========\n\nlid    covers\nhinge  turns\nlock   closes\n";
        write("Documentation/core/box.txt", table);
        write("Documentation/translations/zz/box.rst", table);
        write("kernel/box.txt", table);
        let expected = [
            "Documentation/core/box.txt:4: lists its members: update it",
            "Documentation/networking/net_cachelines/b.rst:3: lists its members by cacheline: update it",
        ];
        assert_eq!(find_notes(tree.path(), &[listed_box()]), [expected]);
        let other = listed("crate", &["lid"]);
        assert_eq!(
            find_notes(tree.path(), &[other, listed_box()]),
            [Vec::new(), expected.map(str::to_owned).to_vec()]
        );
    }
}
