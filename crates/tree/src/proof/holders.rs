//! Structs of an object that hold others by value.

use anyhow::Result;
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_layout::embed::{SizeChange, resized_members};
use std::collections::BTreeSet;
use std::path::Path;

/// The names of structs of an object that are wanted and hold some others by value, at any depth.
pub fn find_holders(
    object: &Path,
    held: &[String],
    is_wanted: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>> {
    types::with_types(object, None, None, |types| {
        let mut sizes = Vec::new();
        for name in held {
            if !types.find(name)?.is_empty() {
                sizes.extend(types.layouts(name)?.into_iter().map(as_it_is));
            }
        }
        let mut entries = types.all()?;
        entries.retain(|entry| is_wanted(&entry.name) && !held.iter().any(|name| *name == *entry.name));
        let mut reader = types.reader(&entries)?;
        let mut found = BTreeSet::new();
        for entry in &entries {
            let id = reader.read(entry)?;
            if !resized_members(reader.table(), id, &sizes).is_empty() {
                found.insert(entry.name.to_string());
            }
        }
        Ok(found)
    })
}

/// A struct that keeps its size: what holds one that got another is the same that holds this one.
fn as_it_is(layout: Layout) -> SizeChange {
    SizeChange { name: layout.name, before: layout.size, after: layout.size }
}
