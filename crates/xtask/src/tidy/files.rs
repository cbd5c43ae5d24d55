//! Files: in which direction they import, how many stand in a folder, how large they are.

use super::checkout::{Checkout, CrateSources, sources};
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Most sources of a folder.
const MAX_SOURCES_PER_FOLDER: usize = 15;
/// Most lines of a file without its tests, and of a function.
const MAX_LINES: (usize, usize) = (500, 80);
/// The median function has at most so many lines.
const MAX_MEDIAN_LINES: usize = 10;
/// Most bytes of a fixture.
const MAX_FIXTURE_BYTES: u64 = 1 << 20;

/// A module by its path from the crate's root.
type ModulePath = [String];

/// Modules, each with others that it imports.
type Imports<'m> = BTreeMap<&'m ModulePath, BTreeSet<&'m ModulePath>>;

/// Import cycles: files of one crate that name each other's items.
pub(super) fn import_cycles(checkout: &Checkout) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (name, sources) in &checkout.crates {
        let modules = sources.files.keys().map(Vec::as_slice);
        let imports: Imports<'_> =
            modules.clone().map(|module| (module, imported_modules(sources, module))).collect();
        let reachable: Imports<'_> =
            modules.clone().map(|module| (module, reachable_modules(&imports, module))).collect();
        let cycle = |module: &ModulePath| -> BTreeSet<&ModulePath> {
            reachable[module].iter().filter(|other| reachable[**other].contains(module)).copied().collect()
        };
        let cycles: BTreeSet<_> = modules.map(cycle).filter(|cycle| cycle.len() > 1).collect();
        found.extend(cycles.into_iter().map(|cycle| {
            let files: Vec<String> = cycle.iter().map(|module| module.join("/")).collect();
            format!("{name}: {} import each other", files.join(", "))
        }));
    }
    Ok(found)
}

/// All modules that a module imports, directly or not.
fn reachable_modules<'m>(imports: &Imports<'m>, from: &ModulePath) -> BTreeSet<&'m ModulePath> {
    let mut found = BTreeSet::new();
    let mut rest: Vec<&ModulePath> = imports[from].iter().copied().collect();
    while let Some(next) = rest.pop() {
        if found.insert(next) {
            rest.extend(imports[next].iter().copied());
        }
    }
    found
}

/// The files whose items a file names. Declaring a module and re-exporting names is no import.
fn imported_modules<'c>(sources: &'c CrateSources, module: &ModulePath) -> BTreeSet<&'c ModulePath> {
    let file = &sources.files[module];
    let identifiers: BTreeSet<&String> = file.identifiers.iter().chain(file.paths.iter().flatten()).collect();
    let used = file.uses.iter().filter(|import| !import.is_public || identifiers.contains(&import.name));
    let named = used.map(|import| &import.path).chain(&file.paths);
    let defining = named.filter_map(|path| {
        let path = resolve_path(sources, module, path)?;
        // A module's own name is no item of it.
        (!sources.files.contains_key(&path)).then(|| defining_module(sources, &path, 0))
    });
    defining.filter(|home| *home != module).collect()
}

/// A path from the crate's root; `None` if it leads out of the crate.
fn resolve_path(sources: &CrateSources, module: &ModulePath, path: &[String]) -> Option<Vec<String>> {
    let first = path.first()?.as_str();
    let supers = path.iter().take_while(|part| *part == "super").count();
    if supers > 0 {
        let base = module.get(..module.len().checked_sub(supers)?)?;
        return Some([base, &path[supers..]].concat());
    }
    match first {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        _ => {
            let child = [module, &path[..1]].concat();
            if sources.files.contains_key(&child) {
                return Some([module, path].concat());
            }
            let file = sources.files.get(module)?;
            let known = file.uses.iter().find(|known| known.name == first && known.path[0] != first)?;
            let known = resolve_path(sources, module, &known.path)?;
            Some([&known[..], &path[1..]].concat())
        }
    }
}

/// The module whose file defines the item of a path, found through re-exports.
fn defining_module<'c>(sources: &'c CrateSources, path: &[String], depth: usize) -> &'c ModulePath {
    let length = (0..=path.len()).rev().find(|length| sources.files.contains_key(&path[..*length]));
    let length = length.unwrap_or(0);
    let Some((module, file)) = sources.files.get_key_value(&path[..length]) else { return &[] };
    let reexport = path.get(length).and_then(|name| file.uses.iter().find(|known| known.name == *name));
    // No chain of re-exports is that long.
    match reexport.filter(|_| depth < 16).and_then(|known| resolve_path(sources, module, &known.path)) {
        Some(further) => defining_module(sources, &[&further[..], &path[length + 1..]].concat(), depth + 1),
        None => module,
    }
}

/// Folders with too many sources, tests too.
pub(super) fn crowded_folders(checkout: &Checkout) -> Result<Vec<String>> {
    let mut counts: BTreeMap<&Path, usize> = BTreeMap::new();
    let all = sources(&checkout.root.join("crates"));
    for path in &all {
        *counts.entry(path.parent().unwrap_or(path)).or_default() += 1;
    }
    let crowded = counts.into_iter().filter(|(_, count)| *count > MAX_SOURCES_PER_FOLDER);
    Ok(crowded.map(|(folder, count)| format!("{}: {count} sources", folder.display())).collect())
}

/// Modules of the other style.
pub(super) fn misnamed_modules(checkout: &Checkout) -> Result<Vec<String>> {
    let all = sources(&checkout.root.join("crates")).into_iter();
    Ok(all.filter(|path| path.ends_with("mod.rs")).map(|path| path.display().to_string()).collect())
}

/// Files and functions that are too long.
pub(super) fn long_code(checkout: &Checkout) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut lengths = Vec::new();
    for file in checkout.crates.values().flat_map(|sources| sources.files.values()) {
        let place = file.path.display();
        if file.lines > MAX_LINES.0 {
            found.push(format!("{place}: {} lines without tests", file.lines));
        }
        let long = file.functions.iter().filter(|(_, lines)| *lines > MAX_LINES.1);
        found.extend(long.map(|(name, lines)| format!("{place}: {name} has {lines} lines")));
        lengths.extend(file.functions.iter().map(|(_, lines)| *lines));
    }
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    found.extend((median > MAX_MEDIAN_LINES).then(|| format!("the median function has {median} lines")));
    Ok(found)
}

/// Fixtures that are large, or without a README.md that says how they were made.
pub(super) fn unlisted_fixtures(checkout: &Checkout) -> Result<Vec<String>> {
    let fixtures = checkout.root.join("fixtures");
    let mut found = Vec::new();
    for path in files_below(&fixtures) {
        let size = std::fs::metadata(&path)?.len();
        if size > MAX_FIXTURE_BYTES {
            found.push(format!("{}: {size} bytes", path.display()));
        }
        let folder = path.parent().unwrap_or(&fixtures);
        let mut below = folder.ancestors().take_while(|folder| **folder != fixtures);
        if folder != fixtures && !below.any(|folder| folder.join("README.md").exists()) {
            found.push(format!("{}: no README.md says how it was made", path.display()));
        }
    }
    Ok(found)
}

fn files_below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found
}
