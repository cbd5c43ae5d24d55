//! Crates: which import which, and which may name a library.

use super::checkout::Checkout;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};

/// Libraries that few crates may name.
const LIBRARY_USERS: [(&str, &[&str]); 18] = [
    ("gimli", &["debuginfo"]),
    ("object", &["debuginfo"]),
    ("memmap2", &["debuginfo"]),
    ("iced_x86", &["machinecode"]),
    ("yaxpeax_arch", &["machinecode"]),
    ("yaxpeax_arm", &["machinecode"]),
    ("ruzstd", &["perfdata"]),
    ("clang_sys", &["frontend"]),
    ("similar", &["source"]),
    ("nix", &["record"]),
    ("rustix", &["files", "bench"]),
    ("perf_event", &["record", "bench"]),
    ("signal_hook", &["bench"]),
    ("statrs", &["compare"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("askama", &["cli"]),
];

/// The column of docs/ARCHITECTURE.md's table of crates that lists imports.
const IMPORTS_COLUMN: usize = 2;

/// Crates that `all` in that column leaves out.
const NO_LIBRARIES: [&str; 4] = ["testing", "frontend", "xtask", "fuzz"];

/// Where the crates' manifests and the table of docs/ARCHITECTURE.md differ.
pub(super) fn undocumented_imports(checkout: &Checkout) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(checkout.root.join("docs/ARCHITECTURE.md"))?;
    let mut found = Vec::new();
    for (name, sources) in &checkout.crates {
        let Some(row) = text.lines().find(|line| line.starts_with(&format!("| `{name}` |"))) else {
            found.push(format!("{name}: not in the table of crates"));
            continue;
        };
        let cell = row.split('|').nth(IMPORTS_COLUMN).context("a row without columns")?;
        let is_library = |other: &&str| *other != name && !NO_LIBRARIES.contains(other);
        let documented: BTreeSet<&str> = match cell.trim() {
            "all" => checkout.crates.keys().map(String::as_str).filter(is_library).collect(),
            some => some.split([' ', ',']).filter(|word| !word.is_empty()).collect(),
        };
        let actual: BTreeSet<&str> = sources.imports.iter().map(String::as_str).collect();
        if documented != actual {
            found.push(format!("{name}: imports {actual:?}, but {documented:?} is documented"));
        }
    }
    Ok(found)
}

/// Names of libraries in crates where they don't belong; a module beside a file may have a library's name.
pub(super) fn misplaced_libraries(checkout: &Checkout) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for (library, users) in LIBRARY_USERS {
        for (_, sources) in checkout.crates.iter().filter(|(name, _)| !users.contains(&name.as_str())) {
            for (module, file) in &sources.files {
                let child = [&module[..], &[library.to_owned()]].concat();
                let mut named = file.uses.iter().map(|import| &import.path).chain(&file.paths);
                if !sources.files.contains_key(&child) && named.any(|path| path[0] == library) {
                    found.push(format!("{}: {library} is for {users:?} only", file.path.display()));
                }
            }
        }
    }
    Ok(found)
}

/// Dependencies that docs/DEPENDENCIES.md doesn't explain.
pub(super) fn unexplained_dependencies(checkout: &Checkout) -> Result<Vec<String>> {
    let manifest = std::fs::read_to_string(checkout.root.join("Cargo.toml"))?;
    let explained = std::fs::read_to_string(checkout.root.join("docs/DEPENDENCIES.md"))?;
    let section = manifest.split("[workspace.dependencies]").nth(1).context("no dependencies")?;
    let section = section.split("\n[").next().unwrap_or_default();
    let lines = section.lines().filter(|line| line.contains('=') && !line.starts_with('#'));
    let names = lines.filter_map(|line| line.split([' ', '=', '.']).next());
    let unknown = names.filter(|name| !name.starts_with("fieldline-") && !explained.contains(name));
    Ok(unknown.map(|name| format!("{name} is not in docs/DEPENDENCIES.md")).collect())
}

/// Names that every crate may have.
const SHARED_TYPE_NAMES: [&str; 2] = ["Error", "Result"];

/// Names of public types that several crates have.
pub(super) fn ambiguous_type_names(checkout: &Checkout) -> Result<Vec<String>> {
    let mut crates: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (owner, sources) in &checkout.crates {
        for name in sources.files.values().flat_map(|file| &file.public_types) {
            crates.entry(name).or_default().insert(owner);
        }
    }
    crates.retain(|name, owners| owners.len() > 1 && !SHARED_TYPE_NAMES.contains(name));
    let crates = crates.into_iter();
    Ok(crates.map(|(name, owners)| format!("{name}: in {}", Vec::from_iter(owners).join(", "))).collect())
}
