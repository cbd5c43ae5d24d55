//! What must not stand in code.

use super::house::House;
use anyhow::Result;

/// Crates without input and output.
const PURE: [&str; 6] = ["layout", "access", "plan", "check", "source", "cachemodel"];

/// Lines of a crate's code, comments and tests apart, that hold a word.
fn places(house: &House, name: &str, words: &[&str]) -> Result<Vec<String>> {
    let mut places = Vec::new();
    for file in house.files(name) {
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
pub(super) fn input_and_output(house: &House) -> Result<Vec<String>> {
    let words = ["std::fs", "std::env", "std::process", "std::net", "println!", "SystemTime", "Instant::now"];
    let found = PURE.iter().map(|name| places(house, name, &words));
    Ok(found.collect::<Result<Vec<_>>>()?.concat())
}

/// Unsafe code but for the memory map of files.
pub(super) fn unsafe_code(house: &House) -> Result<Vec<String>> {
    let words = ["unsafe {", "unsafe fn", "unsafe impl"];
    let found = house.crates.keys().filter(|name| *name != "xtask").map(|name| places(house, name, &words));
    let mut found = found.collect::<Result<Vec<_>>>()?.concat();
    if let Some(map) = found.iter().position(|place| place.contains("debuginfo/src/elf.rs")) {
        found.remove(map);
    }
    Ok(found)
}

/// What only the recordings with a known truth have.
pub(super) fn recordings(house: &House) -> Result<Vec<String>> {
    let words = ["cfs_rq", "sched_entity", "throttle_count", "leaf_cfs_rq", "6.12.107", "c1.mem"];
    let found = house.crates.keys().filter(|name| *name != "xtask").map(|name| places(house, name, &words));
    Ok(found.collect::<Result<Vec<_>>>()?.concat())
}
