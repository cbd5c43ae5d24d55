//! Types as the user names them: by name or by glob.

use anyhow::Result;
use fieldline_debuginfo::types::{self, Entry, Types};
use wildmatch::WildMatch;

/// Whether it means several types.
pub(crate) fn is_glob(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether a name or glob means a type.
pub(crate) fn names(pattern: &str, name: &str) -> bool {
    if is_glob(pattern) { matches(pattern, name) } else { types::bare(pattern) == name }
}

/// Shell-like match of a whole name: `*` any run, `?` one character, everything else itself.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    WildMatch::new(pattern).matches(name)
}

/// The definitions of some names and globs, all if there are none, each once. Names that are not there are returned too.
pub(crate) fn select(types: &Types<'_, '_>, patterns: &[String]) -> Result<(Vec<Entry>, Vec<String>)> {
    if patterns.is_empty() || patterns.iter().any(|pattern| is_glob(pattern)) {
        return among_all(types, patterns);
    }
    let mut asked: Vec<&str> = Vec::new();
    for name in patterns.iter().map(|pattern| types::bare(pattern)) {
        if !asked.contains(&name) {
            asked.push(name);
        }
    }
    let (mut selected, mut missing) = (Vec::new(), Vec::new());
    for (name, found) in asked.iter().zip(types.find_many(&asked)?) {
        if found.is_empty() {
            missing.push((*name).to_owned());
        }
        selected.extend(found);
    }
    Ok((selected, missing))
}

fn among_all(types: &Types<'_, '_>, patterns: &[String]) -> Result<(Vec<Entry>, Vec<String>)> {
    let mut all = types.all()?;
    all.retain(|entry| patterns.is_empty() || patterns.iter().any(|pattern| names(pattern, &entry.name)));
    let is_missing =
        |pattern: &&String| !is_glob(pattern) && !all.iter().any(|entry| names(pattern, &entry.name));
    let missing = patterns.iter().filter(is_missing).map(|pattern| types::bare(pattern).to_owned()).collect();
    Ok((all, missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_as_in_a_shell() {
        assert!(matches("list_*", "list_head"));
        assert!(matches("*_head", "list_head"));
        assert!(matches("?ist_*d*", "list_head"));
        assert!(!matches("node_*", "list_head"));
        assert!(!matches("list_hea", "list_head"));
        assert!(matches("ns::*<int[4]>", "ns::list<int[4]>"));
        assert!(!matches("list_[ht]*", "list_head"));
    }

    #[test]
    fn a_name_means_itself() {
        assert!(names("struct list_head", "list_head"));
        assert!(!names("list", "list_head"));
    }
}
