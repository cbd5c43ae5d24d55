//! Selection of types by name or glob.

use anyhow::{Result, anyhow};
use fieldline_debuginfo::types::{self, TypeDefinition, Types};
use wildmatch::WildMatch;

/// Whether it is a glob.
pub(crate) fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether a name or glob matches a type.
pub(crate) fn matches_type(pattern: &str, name: &str) -> bool {
    if is_glob(pattern) { matches_glob(pattern, name) } else { types::strip_keyword(pattern) == name }
}

/// The error that nothing in a file has a name, or matches a glob.
pub(crate) fn missing_error(file: &str, pattern: &str) -> anyhow::Error {
    match is_glob(pattern) {
        true => anyhow!("{file}: nothing matches '{pattern}'; fieldline layout lists the types"),
        false => anyhow!("{file}: no definition of a struct, union or class '{pattern}' in its debug info"),
    }
}

/// Shell-like match of a whole name: `*` any run, `?` one character, everything else itself.
pub(crate) fn matches_glob(pattern: &str, name: &str) -> bool {
    WildMatch::new(pattern).matches(name)
}

/// The definitions of names and globs, each once; all if none are given. Names and globs without a hit are
/// returned too.
pub(crate) fn select(types: &Types<'_, '_>, names: &[String]) -> Result<(Vec<TypeDefinition>, Vec<String>)> {
    if names.is_empty() || names.iter().any(|name| is_glob(name)) {
        let mut all = types.all()?;
        let missing = retain_matching(&mut all, names, |entry| &entry.name);
        return Ok((all, missing));
    }
    let mut requested: Vec<&str> = Vec::new();
    for name in names.iter().map(|name| types::strip_keyword(name)) {
        if !requested.contains(&name) {
            requested.push(name);
        }
    }
    let found = types.find_many(&requested)?;
    let missing = requested.iter().zip(&found).filter(|(_, found)| found.is_empty());
    let missing = missing.map(|(name, _)| (*name).to_owned()).collect();
    Ok((found.into_iter().flatten().collect(), missing))
}

/// Keeps what names and globs match; all if none are given. Returns those without a hit.
pub(crate) fn retain_matching<T>(
    all: &mut Vec<T>,
    patterns: &[String],
    name: impl Fn(&T) -> &str,
) -> Vec<String> {
    let matches = |item: &T| patterns.iter().any(|pattern| matches_type(pattern, name(item)));
    all.retain(|item| patterns.is_empty() || matches(item));
    let is_found = |pattern: &str| all.iter().any(|item| matches_type(pattern, name(item)));
    let is_missing = |pattern: &&String| !is_found(pattern);
    patterns.iter().filter(is_missing).map(|pattern| types::strip_keyword(pattern).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_a_shell() {
        assert!(matches_glob("list_*", "list_head"));
        assert!(matches_glob("*_head", "list_head"));
        assert!(matches_glob("?ist_*d*", "list_head"));
        assert!(!matches_glob("node_*", "list_head"));
        assert!(!matches_glob("list_hea", "list_head"));
        assert!(matches_glob("ns::*<int[4]>", "ns::list<int[4]>"));
        assert!(!matches_glob("list_[ht]*", "list_head"));
    }

    #[test]
    fn a_name_means_itself() {
        assert!(matches_type("struct list_head", "list_head"));
        assert!(!matches_type("list", "list_head"));
    }

    #[test]
    fn names_and_globs_are_kept_and_missing_names_returned() {
        let mut all = vec!["a", "b_1", "b_2"];
        let patterns = ["b_*", "struct c", "x*"].map(str::to_owned);
        assert_eq!(retain_matching(&mut all, &patterns, |name| name), ["c", "x*"]);
        assert_eq!(all, ["b_1", "b_2"]);
        assert!(retain_matching(&mut all, &[], |name| name).is_empty() && all.len() == 2);
    }
}
