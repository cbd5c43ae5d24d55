//! Structs of an object that hold others by value.

use super::touched::TouchedStruct;
use anyhow::Result;
use fieldline_debuginfo::types;
use fieldline_layout::Layout;
use fieldline_layout::embed::{SizeChange, resized_members};
use fieldline_source::{SourceText, StructDefinition};
use memchr::memmem;
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

/// The structs of some names that none of some objects has.
pub fn structs_not_in(objects: &[&Path], names: &[String]) -> Result<Vec<String>> {
    let mut missing = names.to_vec();
    for object in objects.iter().filter(|_| !names.is_empty()) {
        types::with_types(object, None, None, |types| {
            let wanted: Vec<&str> = missing.iter().map(|name| types::strip_keyword(name)).collect();
            let found = types.find_many(&wanted)?;
            let mut is_found = found.iter().map(|found| !found.is_empty());
            missing.retain(|_| !is_found.next().unwrap_or(false));
            Ok(())
        })?;
    }
    Ok(missing)
}

/// Where headers of a tree declare some structs that name others of `held` as types: as if a patch touched them.
pub fn find_declared_holders(tree: &Path, names: &[String], held: &[String]) -> Vec<TouchedStruct> {
    let names: Vec<&str> = names.iter().map(|name| types::strip_keyword(name)).collect();
    let files = headers_below(tree, "");
    let found = fieldline_parallel::map(&files, |file| {
        let text = fieldline_files::read(&tree.join(file)).unwrap_or_default();
        let is_named = |name: &&str| memmem::find(&text, format!("struct {name} {{").as_bytes()).is_some();
        if !names.iter().any(is_named) {
            return Vec::new();
        }
        declared_holders(file, &text, &names, held)
    });
    found.into_iter().flatten().collect()
}

fn declared_holders(file: &str, text: &[u8], names: &[&str], held: &[String]) -> Vec<TouchedStruct> {
    let source = SourceText::new(text);
    let all = source.definitions().into_iter();
    let wanted = all.filter(|definition| definition.tag.as_deref().is_some_and(|tag| names.contains(&tag)));
    let holds = |definition: &StructDefinition| {
        let body = String::from_utf8_lossy(source.slice(definition.range(&source))).into_owned();
        let mut words = body.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        words.any(|word| held.iter().any(|name| name == word))
    };
    let place = |definition: &StructDefinition| {
        let line = definition.line.saturating_sub(1) as usize;
        Some((file.to_owned(), line..line + 1))
    };
    let found = wanted.filter(holds).map(|definition| TouchedStruct {
        name: definition.name().to_owned(),
        kind: "struct".to_owned(),
        before: place(&definition),
        after: place(&definition),
    });
    found.collect()
}

/// The headers of a tree, by path.
fn headers_below(tree: &Path, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(tree.join(folder)).into_iter().flatten().flatten();
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in entries {
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if kind.is_dir() {
            folders.push(path);
        } else if kind.is_file() && path.ends_with(".h") {
            files.push(path);
        }
    }
    files.extend(
        fieldline_parallel::map(&folders, |folder| headers_below(tree, folder)).into_iter().flatten(),
    );
    files.sort_unstable();
    files
}

/// A struct that keeps its size: what holds one that got another is the same that holds this one.
fn as_it_is(layout: Layout) -> SizeChange {
    SizeChange { name: layout.name, before: layout.size, after: layout.size }
}
