//! Documents of a source tree that list a struct's members: tables that a new order should be reflected in.
//!
//! The kernel's tables by cacheline, and the comment of kernel-doc above a struct, are edited with it; others are named.

mod cachelines;
mod kernel_doc;
mod table;

use crate::header::Header;
use crate::uses;
use cachelines::NewOrder;
use fieldline_source::{DefinitionQuery, Edit, SourceText};
use memchr::memmem;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) use cachelines::NewRow;
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
    if path.starts_with(BY_CACHELINE) {
        return format!("{path}:{line}: lists its members by cacheline: its rows move with them");
    }
    format!("{path}:{line}: lists its members: update it")
}

/// The edit of the comment of kernel-doc above a struct, whose members get the order that they have in `new`.
pub(crate) fn edit_kernel_doc(header: &Header, name: &str, new: &[u8]) -> Option<Edit> {
    let (old, new) = (SourceText::new(&header.text), SourceText::new(new));
    let query = DefinitionQuery::for_name(name);
    let (before, after) = (old.find(&query).ok()?, new.find(&query).ok()?);
    let range = before.doc_comment(&old)?;
    let comment = std::str::from_utf8(old.slice(range.clone())).ok()?;
    let text = kernel_doc::reorder(comment, &before.member_places(&old), &after.member_places(&new))?;
    Some(Edit { range, replacement: text.into_bytes() })
}

/// The kernel's tables of a struct's members by cacheline, each with the edit that gives it the order of `new`, the text of
/// the header. A table that lists most members gets rows for those of `moved` that it lacks.
pub(crate) fn edit_tables(tree: &Path, name: &str, new: &[u8], moved: &[NewRow]) -> Vec<(Header, Edit)> {
    let source = SourceText::new(new);
    let Ok(definition) = source.find(&DefinitionQuery::for_name(name)) else { return Vec::new() };
    let places = definition.member_places(&source);
    let listed = ListedStruct { name: name.to_owned(), members: places.keys().cloned().collect() };
    let mut files = files_below(tree, BY_CACHELINE.trim_end_matches('/'));
    files.sort_unstable();
    let edits = files.into_iter().filter_map(|path| {
        let text = uses::read_up_to(&tree.join(&path), LARGEST).ok()?;
        // Lines that end otherwise are left to their owner.
        let old = String::from_utf8(text).ok().filter(|text| !text.contains('\r'))?;
        let mut new = old.clone();
        for line in table::find_member_tables(&old, stem(&path), &listed) {
            new = edit_table(&new, line.saturating_sub(1), &places, moved).unwrap_or(new);
        }
        let edit = narrow(&old, &new)?;
        Some((Header { path, text: old.into_bytes() }, edit))
    });
    edits.collect()
}

fn edit_table(text: &str, line: usize, places: &BTreeMap<String, usize>, moved: &[NewRow]) -> Option<String> {
    let (known, _) = cachelines::count_known(text, line, places)?;
    // A table of some members is one of chosen ones.
    let is_complete = known * 4 >= places.len() * 3;
    let names = moved.iter().map(|row| row.name.clone()).collect();
    let added = if is_complete { moved } else { &[] };
    cachelines::reorder(text, line, NewOrder { places, moved: &names, added })
}

/// One edit between two texts: what lies between the beginning and the end that they share. `None` if they are equal.
fn narrow(old: &str, new: &str) -> Option<Edit> {
    let shared = |old: &mut dyn Iterator<Item = &str>, new: &mut dyn Iterator<Item = &str>| -> usize {
        old.zip(new).take_while(|(old, new)| old == new).map(|(line, _)| line.len()).sum()
    };
    if old == new {
        return None;
    }
    let start = shared(&mut old.split_inclusive('\n'), &mut new.split_inclusive('\n'));
    let (old_rest, new_rest) = (old.get(start..)?, new.get(start..)?);
    let end = shared(&mut old_rest.split_inclusive('\n').rev(), &mut new_rest.split_inclusive('\n').rev());
    let replacement = new_rest.get(..new_rest.len() - end)?.as_bytes().to_vec();
    Some(Edit { range: start..old.len() - end, replacement })
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
            "Documentation/networking/net_cachelines/b.rst:3: lists its members by cacheline: its rows move with them",
        ];
        assert_eq!(find_notes(tree.path(), &[listed_box()]), [expected]);
        let other = listed("crate", &["lid"]);
        assert_eq!(
            find_notes(tree.path(), &[other, listed_box()]),
            [Vec::new(), expected.map(str::to_owned).to_vec()]
        );
    }

    /// Numbers that look drawn by chance (Knuth's MMIX generator).
    fn next_number(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(*state >> 33).unwrap()
    }

    /// Tables of the kernel with the structs they list and the headers that declare these.
    const TABLES: [(&str, &str, &str); 5] = [
        ("inet_connection_sock", "inet_connection_sock", "include/net/inet_connection_sock.h"),
        ("inet_sock", "inet_sock", "include/net/inet_sock.h"),
        ("net_device", "net_device", "include/linux/netdevice.h"),
        ("netns_ipv4_sysctl", "netns_ipv4", "include/net/netns/ipv4.h"),
        ("tcp_sock", "tcp_sock", "include/linux/tcp.h"),
    ];
    /// Prints how many messages docutils has on each file (one a line).
    const COUNT_MESSAGES: &str = "import sys, docutils.core, docutils.nodes\n\
        for name in sys.stdin.read().split():\n    \
        text = open(name).read()\n    \
        tree = docutils.core.publish_doctree(text, settings_overrides=dict(report_level=5, halt_level=5))\n    \
        messages = [m for m in tree.findall(docutils.nodes.system_message)]\n    \
        print(len(messages), sum(1 for _ in tree.findall(docutils.nodes.row)))\n";

    /// All tables by cacheline of the tree in FIELDLINE_TREE under random orders; with FIELDLINE_PYTHON, a python3 that has
    /// docutils, each result is also read by that.
    #[test]
    #[ignore = "needs a kernel's tree"]
    fn tables_of_a_kernel_follow_random_orders() {
        let tree = std::path::PathBuf::from(std::env::var_os("FIELDLINE_TREE").unwrap());
        let python = std::env::var_os("FIELDLINE_PYTHON");
        for (table, name, header) in TABLES {
            let path = tree.join(format!("{BY_CACHELINE}{table}.rst"));
            let old = std::fs::read_to_string(&path).unwrap();
            let text = std::fs::read(tree.join(header)).unwrap();
            let source = SourceText::new(&text);
            let definition = source.find(&DefinitionQuery::for_name(name)).unwrap();
            let members: Vec<String> = definition.member_places(&source).into_keys().collect();
            let target = ListedStruct { name: name.to_owned(), members: members.iter().cloned().collect() };
            let lines = table::find_member_tables(&old, table, &target);
            let [line] = lines[..] else { panic!("{table}: {lines:?}") };
            let (mut state, mut results) = (line as u64, vec![old.clone()]);
            let mut known = 0;
            for _ in 0..200 {
                let mut shuffled = members.clone();
                for last in (1..shuffled.len()).rev() {
                    shuffled.swap(last, next_number(&mut state) % (last + 1));
                }
                let places: BTreeMap<String, usize> = shuffled.into_iter().zip(0..).collect();
                let order = NewOrder { places: &places, moved: &target.members, added: &[] };
                let new = cachelines::reorder(&old, line - 1, order).unwrap();
                known = check_order(&old, &new, &places, table);
                // Once more changes nothing.
                assert_eq!(cachelines::reorder(&new, line - 1, order).unwrap(), new, "{table}");
                results.push(new);
            }
            println!("{table}: {known} rows of {} members", members.len());
            if let Some(python) = &python {
                check_with_docutils(python, &results, table);
            }
        }
    }

    /// Nothing is lost, and rows of members are in their order. Returns how many there are.
    fn check_order(old: &str, new: &str, places: &BTreeMap<String, usize>, table: &str) -> usize {
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(old), sorted(new), "{table}");
        // Apart from the code that is tested: what stands below the head, or the second word where columns slip.
        let is_bordered = new.lines().any(|line| line.starts_with("==") && line.contains("= ="));
        let head = new.lines().find(|line| line.starts_with("Type ")).unwrap();
        let column = head.find("Name").unwrap();
        let names = new.lines().skip_while(|line| *line != head).skip(1).filter_map(|line| {
            let name = if is_bordered { line.get(column..)? } else { line.split_whitespace().nth(1)? };
            let name = name.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).next()?;
            places.get(name)
        });
        let found: Vec<usize> = names.copied().collect();
        assert!(found.is_sorted() && found.len() > 10, "{table}: {found:?}");
        found.len()
    }

    fn check_with_docutils(python: &std::ffi::OsStr, results: &[String], table: &str) {
        let folder = tempfile::tempdir().unwrap();
        let mut names = String::new();
        for (number, text) in results.iter().enumerate() {
            let path = folder.path().join(format!("{number}.rst"));
            std::fs::write(&path, text).unwrap();
            names.push_str(&format!("{}\n", path.display()));
        }
        let list = folder.path().join("names");
        std::fs::write(&list, names).unwrap();
        let input = std::fs::File::open(&list).unwrap();
        let mut count = std::process::Command::new(python);
        let output = count.args(["-c", COUNT_MESSAGES]).stdin(input).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let counts = String::from_utf8(output.stdout).unwrap();
        let counts: Vec<&str> = counts.lines().collect();
        println!("{table}: docutils' messages and rows: {}, of {} documents", counts[0], counts.len());
        assert_eq!(counts.len(), results.len());
        assert!(counts.iter().all(|count| *count == counts[0]), "{table}: {counts:?}");
    }
}
