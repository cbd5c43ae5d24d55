//! Whether a file is worth cutting into tokens, by looking around each place that names the struct.

use super::used_struct::UsedStruct;
use crate::scan::is_word;
use memchr::memmem;

/// How far before a `sizeof` an assertion's name stands.
const NEAR: usize = 120;
/// Longest declaration between a struct's tag and an initialiser's brace.
const DECLARED: usize = 300;

pub(super) fn may_use(text: &[u8], subject: &UsedStruct, is_assembler: bool) -> bool {
    let tag = subject.tag.as_bytes();
    if is_assembler {
        return memmem::find_iter(text, tag).any(|at| is_whole(text, at, tag.len()));
    }
    let wanted = [b"struct ", tag].concat();
    let finder = memmem::Finder::new(&wanted);
    let mut places = finder.find_iter(text).filter(|at| is_whole(text, *at, wanted.len())).peekable();
    if places.peek().is_none() {
        return false;
    }
    let clears = [b"memset_after".as_slice(), b"memset_startat"];
    if clears.iter().any(|name| memmem::find(text, name).is_some()) {
        return true;
    }
    let has_prefix_tag = || {
        let mut leads = subject.prefix_tags.iter().map(|lead| [b"struct ", lead.as_bytes()].concat());
        leads.any(|lead| memmem::find(text, &lead).is_some())
    };
    let mut leads = None;
    places.any(|at| {
        let (before, behind) = (&text[..at], &text[at + wanted.len()..]);
        is_offset(before, behind)
            || is_initialised(before, behind)
            || may_be_cast(before, behind) && *leads.get_or_insert_with(has_prefix_tag)
    })
}

fn is_whole(text: &[u8], at: usize, length: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let behind = text.get(at + length);
    !before.is_some_and(|byte| is_word(*byte)) && !behind.is_some_and(|byte| is_word(*byte))
}

/// `(struct s *)`, or `struct s *name`: what may be cast to its first member.
fn may_be_cast(before: &[u8], behind: &[u8]) -> bool {
    let Some(pointer) = behind.trim_ascii_start().strip_prefix(b"*") else { return false };
    match pointer.trim_ascii_start().first() {
        Some(b')') => before.trim_ascii_end().ends_with(b"("),
        next => next.is_some_and(|byte| is_word(*byte)),
    }
}

/// `offsetof(struct s, …`, `offsetofend(…`, or a `sizeof` in an assertion.
fn is_offset(before: &[u8], behind: &[u8]) -> bool {
    let Some(before) = before.trim_ascii_end().strip_suffix(b"(") else { return false };
    let start = before.iter().rposition(|byte| !is_word(*byte)).map_or(0, |at| at + 1);
    let word = before.get(start..).unwrap_or_default();
    match behind.trim_ascii_start().first() {
        Some(b',') => word.starts_with(b"offsetof") || word.starts_with(b"__builtin_offsetof"),
        Some(b')') if word == b"sizeof" => {
            let near = before.get(before.len().saturating_sub(NEAR)..).unwrap_or_default();
            let asserts = [b"BUILD_BUG".as_slice(), b"static_assert", b"_Static_assert"];
            asserts.iter().any(|name| memmem::find(near, name).is_some())
        }
        _ => false,
    }
}

/// `struct s name = {`, `struct s name[] = {`, or `(struct s){`; or a macro in place of the brace.
fn is_initialised(before: &[u8], behind: &[u8]) -> bool {
    let behind = behind.get(..behind.len().min(DECLARED)).unwrap_or_default();
    let value = behind.trim_ascii_start().strip_prefix(b")").and_then(|rest| rest.trim_ascii_start().first());
    let is_literal = before.trim_ascii_end().ends_with(b"(") && value.is_some_and(is_value);
    is_literal || is_opened(behind)
}

/// Whether a brace or a macro's name begins here.
fn is_value(first: &u8) -> bool {
    matches!(first, b'{' | b'_') || first.is_ascii_uppercase()
}

/// Whether a declarator's `= {` or `= MACRO` comes next, brackets of attributes skipped.
fn is_opened(behind: &[u8]) -> bool {
    let mut depth = 0_u32;
    for (at, byte) in behind.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b'=' if depth == 0 => {
                let value = behind.get(at + 1..).unwrap_or_default().trim_ascii_start();
                return value.first().is_some_and(is_value);
            }
            b')' | b';' | b',' | b'*' | b'{' if depth == 0 => return false,
            _ => {}
        }
    }
    false
}
