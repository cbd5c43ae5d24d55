//! Command-line arguments: known to the outer modules of `cli` alone.

use super::checkout::Checkout;
use anyhow::Result;

/// Modules that may name `clap` and its structs, besides `main`; they hand plain options to all others.
const OUTER_MODULES: [&str; 2] = ["args", "command"];

/// Modules of `cli` that name arguments instead of plain options.
pub(super) fn misplaced_arguments(checkout: &Checkout) -> Result<Vec<String>> {
    let is_inner = |module: &[String]| module.first().is_some_and(|name| !OUTER_MODULES.contains(&&**name));
    let is_argument =
        |path: &Vec<String>| path[0].starts_with("clap") || path.get(1).is_some_and(|name| name == "args");
    let mut found = Vec::new();
    let files = checkout.crates.get("cli").into_iter().flat_map(|sources| &sources.files);
    for (_, file) in files.filter(|(module, _)| is_inner(module)) {
        let mut named = file.uses.iter().map(|import| &import.path).chain(&file.paths);
        if named.any(is_argument) {
            found.push(format!("{}: arguments are for {OUTER_MODULES:?} only", file.path.display()));
        }
    }
    Ok(found)
}
