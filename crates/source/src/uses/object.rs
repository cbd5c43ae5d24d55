//! Ranges of bytes of an object whose type its declaration tells: `memset_after`, `memset_startat`
//! (include/linux/string.h), and differences of members' addresses.

use super::demand::{Demand, Use, UsedStruct, text};
use crate::scan::{SourceText, TokenKind};

pub(super) fn find(source: &SourceText, subject: &UsedStruct, found: &mut Vec<Use>) {
    for at in 0..source.tokens().len() {
        match source.word(at) {
            Some(name @ (b"memset_after" | b"memset_startat")) => cleared(source, subject, at, name, found),
            Some(_) => distance(source, subject, at, found),
            None => {}
        }
    }
}

fn cleared(source: &SourceText, subject: &UsedStruct, at: usize, name: &[u8], found: &mut Vec<Use>) {
    let arguments = source.arguments(at + 1);
    let [object, _, member] = arguments.as_slice() else { return };
    let Some(member) = source.first_word(member.clone()).and_then(|word| subject.member(word)) else {
        return;
    };
    let is_plain = object.len() == 1;
    let owner = declared_struct(source, object.start, at);
    let (demand, what) = match owner {
        Some(tag) if is_plain && tag == subject.tag.as_bytes() => {
            (Demand::Boundary, format!("{} clears from there to the end", text(name)))
        }
        None if is_plain => {
            (Demand::Remark, format!("{} clears from there on, perhaps in this struct", text(name)))
        }
        _ => return,
    };
    found.push(Use { line: source.line_of(at), demand, members: vec![member.clone()], what });
}

/// `(char *)&p->b - (char *)&p->a`, by the `&` of the first.
fn distance(source: &SourceText, subject: &UsedStruct, at: usize, found: &mut Vec<Use>) {
    let Some(first) = address(source, at) else { return };
    let minus = first.1;
    if !source.is_punct(minus, b'-') || source.is_punct(minus + 1, b'-') || source.is_punct(minus + 1, b'>') {
        return;
    }
    let second = (minus + 1..minus + 8).find_map(|at| address(source, at));
    let Some(second) = second.filter(|(member, _)| source.word(at) == source.word(member.wrapping_sub(3)))
    else {
        return;
    };
    if declared_struct(source, at, at) != Some(subject.tag.as_bytes()) {
        return;
    }
    let members = [first.0, second.0].map(|at| source.word(at).and_then(|word| subject.member(word)));
    let members: Vec<String> = members.into_iter().flatten().cloned().collect();
    let what = "a length is counted between addresses there".to_owned();
    found.push(Use { line: source.line_of(at), demand: Demand::Boundary, members, what });
}

/// `&object->member`, by the object's word: the member's word and the token behind it all, closing brackets apart.
fn address(source: &SourceText, at: usize) -> Option<(usize, usize)> {
    source.word(at)?;
    let is_address = at > 0 && source.is_punct(at - 1, b'&') && !source.is_punct(at.wrapping_sub(2), b'&');
    let points = source.is_punct(at + 1, b'-') && source.is_punct(at + 2, b'>');
    let member = at + 3;
    source.word(member).filter(|_| is_address && points)?;
    let mut end = member + 1;
    while source.is_punct(end, b')') || source.is_punct(end, b'[') {
        end = if source.is_punct(end, b')') { end + 1 } else { source.past(end) };
    }
    Some((member, end))
}

/// The tag of the struct that a name was declared with in the function around a token: `struct tag *name`,
/// `struct tag name`.
pub(super) fn declared_struct<'t>(source: &SourceText<'t>, name: usize, from: usize) -> Option<&'t [u8]> {
    let wanted = source.word(name)?;
    let mut at = from;
    while at > 2 {
        at -= 1;
        if ends_function(source, at) {
            return None;
        }
        if source.word(at) != Some(wanted) {
            continue;
        }
        let mut before = at - 1;
        while before > 1
            && (source.is_punct(before, b'*')
                || matches!(source.word(before), Some(b"const" | b"__restrict")))
        {
            before -= 1;
        }
        let is_declared = before > 0 && source.word(before - 1) == Some(b"struct");
        if is_declared {
            return source.word(before);
        }
        // Another type, by its typedef or keyword.
        let is_other = source.token(before).is_some_and(|token| token.kind == TokenKind::Word)
            && !matches!(
                source.word(before),
                Some(b"return" | b"sizeof" | b"else" | b"case" | b"goto" | b"in")
            );
        if is_other {
            return None;
        }
    }
    None
}

/// Whether a token is a closing brace at the start of a line, the end of the function before.
pub(super) fn ends_function(source: &SourceText, at: usize) -> bool {
    let is_brace = source.is_punct(at, b'}');
    let start = source.token(at).map_or(0, |token| token.start);
    is_brace && (start == 0 || source.bytes().get(start - 1) == Some(&b'\n'))
}
