//! Names of public types.

use super::house::House;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// Names that every crate may have.
const EVERYWHERE: [&str; 2] = ["Error", "Result"];

/// Names of public types that several crates have.
pub(super) fn shared(house: &House) -> Result<Vec<String>> {
    let mut owners: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (owner, of) in &house.crates {
        for name in of.files.values().flat_map(|file| &file.public_types) {
            owners.entry(name).or_default().insert(owner);
        }
    }
    let shared = owners.into_iter().filter(|(name, of)| of.len() > 1 && !EVERYWHERE.contains(name));
    Ok(shared.map(|(name, of)| format!("{name}: in {}", Vec::from_iter(of).join(", "))).collect())
}
