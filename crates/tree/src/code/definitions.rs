//! Units that define functions, by their text: addresses go there that no unit read so far follows.

use super::texts::Texts;
use fieldline_frontend::{Demands, SourceUnit};
use fieldline_source::declared::words;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// Most units that are read because they define functions that some pointer could lead to, or because they name members
/// that addresses are kept in.
const MOST_CALLABLE: usize = 64;

/// How far behind a name the body of its function may begin.
const FARTHEST: usize = 4096;

/// The units (by number) that define any of the functions that addresses go to and are not read yet: those named, and
/// those that can be called through the pointers and those that name members which the addresses are kept in, if these
/// are few.
pub(super) fn defining(
    texts: &Texts,
    units: &[SourceUnit],
    demanded: &Demands,
    read: &BTreeMap<usize, BTreeSet<usize>>,
) -> Vec<usize> {
    let wanted: FxHashSet<&str> = demanded.unread.iter().map(String::as_str).collect();
    let symbols: FxHashSet<&str> = demanded.symbols.iter().map(String::as_str).collect();
    // No address of a kernel's comes to the programs that its build runs.
    let is_kernel = units.iter().any(SourceUnit::is_of_kernel);
    let is_open = |number: &usize| {
        !read.contains_key(number) && units.get(*number).is_some_and(|unit| !is_kernel || unit.is_of_kernel())
    };
    let open: Vec<usize> = (0..units.len()).filter(is_open).collect();
    let has = fieldline_parallel::map(&open, |number| {
        let Some(file) = units.get(*number).and_then(|unit| texts.files.get(&unit.file)) else {
            return [false; 3];
        };
        let is_named = defines_any(&file.text, &wanted) || names_any(&file.text, &symbols);
        let is_callback = defines_callback(&file.text, &demanded.callbacks);
        [is_named, is_callback, names_members(&file.text, &demanded.members)]
    });
    let are_few = |reason: usize| has.iter().filter(|has| has[reason]).count() <= MOST_CALLABLE;
    let counts = [true, are_few(1), are_few(2)];
    let is_chosen = |has: &[bool; 3]| has.iter().zip(counts).any(|(has, counts)| *has && counts);
    open.iter().zip(&has).filter(|(_, has)| is_chosen(has)).map(|(number, _)| *number).collect()
}

/// Whether a text names a record and a member of it.
fn names_members(text: &[u8], members: &BTreeSet<(String, String)>) -> bool {
    if members.is_empty() {
        return false;
    }
    let asked: FxHashSet<&str> =
        members.iter().flat_map(|(record, member)| [record.as_str(), member.as_str()]).collect();
    let named: FxHashSet<&str> = words(text)
        .filter_map(|word| std::str::from_utf8(word).ok().filter(|word| asked.contains(word)))
        .collect();
    members.iter().any(|(record, member)| named.contains(record.as_str()) && named.contains(member.as_str()))
}

fn defines_any(text: &[u8], wanted: &FxHashSet<&str>) -> bool {
    let start = text.as_ptr().addr();
    words(text).any(|word| {
        let is_wanted = std::str::from_utf8(word).is_ok_and(|word| wanted.contains(word));
        let end = word.as_ptr().addr().saturating_sub(start).saturating_add(word.len());
        is_wanted && text.get(end..).is_some_and(has_body)
    })
}

fn names_any(text: &[u8], symbols: &FxHashSet<&str>) -> bool {
    let is_symbol = |word: &[u8]| std::str::from_utf8(word).is_ok_and(|word| symbols.contains(word));
    !symbols.is_empty() && words(text).any(is_symbol)
}

/// Whether a function takes `void *` at one of the places, among so many parameters.
fn defines_callback(text: &[u8], wanted: &BTreeSet<(usize, usize)>) -> bool {
    let start = text.as_ptr().addr();
    let lists = words(text).filter_map(|word| {
        let end = word.as_ptr().addr().saturating_sub(start).saturating_add(word.len());
        let behind = text.get(end..)?;
        let list = parameters(behind)?;
        has_body(behind).then_some(list)
    });
    !wanted.is_empty()
        && lists.into_iter().any(|list| {
            let parameters: Vec<&[u8]> = list.split(|byte| *byte == b',').collect();
            let is_open = |number: usize| {
                parameters.get(number).is_some_and(|parameter| {
                    parameter.contains(&b'*') && words(parameter).any(|word| word == b"void")
                })
            };
            wanted.iter().any(|(count, number)| parameters.len() == *count && is_open(*number))
        })
}

/// The text between the brackets behind a name, where nothing in it has brackets of its own.
fn parameters(behind: &[u8]) -> Option<&[u8]> {
    let list = behind.trim_ascii_start().strip_prefix(b"(")?;
    let end = list.iter().take(FARTHEST).position(|byte| matches!(byte, b')' | b'(' | b';' | b'{'))?;
    (list.get(end) == Some(&b')')).then(|| list.get(..end))?
}

/// Whether what follows a name is a list of parameters and a body, perhaps with declarations of the oldest style.
fn has_body(behind: &[u8]) -> bool {
    let behind = behind.get(..FARTHEST).unwrap_or(behind).trim_ascii_start();
    if behind.first() != Some(&b'(') {
        return false;
    }
    let mut depth = 0_usize;
    let mut at = 0;
    for byte in behind {
        at += 1;
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            b'{' | b'}' | b';' => return false,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    let rest = behind.get(at..).unwrap_or_default().trim_ascii_start();
    let next = rest.iter().position(|byte| matches!(byte, b'{' | b'}' | b'(' | b')' | b'=' | b','));
    match (rest.first(), next.and_then(|next| rest.get(next))) {
        (Some(b'{'), _) => true,
        // Values of members, in a constructor.
        (Some(b':'), _) => rest.get(1) != Some(&b':'),
        (Some(first), Some(b'{')) => first.is_ascii_alphabetic() || *first == b'_',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_pointers_can_lead_to_are_found() {
        let wanted = BTreeSet::from([(2, 1)]);
        for (text, expected) in [
            ("static void f(int n, void *data)\n{ }", true),
            ("static void f(void *data, int n)\n{ }", false),
            ("static void f(int n, void *data);", false),
            ("int g(void) { return f(1, (void *)p); }", false),
        ] {
            assert_eq!(defines_callback(text.as_bytes(), &wanted), expected, "{text}");
        }
        assert!(!defines_callback(b"void f(int n, void *data) { }", &BTreeSet::new()));
    }

    #[test]
    fn calls_and_declarations_are_no_definitions() {
        let wanted: FxHashSet<&str> = ["f"].into_iter().collect();
        for (text, expected) in [
            ("int f(int a)\n{ return a; }", true),
            ("int f(a) int a; { return a; }", true),
            ("int f (int (*g)(int)) __attribute__((x)) {", false),
            ("int f(int a);\nint g(void) {", false),
            ("int g(void) { return f(1); }", false),
            ("int g(void) { if (f(1)) { } }", false),
            ("int h(void) { f(1) } ", false),
            ("int ff(int a) { }", false),
        ] {
            assert_eq!(defines_any(text.as_bytes(), &wanted), expected, "{text}");
        }
    }
}
