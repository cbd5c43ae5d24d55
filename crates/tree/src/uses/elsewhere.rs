//! Macros that give variables of a struct their values, in other files than the variables.
//!
//! Which header a file includes only a preprocessor knows. Of those that define the macro and that the file can know, the
//! nearest count: the one that declares the struct, then those with most folders in common.

use super::scope::{Declared, LARGEST, is_in_scope, read_up_to};
use fieldline_source::uses::{Awaited, Gives, MACROS, MacroDefinition, Use, UsedStruct, definitions};
use memchr::memmem;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

/// A struct's variable that awaits a macro.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// Number of the struct.
    pub(super) of: usize,
    /// The variable's file.
    pub(super) path: String,
    pub(super) awaited: Awaited,
}

/// Definitions by header, in order of paths.
type Defined = BTreeMap<String, Vec<MacroDefinition>>;

/// What the macros demand, by struct, each with the variable's file. `files` are all that were searched.
pub(super) fn follow(
    tree: &Path,
    files: &[String],
    (structs, subjects): (&[Declared<'_>], &[UsedStruct]),
    waiting: Vec<Waiting>,
) -> Vec<(usize, String, Use)> {
    let mut found = Vec::new();
    let mut waiting = waiting;
    let own: Vec<String> = structs.iter().map(|of| of.header.to_owned()).collect();
    let headers: Vec<String> = files.iter().filter(|path| path.ends_with(".h")).cloned().collect();
    for _ in 0..MACROS {
        // Most macros stand beside their struct; other headers are read for what is left.
        let (mut next, left) = round(tree, &own, (structs, subjects), waiting, &mut found);
        next.extend(round(tree, &headers, (structs, subjects), left, &mut found).0);
        waiting = next;
    }
    found
}

/// Looks for what is awaited in some headers. Gives variables that other macros give, and those whose macro isn't there.
fn round(
    tree: &Path,
    headers: &[String],
    (structs, subjects): (&[Declared<'_>], &[UsedStruct]),
    waiting: Vec<Waiting>,
    found: &mut Vec<(usize, String, Use)>,
) -> (Vec<Waiting>, Vec<Waiting>) {
    let (mut next, mut left) = (Vec::new(), Vec::new());
    if waiting.is_empty() {
        return (next, left);
    }
    let holding = holding(tree, headers, &waiting);
    let mut known: BTreeMap<(usize, String, bool), Defined> = BTreeMap::new();
    for one in waiting {
        let (Some(of), Some(subject)) = (structs.get(one.of), subjects.get(one.of)) else { continue };
        let key = (one.of, one.awaited.name.clone(), one.awaited.is_array);
        let defined = known.entry(key).or_insert_with(|| {
            let texts = holding.iter().map(|(path, text)| (path, definitions(text, &one.awaited, subject)));
            texts.filter(|(_, found)| !found.is_empty()).map(|(path, found)| (path.clone(), found)).collect()
        });
        let nearest = nearest(defined, &one.path, of.header);
        if nearest.is_empty() {
            left.push(one);
            continue;
        }
        for (header, definition) in nearest {
            match &definition.gives {
                Gives::Values(uses) => {
                    let uses =
                        uses.iter().map(|of| (one.of, one.path.clone(), named(of, &one.awaited, header)));
                    found.extend(uses);
                }
                Gives::Macro(name) => {
                    let awaited = Awaited { name: name.clone(), ..one.awaited.clone() };
                    next.push(Waiting { awaited, ..one.clone() });
                }
                Gives::Nothing => {}
            }
        }
    }
    (next, left)
}

/// A demand of a definition as one of the variable that the macro gives its values.
fn named(of: &Use, awaited: &Awaited, header: &str) -> Use {
    let what = format!("{}, those of {}, {header}:{}", of.what, awaited.name, of.line);
    Use { line: awaited.line, what, ..of.clone() }
}

/// Texts of the headers that define any of the macros, in order of paths.
fn holding(tree: &Path, headers: &[String], waiting: &[Waiting]) -> Vec<(String, Vec<u8>)> {
    let names: HashSet<&[u8]> = waiting.iter().map(|one| one.awaited.name.as_bytes()).collect();
    let known = |path: &str| waiting.iter().any(|one| is_in_scope(&one.path, path));
    let mut paths: Vec<&String> = headers.iter().filter(|path| known(path)).collect();
    paths.sort_unstable();
    paths.dedup();
    let texts = paths.par_iter().filter_map(|path| {
        let text = read_up_to(&tree.join(path), LARGEST).ok()?;
        defines(&text, &names).then(|| ((*path).clone(), text))
    });
    texts.collect()
}

fn defines(text: &[u8], names: &HashSet<&[u8]>) -> bool {
    memmem::find_iter(text, b"define").any(|at| {
        let rest = text.get(at + b"define".len()..).unwrap_or_default().trim_ascii_start();
        let end = rest.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
        rest.get(..end.unwrap_or(rest.len())).is_some_and(|name| names.contains(name))
    })
}

/// The definitions a file most likely means.
fn nearest<'d>(defined: &'d Defined, path: &str, header: &str) -> Vec<(&'d str, &'d MacroDefinition)> {
    let near = |other: &str| if other == header { usize::MAX } else { common(other, path) };
    let visible = || defined.iter().filter(|(other, _)| is_in_scope(path, other));
    let best = visible().map(|(other, _)| near(other)).max();
    let nearest = visible().filter(|(other, _)| Some(near(other)) == best);
    nearest.flat_map(|(other, found)| found.iter().map(move |one| (other.as_str(), one))).collect()
}

/// How many folders two paths have in common.
fn common(one: &str, other: &str) -> usize {
    let [one, other] = [one, other].map(|path| path.rsplit_once('/').unwrap_or_default().0);
    one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other && !one.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldline_source::uses::Demand;

    /// Files of a tree, and what is demanded of `struct box` of `include/box.h`: file, line, demand and words.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let layout = serde_json::from_str(LAYOUT).unwrap();
        let found = super::super::find(tree.path(), &[Declared { layout: &layout, header: "include/box.h" }]);
        let uses = found.unwrap().remove(0).0;
        let told = uses.into_iter().map(|(path, of)| {
            let Demand::Positions(count) = of.demand else { panic!("{of:?}") };
            format!("{path}:{}: {count}: {}", of.line, of.what)
        });
        told.collect()
    }

    const LAYOUT: &str =
        r#"{"name": "box", "kind": "struct", "size": 0, "align": 1, "members": [], "items": []}"#;
    const BOX: &str = "struct box {\n\tint a;\n\tint b;\n\tint c;\n};\n";
    const USE: &str = "#include <box.h>\n\nstatic struct box it = BOX_INIT(it);\n";

    #[test]
    fn a_macro_of_another_file_holds_places_and_both_places_are_told() {
        let header = format!("{BOX}#define BOX_INIT(x) {{ 1, 2 }}\n");
        let told = "an initialiser gives 2 values by position, those of BOX_INIT, include/box.h:6";
        assert_eq!(found(&[("include/box.h", &header), ("a/it.c", USE)]), [format!("a/it.c:3: 2: {told}")]);
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
        let told = "an initialiser gives 3 values by position, those of __BOX_INIT, include/more.h:2";
        assert_eq!(found(&files), [format!("a/it.c:3: 3: {told}")]);
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
