//! Macros that give variables of a struct their values, in other files than the variables.
//!
//! Which header a file includes only a preprocessor knows. Of those that define the macro and that the file
//! can know, the nearest count: the one that declares the struct, then those with most folders in common.

use super::scope::{DeclaredStruct, LARGEST, common_folders, is_in_scope, read_up_to};
use fieldline_source::uses::{MAX_MACRO_CALLS, MacroDefinition, MacroValue, find_definitions};
use fieldline_source::uses::{StructUse, UnresolvedMacro, UsedStruct};
use memchr::memmem;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// A struct's variable that waits for a macro's definition.
#[derive(Clone, Debug)]
pub(super) struct PendingMacro {
    /// Number of the struct.
    pub(super) struct_index: usize,
    /// The variable's file.
    pub(super) path: String,
    pub(super) unresolved: UnresolvedMacro,
}

/// Definitions by header, in order of paths.
type HeaderDefinitions = BTreeMap<String, Vec<MacroDefinition>>;

/// Demands of the macros, by struct, each with the variable's file. `files` are all that were searched.
pub(super) fn follow_macros(
    tree: &Path,
    files: &[String],
    (structs, subjects): (&[DeclaredStruct<'_>], &[UsedStruct]),
    waiting: Vec<PendingMacro>,
) -> Vec<(usize, String, StructUse)> {
    let mut found = Vec::new();
    let mut waiting = waiting;
    let own: Vec<String> = structs.iter().map(|declared| declared.header.to_owned()).collect();
    let headers: Vec<String> = files.iter().filter(|path| path.ends_with(".h")).cloned().collect();
    for _ in 0..MAX_MACRO_CALLS {
        // Most macros stand beside their struct; other headers are read for what is left.
        let (mut next, left) = search_headers(tree, &own, (structs, subjects), waiting, &mut found);
        next.extend(search_headers(tree, &headers, (structs, subjects), left, &mut found).0);
        waiting = next;
    }
    found
}

/// Searches some headers for definitions. Gives the variables of other macros, and those not resolved.
fn search_headers(
    tree: &Path,
    headers: &[String],
    (structs, subjects): (&[DeclaredStruct<'_>], &[UsedStruct]),
    waiting: Vec<PendingMacro>,
    found: &mut Vec<(usize, String, StructUse)>,
) -> (Vec<PendingMacro>, Vec<PendingMacro>) {
    let (mut next, mut left) = (Vec::new(), Vec::new());
    if waiting.is_empty() {
        return (next, left);
    }
    let holding = read_defining(tree, headers, &waiting);
    let mut known: BTreeMap<(usize, String, bool), HeaderDefinitions> = BTreeMap::new();
    for pending in waiting {
        let index = pending.struct_index;
        let (Some(declared), Some(subject)) = (structs.get(index), subjects.get(index)) else { continue };
        let unresolved = &pending.unresolved;
        let defined =
            known.entry((index, unresolved.name.clone(), unresolved.is_array)).or_insert_with(|| {
                let find = |text: &[u8]| find_definitions(text, unresolved, subject);
                let found = holding.iter().map(|(path, text)| (path.clone(), find(text)));
                found.filter(|(_, found)| !found.is_empty()).collect()
            });
        let nearest = nearest(defined, &pending.path, declared.header);
        if nearest.is_empty() {
            left.push(pending);
            continue;
        }
        for (header, definition) in nearest {
            match &definition.value {
                MacroValue::Values(uses) => {
                    let uses = uses.iter().map(|used| use_of_macro(used, unresolved, header));
                    found.extend(uses.map(|used| (index, pending.path.clone(), used)));
                }
                MacroValue::Macro(name) => {
                    let unresolved = UnresolvedMacro { name: name.clone(), ..unresolved.clone() };
                    next.push(PendingMacro { unresolved, ..pending.clone() });
                }
                MacroValue::Nothing => {}
            }
        }
    }
    (next, left)
}

/// A demand of a definition as one of the variable that the macro gives its values.
fn use_of_macro(used: &StructUse, unresolved: &UnresolvedMacro, header: &str) -> StructUse {
    let description = format!("{}, those of {}, {header}:{}", used.description, unresolved.name, used.line);
    StructUse { line: unresolved.line, description, ..used.clone() }
}

/// Texts of the headers that define any of the macros, in order of paths.
fn read_defining(tree: &Path, headers: &[String], waiting: &[PendingMacro]) -> Vec<(String, Vec<u8>)> {
    let names: HashSet<&[u8]> = waiting.iter().map(|pending| pending.unresolved.name.as_bytes()).collect();
    let known = |path: &str| waiting.iter().any(|pending| is_in_scope(&pending.path, path));
    let mut paths: Vec<&String> = headers.iter().filter(|path| known(path)).collect();
    paths.sort_unstable();
    paths.dedup();
    let texts = fieldline_parallel::map(&paths, |path| {
        let text = read_up_to(&tree.join(path), LARGEST).ok()?;
        defines(&text, &names).then(|| ((*path).clone(), text))
    });
    texts.into_iter().flatten().collect()
}

fn defines(text: &[u8], names: &HashSet<&[u8]>) -> bool {
    memmem::find_iter(text, b"define").any(|at| {
        let rest = text.get(at + b"define".len()..).unwrap_or_default().trim_ascii_start();
        let end = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
        rest.get(..end.unwrap_or(rest.len())).is_some_and(|name| names.contains(name))
    })
}

/// The definitions a file most likely means.
fn nearest<'d>(all: &'d HeaderDefinitions, path: &str, header: &str) -> Vec<(&'d str, &'d MacroDefinition)> {
    let near = |other: &str| if other == header { usize::MAX } else { common_folders(other, path) };
    let visible = || all.iter().filter(|(other, _)| is_in_scope(path, other));
    let best = visible().map(|(other, _)| near(other)).max();
    let nearest = visible().filter(|(other, _)| Some(near(other)) == best);
    nearest.flat_map(|(other, found)| found.iter().map(move |found| (other.as_str(), found))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_source::uses::UseDemand;

    /// Files of a tree, and what is demanded of `struct box` of `include/box.h`: file, line, demand and
    /// words.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let layout = serde_json::from_str(LAYOUT).unwrap();
        let found = super::super::find_in_tree(
            (tree.path(), None),
            &[DeclaredStruct { layout: &layout, header: "include/box.h" }],
            None,
        );
        let uses = found.unwrap().remove(0).0;
        let demands = uses.into_iter().map(|(path, used)| {
            let UseDemand::Positions(count) = used.demand else { panic!("{used:?}") };
            format!("{path}:{}: {count}: {}", used.line, used.description)
        });
        demands.collect()
    }

    const LAYOUT: &str =
        r#"{"name": "box", "kind": "struct", "size": 0, "align": 1, "members": [], "items": []}"#;
    const BOX: &str = "struct box {\n\tint a;\n\tint b;\n\tint c;\n};\n";
    const USE: &str = "#include <box.h>\n\nstatic struct box it = BOX_INIT(it);\n";

    #[test]
    fn a_macro_of_another_file_fixes_positions_and_both_places_are_reported() {
        let header = format!("{BOX}#define BOX_INIT(x) {{ 1, 2 }}\n");
        let reason = "an initialiser gives 2 values by position, those of BOX_INIT, include/box.h:6";
        assert_eq!(found(&[("include/box.h", &header), ("a/it.c", USE)]), [format!("a/it.c:3: 2: {reason}")]);
        let named = format!("{BOX}#define BOX_INIT(x) {{ .a = 1, .b = 2 }}\n");
        assert_eq!(found(&[("include/box.h", &named), ("a/it.c", USE)]), [""; 0]);
    }

    #[test]
    fn macros_are_followed_from_header_to_header() {
        let files = [
            ("include/box.h", BOX),
            ("include/init.h", "#define BOX_INIT(x) __BOX_INIT(x, 0)\n"),
            ("include/more.h", "\n#define __BOX_INIT(x, y) { x, y, 1 }\n"),
            ("a/it.c", USE),
        ];
        let reason = "an initialiser gives 3 values by position, those of __BOX_INIT, include/more.h:2";
        assert_eq!(found(&files), [format!("a/it.c:3: 3: {reason}")]);
    }

    #[test]
    fn of_macros_of_one_name_the_nearest_counts() {
        let files = [
            ("include/box.h", BOX),
            ("a/init.h", "#define BOX_INIT(x) { 1, 2 }\n"),
            ("b/init.h", "#define BOX_INIT(x) { 1, 2, 3 }\n"),
            ("b/it.c", USE),
        ];
        let found = found(&files);
        assert!(found.len() == 1 && found[0].ends_with("b/init.h:1"), "{found:?}");
    }

    #[test]
    fn a_macro_that_nobody_defines_is_nothing() {
        assert_eq!(found(&[("include/box.h", BOX), ("a/it.c", USE)]), [""; 0]);
    }
}
