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
        let mut all = types.all()?;
        let missing = keep(&mut all, patterns, |entry| &entry.name);
        return Ok((all, missing));
    }
    let mut asked: Vec<&str> = Vec::new();
    for name in patterns.iter().map(|pattern| types::bare(pattern)) {
        if !asked.contains(&name) {
            asked.push(name);
        }
    }
    let found = types.find_many(&asked)?;
    let missing = asked.iter().zip(&found).filter(|(_, found)| found.is_empty());
    let missing = missing.map(|(name, _)| (*name).to_owned()).collect();
    Ok((found.into_iter().flatten().collect(), missing))
}

/// Keeps what names and globs mean, all if there are none. Names that are not there are returned.
pub(crate) fn keep<T>(all: &mut Vec<T>, patterns: &[String], name: impl Fn(&T) -> &str) -> Vec<String> {
    all.retain(|one| patterns.is_empty() || patterns.iter().any(|pattern| names(pattern, name(one))));
    let is_missing =
        |pattern: &&String| !is_glob(pattern) && !all.iter().any(|one| names(pattern, name(one)));
    patterns.iter().filter(is_missing).map(|pattern| types::bare(pattern).to_owned()).collect()
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

    #[test]
    fn what_is_kept_is_meant_and_what_is_missing_is_told() {
        let mut all = vec!["a", "b_1", "b_2"];
        let patterns = ["b_*", "struct c", "x*"].map(str::to_owned);
        assert_eq!(keep(&mut all, &patterns, |name| name), ["c"]);
        assert_eq!(all, ["b_1", "b_2"]);
        assert!(keep(&mut all, &[], |name| name).is_empty() && all.len() == 2);
    }
}
