//! Names as users give them, and names near those.

use super::open::Types;
use anyhow::Result;

/// The name without a keyword: `struct foo` and `foo` mean the same.
pub fn strip_keyword(name: &str) -> &str {
    ["struct ", "union ", "class "].iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(name).trim()
}

/// A name is that of a class template: only its instances are types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateName {
    name: String,
    instance: String,
}

impl std::fmt::Display for TemplateName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, instance } = self;
        write!(out, "{name} is a class template, each instance is a struct of its own ({instance})")
    }
}

impl std::error::Error for TemplateName {}

/// An error that a name is not there, with names near it.
pub fn not_found_error(types: &Types<'_, '_>, name: &str) -> Result<anyhow::Error> {
    let all = types.all()?;
    let start = format!("{name}<");
    if let Some(instance) =
        all.iter().map(|entry| entry.name.as_ref()).filter(|own: &&str| own.starts_with(&start)).min()
    {
        let (name, instance) = (name.to_owned(), instance.to_owned());
        return Ok(TemplateName { name, instance }.into());
    }
    let mut near: Vec<(usize, &str)> = all
        .iter()
        .map(|entry| (edit_distance(name, &entry.name), entry.name.as_ref()))
        .filter(|(distance, candidate)| *distance <= name.len() / 3 + 1 || candidate.contains(name))
        .collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<&str> = near.into_iter().map(|(_, name)| name).take(5).collect();
    let hint = if near.is_empty() { String::new() } else { format!("; near names: {}", near.join(", ")) };
    let file = types.file();
    Ok(anyhow::anyhow!("{file}: no definition of a struct, union or class '{name}' in its debug info{hint}"))
}

/// Edits from one name to another (Levenshtein), in bytes.
pub fn edit_distance(left: &str, right: &str) -> usize {
    let right = right.as_bytes();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (at, byte) in left.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (column, other) in right.iter().enumerate() {
            let cost = diagonal + usize::from(byte != *other);
            diagonal = row[column + 1];
            row[column + 1] = cost.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_in_front_of_the_name_is_fine() {
        assert_eq!(strip_keyword("struct run_queue"), "run_queue");
        assert_eq!(strip_keyword("run_queue"), "run_queue");
    }

    #[test]
    fn distance_counts_edits() {
        assert_eq!(edit_distance("run_queue", "run_queue"), 0);
        assert_eq!(edit_distance("runqueue", "run_queue"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
    }
}
