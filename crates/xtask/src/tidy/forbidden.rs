//! Strings that must not stand in code.

use super::checkout::Checkout;
use anyhow::Result;

/// Crates without input and output.
const PURE: [&str; 7] = ["layout", "access", "plan", "check", "source", "cachemodel", "compare"];

/// Lines of code of some crates, without comments and tests, that contain a string.
fn find_in_code(checkout: &Checkout, applies: impl Fn(&str) -> bool, words: &[&str]) -> Result<Vec<String>> {
    let mut places = Vec::new();
    let crates = checkout.crates.iter().filter(|(name, _)| applies(name));
    for file in crates.flat_map(|(_, sources)| sources.files.values()) {
        let text = std::fs::read_to_string(&file.path)?;
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (number, line) in (1..).zip(code.lines()) {
            let is_comment = line.trim_start().starts_with("//");
            if !is_comment && words.iter().any(|word| line.contains(word)) {
                places.push(format!("{}:{number}: {}", file.path.display(), line.trim()));
            }
        }
    }
    Ok(places)
}

/// Input and output in crates that have none.
pub(super) fn find_input_and_output(checkout: &Checkout) -> Result<Vec<String>> {
    let words = ["std::fs", "std::env", "std::process", "std::net", "println!", "SystemTime", "Instant::now"];
    find_in_code(checkout, |name| PURE.contains(&name), &words)
}

/// Unsafe code but for the memory map of files and libclang's calls.
pub(super) fn find_unsafe_code(checkout: &Checkout) -> Result<Vec<String>> {
    let words = ["unsafe {", "unsafe fn", "unsafe impl"];
    let mut found = find_in_code(checkout, |name| name != "xtask", &words)?;
    if let Some(map) = found.iter().position(|place| place.contains("debuginfo/src/elf.rs")) {
        found.remove(map);
    }
    found.retain(|place| !place.contains("frontend/src/clang/"));
    Ok(found)
}

/// Files that crates embed from outside of their folders: packages of these would not compile. The fuzz targets, which are
/// packed nowhere, may.
pub(super) fn find_outside_files(checkout: &Checkout) -> Result<Vec<String>> {
    let places = find_in_code(checkout, |name| name != "fuzz", &["include_str!", "include_bytes!"])?;
    Ok(places.into_iter().filter(|place| leads_outside(place)).collect())
}

/// Whether a place `crates/NAME/src/…/file.rs:1: …"PATH"…` names a path that leads out of `crates/NAME`.
fn leads_outside(place: &str) -> bool {
    let Some((file, line)) = place.split_once(": ") else { return false };
    let depth = file.rsplit_once("/src/").map_or(0, |(_, rest)| rest.matches('/').count() + 1);
    let path = line.split('"').nth(1).unwrap_or_default();
    path.split('/').take_while(|part| *part == "..").count() > depth
}

/// Names that only the recordings with a known truth have.
pub(super) fn find_recording_names(checkout: &Checkout) -> Result<Vec<String>> {
    let words = ["cfs_rq", "sched_entity", "throttle_count", "leaf_cfs_rq", "6.12.107", "c1.mem"];
    find_in_code(checkout, |name| name != "xtask", &words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_files_stand_within_their_crate() {
        assert!(!leads_outside("/t/crates/a/src/b/c.rs:7: include_str!(\"../../d.txt\")"));
        assert!(leads_outside("/t/crates/a/src/b/c.rs:7: include_bytes!(concat!(\"../../../d/\", $path))"));
        assert!(!leads_outside("/t/crates/a/src/lib.rs:7: include_str!(\"../d.txt\")"));
        assert!(leads_outside("/t/crates/a/src/lib.rs:7: include_str!(\"../../d.txt\")"));
    }
}
