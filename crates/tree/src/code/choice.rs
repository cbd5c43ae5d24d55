//! The units of a build that may see a struct.

use super::names::{NameIndex, Sight, StructNames};
use super::texts::{Includes, Texts};
use fieldline_frontend::SourceUnit;
use fieldline_source::declared::words;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// How far behind `sizeof` its operand is looked for.
const OPERAND: usize = 60;

/// The units to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// Their indices, with the structs (by index) that each may see.
    pub(super) units: BTreeMap<usize, BTreeSet<usize>>,
    /// Headers that may see a struct, with the structs.
    pub(super) headers: BTreeMap<PathBuf, BTreeSet<usize>>,
}

/// The files that each unit includes.
struct Included<'t> {
    of_units: Vec<Vec<&'t Path>>,
}

/// Chooses the units that may see any of the structs, by tag.
pub(super) fn choose(texts: &Texts, units: &[SourceUnit], tags: &[String]) -> Choice {
    let index = NameIndex::new(texts.declared());
    let sights: Vec<Sight> = fieldline_parallel::map(tags, |tag| Sight::new(&index, tag));
    let wanted: FxHashSet<&str> = sights.iter().flat_map(Sight::words).map(String::as_str).collect();
    let present = texts.present(&wanted);
    let files: Vec<(&Path, &FxHashSet<&str>)> = present.iter().map(|(path, found)| (*path, found)).collect();
    let seen = fieldline_parallel::map(&files, |(path, found)| {
        let text = texts.files.get(*path).map(|file| file.text.as_slice()).unwrap_or_default();
        structs_seen(&sights, found, text)
    });
    let seen: BTreeMap<&Path, BTreeSet<usize>> = files.iter().map(|(path, _)| *path).zip(seen).collect();
    let included = Included::new(texts, units);
    let mut choice = Choice::default();
    for (number, unit) in units.iter().enumerate() {
        let own = std::iter::once(unit.file.as_path()).chain(included.fragments(number));
        let structs: BTreeSet<usize> = own.filter_map(|path| seen.get(path)).flatten().copied().collect();
        if !structs.is_empty() {
            choice.units.insert(number, structs);
        }
    }
    let headers = seen.iter().filter(|(path, structs)| {
        !structs.is_empty() && texts.files.get(**path).is_some_and(|file| file.is_header)
    });
    choice.headers = headers.map(|(path, structs)| (path.to_path_buf(), structs.clone())).collect();
    cover_headers(&mut choice, units, &included, &seen, texts);
    choice
}

/// Structs that a text may see, or whose holders it uses whole.
fn structs_seen(sights: &[Sight], found: &FxHashSet<&str>, text: &[u8]) -> BTreeSet<usize> {
    let has = |name: &str| found.contains(name);
    let is_seen = |sight: &&Sight| {
        sight.is_in(&has) || sight.enclosing.iter().any(|names| uses_whole(names, &has, text))
    };
    let numbered = sights.iter().enumerate();
    numbered.filter(|(_, sight)| is_seen(sight)).map(|(number, _)| number).collect()
}

/// Whether a text declares an object of the type, or takes its size.
fn uses_whole(names: &StructNames, has: &dyn Fn(&str) -> bool, text: &[u8]) -> bool {
    let types: Vec<&String> = names.types.iter().filter(|name| has(name)).collect();
    let mut objects: FxHashSet<&[u8]> =
        names.values.iter().filter(|name| has(name)).map(|name| name.as_bytes()).collect();
    for name in types {
        for at in memchr::memmem::find_iter(text, name.as_bytes()) {
            let behind = text.get(at + name.len()..).unwrap_or_default().trim_ascii_start();
            let is_pointer = behind.first() == Some(&b'*');
            let begins = behind.iter().position(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
            let declared = begins.and_then(|begins| words(behind.get(begins..)?).next());
            if !is_pointer && begins == Some(0) {
                return true;
            }
            objects.extend(declared);
            objects.insert(name.as_bytes());
        }
    }
    let mut sizes = memchr::memmem::find_iter(text, b"sizeof");
    !objects.is_empty()
        && sizes.any(|at| {
            let operand = text.get(at + b"sizeof".len()..).unwrap_or_default();
            let operand = operand.get(..OPERAND).unwrap_or(operand);
            let end = operand.iter().position(|byte| *byte == b')' || *byte == b';');
            words(operand.get(..end.unwrap_or(operand.len())).unwrap_or_default())
                .any(|word| objects.contains(word))
        })
}

impl<'t> Included<'t> {
    fn new(texts: &'t Texts, units: &'t [SourceUnit]) -> Self {
        let mut direct = None;
        let of_unit = |unit: &'t SourceUnit| {
            if unit.reads.is_empty() {
                let direct = direct.get_or_insert_with(|| texts.includes());
                reachable(direct, &unit.file)
            } else {
                unit.reads.iter().map(|path| path.as_path()).collect()
            }
        };
        Self { of_units: units.iter().map(of_unit).collect() }
    }

    /// The files that a unit, by number, includes.
    fn files(&self, unit: usize) -> impl Iterator<Item = &'t Path> {
        self.of_units.get(unit).into_iter().flatten().copied()
    }

    /// Files that a unit includes and that aren't named as headers are.
    fn fragments(&self, unit: usize) -> impl Iterator<Item = &'t Path> {
        let is_header = |path: &&Path| {
            path.extension().and_then(|end| end.to_str()).is_some_and(|end| end.starts_with('h'))
        };
        self.files(unit).filter(move |path| !is_header(path))
    }
}

/// All files that one includes, directly or by others.
fn reachable<'t>(direct: &Includes<'t>, from: &'t Path) -> Vec<&'t Path> {
    let mut is_found = vec![false; direct.paths.len()];
    let mut waiting: Vec<u32> = direct.by(from).to_vec();
    let mut found = Vec::new();
    while let Some(number) = waiting.pop() {
        let Some(is_found) = is_found.get_mut(number as usize).filter(|is_found| !**is_found) else {
            continue;
        };
        *is_found = true;
        found.extend(direct.paths.get(number as usize).copied());
        waiting.extend(direct.of_files.get(number as usize).into_iter().flatten());
    }
    found
}

/// Adds a unit for each header that sees a struct and that no chosen unit includes: the shortest one.
fn cover_headers(
    choice: &mut Choice,
    units: &[SourceUnit],
    included: &Included<'_>,
    seen: &BTreeMap<&Path, BTreeSet<usize>>,
    texts: &Texts,
) {
    let length = |unit: &SourceUnit| texts.files.get(&unit.file).map_or(0, |file| file.text.len());
    let mut by_length: Vec<usize> = (0..units.len()).collect();
    by_length.sort_by_cached_key(|number| units.get(*number).map(length));
    // Paths are compared part by part, their texts at once.
    let mut shortest: FxHashMap<&OsStr, usize> = FxHashMap::default();
    for number in &by_length {
        for path in included.files(*number) {
            shortest.entry(path.as_os_str()).or_insert(*number);
        }
    }
    let chosen: Vec<usize> = choice.units.keys().copied().collect();
    let files_of = |number: usize| included.files(number).map(Path::as_os_str);
    let mut covered: FxHashSet<&OsStr> = chosen.into_iter().flat_map(files_of).collect();
    for header in choice.headers.keys() {
        if covered.contains(header.as_os_str()) {
            continue;
        }
        let Some(number) = shortest.get(header.as_os_str()).copied() else { continue };
        let structs = choice.units.entry(number).or_default();
        structs.extend(seen.get(header.as_path()).into_iter().flatten());
        covered.extend(files_of(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(files: &[(&str, &str)], tag: &str) -> Vec<String> {
        let tree = tempfile::tempdir().unwrap();
        let mut units = Vec::new();
        for (path, text) in files {
            std::fs::write(tree.path().join(path), text).unwrap();
            if path.ends_with(".c") && !path.starts_with("part") {
                units.push(SourceUnit { file: tree.path().join(path), ..SourceUnit::default() });
            }
        }
        let texts = Texts::read(&[tree.path()], &units).unwrap();
        let choice = choose(&texts, &units, &[tag.to_owned()]);
        let name = |number: &usize| units[*number].file.file_name().unwrap().to_string_lossy().into_owned();
        choice.units.keys().map(name).collect()
    }

    #[test]
    fn units_are_chosen_by_all_names_of_the_struct() {
        let files = [
            (
                "item.h",
                "typedef struct item { int a; } item_t;\nextern item_t first;\nstruct box { item_t in; };\n",
            ),
            ("by_tag.c", "struct item *p;"),
            ("by_typedef.c", "item_t *p;"),
            ("by_value.c", "int f(void) { return first.a; }"),
            ("whole.c", "void f(struct box *b) { memset(b, 0, sizeof(*b)); }"),
            ("pointer.c", "void f(struct box *b) { g(b); }"),
            ("other.c", "int in;"),
            ("part.c", "item_t x;"),
            ("with_part.c", "#include \"part.c\"\n"),
        ];
        assert_eq!(
            chosen(&files, "item"),
            ["by_tag.c", "by_typedef.c", "by_value.c", "whole.c", "with_part.c"]
        );
    }

    #[test]
    fn a_header_with_code_is_read_by_one_unit_at_least() {
        let files = [
            (
                "item.h",
                "struct item { int a; };\nstatic inline int get(struct item *p) { return *(int *)p; }\n",
            ),
            ("long.c", "#include \"item.h\"\nint other_things;"),
            ("short.c", "#include \"item.h\"\n"),
            ("without.c", "int x;"),
        ];
        assert_eq!(chosen(&files, "item"), ["short.c"]);
    }
}
