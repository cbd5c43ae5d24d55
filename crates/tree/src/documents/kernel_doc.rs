//! The comment of kernel-doc above a struct: entries `@member:` in the order of members
//! (Documentation/doc-guide/kernel-doc.rst).

use std::collections::BTreeMap;
use std::ops::Range;

/// The comment with its entries in the new order. `None` if nothing changes, or if its entries don't follow the order
/// before: then they follow another one, that is not ours to change.
pub(crate) fn reorder(
    comment: &str,
    before: &BTreeMap<String, usize>,
    after: &BTreeMap<String, usize>,
) -> Option<String> {
    let lines: Vec<&str> = comment.split_inclusive('\n').collect();
    let entries = find_entries(&lines);
    let known: Vec<(usize, usize, &Range<usize>)> = entries
        .iter()
        .filter_map(|(name, lines)| Some((*before.get(name)?, *after.get(name)?, lines)))
        .collect();
    if known.len() < 2 || !known.windows(2).all(|pair| pair[0].0 <= pair[1].0) {
        return None;
    }
    let mut sorted = known.clone();
    sorted.sort_by_key(|(_, after, _)| *after);
    let mut out = String::new();
    let mut at = 0;
    // Each place gets the entry that belongs there; what stands between stays.
    for ((_, _, place), (_, _, entry)) in known.iter().zip(&sorted) {
        out.extend(lines.get(at..place.start)?.iter().copied());
        out.extend(lines.get((*entry).clone())?.iter().copied());
        at = place.end;
    }
    out.extend(lines.get(at..)?.iter().copied());
    (out != comment).then_some(out)
}

/// The entries with their lines: up to the next one, a blank line, or the comment's end.
fn find_entries(lines: &[&str]) -> Vec<(String, Range<usize>)> {
    let mut entries: Vec<(String, Range<usize>)> = Vec::new();
    let mut is_open = false;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start_matches([' ', '\t', '*']).trim_end();
        let name = text.strip_prefix('@').and_then(|rest| rest.split_once(':')).map(|(name, _)| name);
        let is_name =
            |name: &&str| name.chars().all(|letter| letter.is_alphanumeric() || "_.".contains(letter));
        if line.contains("*/") {
            // An entry on the last line can't move without the end.
            break;
        } else if let Some(name) = name.filter(is_name) {
            entries.push((name.to_owned(), at..at + 1));
            is_open = true;
        } else if text.is_empty() {
            is_open = false;
        } else if let Some((_, lines)) = entries.last_mut().filter(|_| is_open) {
            lines.end = at + 1;
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(names: &[&str]) -> BTreeMap<String, usize> {
        names.iter().enumerate().map(|(place, name)| ((*name).to_owned(), place)).collect()
    }

    const DOC: &str = "/**\n * struct box - a box\n * @lid: covers\n *       well\n *\n * @hinge: turns\n * @lock: closes\n *\n \
        * Text on a box, @lid: not an entry.\n */";

    #[test]
    fn entries_follow_their_members() {
        let before = places(&["lid", "hinge", "lock"]);
        let new = reorder(DOC, &before, &places(&["lock", "lid", "hinge"])).unwrap();
        let expected = "/**\n * struct box - a box\n * @lock: closes\n *\n * @lid: covers\n *       well\n * @hinge: turns\n *\n \
            * Text on a box, @lid: not an entry.\n */";
        assert_eq!(new, expected);
        assert_eq!(reorder(DOC, &before, &before), None);
    }

    #[test]
    fn entries_in_an_order_of_their_own_stay() {
        let (before, after) = (places(&["hinge", "lid", "lock"]), places(&["lock", "lid", "hinge"]));
        assert_eq!(reorder(DOC, &before, &after), None);
        assert_eq!(reorder("/** @lid: one line */", &before, &after), None);
    }
}
