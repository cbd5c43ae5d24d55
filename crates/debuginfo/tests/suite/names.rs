//! Many names looked for together are found as they are one by one.

use fieldline_debuginfo::dwarf::{self, DebugSections, Dwarf, LazyDwarf};
use fieldline_debuginfo::{Elf, FileBytes};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files with DWARF among the fixtures.
fn files() -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut found = vec![fixtures.join("demo/shaper")];
    for entry in std::fs::read_dir(fixtures.join("layout")).unwrap() {
        let path = entry.unwrap().path();
        found.extend(Some(path).filter(|path| path.extension().is_some_and(|extension| extension == "o")));
    }
    found.sort();
    found
}

fn with_sections(path: &Path, work: impl FnOnce(&DebugSections<'_>)) {
    let file = FileBytes::open(path).unwrap();
    let elf = Elf::parse(&file).unwrap();
    work(&DebugSections::load(&elf, None).unwrap());
}

/// All names of a file, some that are their tails, and some that are not there, one of them twice.
fn names(dwarf: &Dwarf<'_>) -> Vec<String> {
    let all: BTreeSet<String> = dwarf::index_definitions(dwarf)
        .unwrap()
        .into_iter()
        .map(|definition| definition.name.into_string())
        .collect();
    let tails = all.iter().filter_map(|name| name.get(1..).map(str::to_owned));
    let others = ["gone", "no_such_name_anywhere", "", "x", "gone"].map(str::to_owned);
    all.iter().cloned().chain(tails).chain(others).collect()
}

#[test]
fn many_names_are_found_as_one_by_one() {
    let files = files();
    assert!(files.len() > 5);
    for path in files {
        with_sections(&path, |sections| {
            let dwarf = Dwarf::new(sections).unwrap();
            let names = names(&dwarf);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let together = dwarf::find_many(&dwarf, &names).unwrap();
            let firsts = dwarf::find_first_many(&dwarf, &names).unwrap();
            assert_eq!((together.len(), firsts.len()), (names.len(), names.len()));
            let typedefs = dwarf::find_typedefs(&dwarf, &names).unwrap();
            for (name, typedef) in names.iter().zip(&typedefs) {
                let single = dwarf::find_typedefs(&dwarf, &[name]).unwrap();
                assert_eq!([*typedef], single[..], "{}: {name}", path.display());
            }
            let mut found = 0;
            for ((name, all), first) in names.iter().zip(&together).zip(&firsts) {
                let single = dwarf::find_many(&dwarf, &[name]).unwrap();
                assert_eq!(std::slice::from_ref(all), single, "{}: {name}", path.display());
                let single = dwarf::find_first_many(&dwarf, &[name]).unwrap();
                assert_eq!(std::slice::from_ref(first), single, "{}: {name}", path.display());
                found += all.len();
            }
            assert!(found > 0, "{}", path.display());
        });
    }
}

#[test]
fn what_is_opened_early_is_found_as_in_the_whole() {
    let mut all_typedefs = 0;
    for path in files() {
        with_sections(&path, |sections| {
            let dwarf = Dwarf::new(sections).unwrap();
            let names = names(&dwarf);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let opened = LazyDwarf::new(sections).unwrap().find_first_many(&names).unwrap();
            assert_eq!(opened, dwarf::find_first_many(&dwarf, &names).unwrap(), "{}", path.display());
            let opened = LazyDwarf::new(sections).unwrap().find_typedefs(&names).unwrap();
            assert_eq!(opened, dwarf::find_typedefs(&dwarf, &names).unwrap(), "{}", path.display());
            all_typedefs += opened.iter().flatten().count();
        });
    }
    assert!(all_typedefs > 0);
}

/// clang names strings by index, so that units are walked: once for all names.
#[test]
fn names_that_units_give_by_index_are_found() {
    let object = std::env::temp_dir().join(format!("fieldline-names-{}.o", std::process::id()));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/layout/torture.c");
    let mut clang = Command::new("clang");
    clang.args(["-gdwarf-5", "-w", "-c"]).arg(source).arg("-o").arg(&object);
    if !fieldline_testing::is_available("clang", clang.status().is_ok_and(|status| status.success())) {
        return;
    }
    with_sections(&object, |sections| {
        let dwarf = Dwarf::new(sections).unwrap();
        let all = dwarf::index_definitions(&dwarf).unwrap();
        let names: Vec<&str> =
            all.iter().map(|definition| definition.name.as_ref()).chain(["gone", ""]).collect();
        let together = dwarf::find_many(&dwarf, &names).unwrap();
        let firsts = dwarf::find_first_many(&dwarf, &names).unwrap();
        for ((name, found), first) in names.iter().zip(&together).zip(&firsts) {
            let facts = |definition: &dwarf::DwarfDefinition| {
                (definition.die, definition.signature, definition.units)
            };
            let expected: Vec<_> =
                all.iter().filter(|definition| *definition.name == **name).map(facts).collect();
            assert_eq!(found.iter().map(facts).collect::<Vec<_>>(), expected, "{name}");
            assert_eq!(
                first.as_ref().map(|definition| definition.die),
                expected.first().map(|definition| definition.0),
                "{name}"
            );
        }
        assert!(together.iter().filter(|found| !found.is_empty()).count() > 10);
    });
    std::fs::remove_file(object).unwrap();
}
