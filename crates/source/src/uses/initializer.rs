//! Initialisers that name no members: their values go by position.

use super::used_struct::{StructUse, UseDemand, UsedStruct, Uses};
use crate::scan::{SourceText, TokenKind};

pub(super) fn find(source: &SourceText, subject: &UsedStruct, found: &mut Uses) {
    for at in source.token_range().filter(|at| source.names_struct(*at, &subject.tag)) {
        let Some((open, dimensions)) = find_initializer(source, at) else { continue };
        let open = (0..dimensions).try_fold(open, |open, _| nested_brace(source, open));
        if let Some(open) = open {
            add_uses(source, open, source.line_of(at), subject, found);
        }
    }
}

/// Adds the demands of the values in a brace.
pub(super) fn add_uses(source: &SourceText, open: usize, line: u32, subject: &UsedStruct, found: &mut Uses) {
    let count = count_positional(source, open);
    if count > 0 {
        let what = format!("an initialiser gives {count} values by position");
        found.push(StructUse::new(line, UseDemand::Positions(count), Vec::new(), what));
    }
    let members = members_behind_names(source, open, subject);
    if !members.is_empty() {
        let what = "an initialiser gives a value to what follows a named member".to_owned();
        found.push(StructUse::new(line, UseDemand::Boundary, members, what));
    }
}

/// Members that a value without a name follows in `{ .member = x, y }`, and those that get it.
fn members_behind_names(source: &SourceText, open: usize, subject: &UsedStruct) -> Vec<String> {
    let mut members: Vec<String> = Vec::new();
    let mut last = None;
    for value in source.arguments(open) {
        let first = source.skip_silent(value.start, value.end);
        if first >= value.end {
            continue;
        }
        if source.is_punct(first, b'.') {
            last = source.word(first + 1).and_then(|name| subject.number(name));
        } else if let Some(number) = last.filter(|_| !is_macro(source, first)) {
            members.extend([number, number + 1].iter().filter_map(|number| subject.name(*number)).cloned());
            last = Some(number + 1);
        } else {
            last = None;
        }
    }
    members.dedup();
    members
}

/// The brace of `name = {`, `name[…] = {` or `){`, and the number of the array's dimensions.
fn find_initializer(source: &SourceText, keyword: usize) -> Option<(usize, usize)> {
    let from = keyword + 2;
    if source.is_punct(from, b')') {
        let open = from + 1;
        let is_list = source.is_punct(open, b'{')
            && !(open..source.index_after(open)).any(|at| source.is_punct(at, b';'));
        return (is_list && !is_argument(source, keyword)).then_some((open, 0));
    }
    let (equals, dimensions) = find_equals(source, keyword)?;
    source.is_punct(equals + 1, b'{').then_some((equals + 1, dimensions))
}

/// Whether a word stands before the bracket in front of a `struct`, as in `sizeof(struct s)`.
pub(super) fn is_argument(source: &SourceText, keyword: usize) -> bool {
    keyword.checked_sub(2).and_then(|at| source.word(at)).is_some_and(|word| word != b"return")
}

/// The `=` behind a variable's name and attributes, and the number of its dimensions.
pub(super) fn find_equals(source: &SourceText, keyword: usize) -> Option<(usize, usize)> {
    let from = keyword + 2;
    let mut at = from;
    let mut dimensions = 0;
    // A name, in macros pasted together, and attributes such as `__initdata`.
    let is_declared = |at: usize| {
        source.word(at).is_some()
            || source.is_punct(at, b'[')
            || at > from && (source.is_punct(at, b'(') || source.is_punct(at, b'#'))
    };
    while is_declared(at) {
        dimensions += usize::from(source.is_punct(at, b'['));
        at = source.index_after(at);
    }
    (at > from && source.is_punct(at, b'=')).then_some((at, dimensions))
}

/// The brace of an array's first element: `{ { …` or `{ [index] = { …`.
pub(super) fn nested_brace(source: &SourceText, open: usize) -> Option<usize> {
    let at = first_element(source, open);
    source.is_punct(at, b'{').then_some(at)
}

/// Where an array's first element begins.
pub(super) fn first_element(source: &SourceText, open: usize) -> usize {
    let mut at = source.skip_silent(open + 1, source.token_range().end);
    if source.is_punct(at, b'[') {
        at = source.index_after(at);
        at = if source.is_punct(at, b'=') { at + 1 } else { at };
    }
    at
}

/// How many values stand in a brace before the first that names its member. None if they are as good as zero.
/// A macro may name members: one alone, or beside names, is taken to do so.
fn count_positional(source: &SourceText, open: usize) -> usize {
    let values = source.arguments(open);
    let (mut count, mut macros, mut is_named) = (0, 0, false);
    for value in values {
        let first = source.skip_silent(value.start, value.end);
        if first >= value.end {
            break;
        }
        let names_label = source.word(first).is_some() && source.is_punct(first + 1, b':');
        is_named = source.is_punct(first, b'.') || names_label;
        if is_named {
            break;
        }
        count += 1;
        macros += usize::from(is_macro(source, first));
    }
    let may_be_names = macros > 0 && (is_named || macros == count && count == 1);
    let is_nothing = count == 1 && is_zero(source, open);
    if may_be_names || is_nothing { 0 } else { count }
}

/// Whether a value comes from a macro, which may name members.
fn is_macro(source: &SourceText, first: usize) -> bool {
    source.word(first).is_some_and(crate::body::attribute::is_shouted) && source.text(first) != b"NULL"
}

/// `{ 0 }` and the like, whichever member is the first: compilers warn of `{ NULL }` for a number, and of braces
/// around one.
fn is_zero(source: &SourceText, open: usize) -> bool {
    let close = source.partner(open).unwrap_or(open);
    (open + 1..close).all(|at| match source.kind(at) {
        Some(TokenKind::Punct(b',') | TokenKind::Comment) => true,
        Some(TokenKind::Number) => {
            source.text(at).iter().all(|byte| matches!(byte, b'0' | b'x' | b'U' | b'L'))
        }
        Some(TokenKind::Word) => source.text(at) == b"false",
        _ => false,
    })
}
