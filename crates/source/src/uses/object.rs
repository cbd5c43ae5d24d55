//! Ranges of bytes of an object whose type its declaration gives: `memset_after`, `memset_startat`
//! (include/linux/string.h), and differences of members' addresses. Casts between a pointer to a struct and a
//! pointer to what it begins with, which are right only while that is first.

use super::used_struct::{StructUse, UseDemand, UsedStruct, Uses, text};
use crate::scan::SourceText;

pub(super) fn find(source: &SourceText, subject: &UsedStruct, found: &mut Uses) {
    for at in source.token_range() {
        match source.word(at) {
            Some(b"memset_after" | b"memset_startat") => find_cleared(source, subject, at, found),
            Some(_) => find_distance(source, subject, at, found),
            None => {}
        }
    }
}

pub(super) fn find_casts(source: &SourceText, subject: &UsedStruct, found: &mut Uses) {
    if subject.prefix_tags.is_empty() {
        return;
    }
    for at in source.token_range() {
        let Some((target, name)) = parse_cast(source, at) else { continue };
        let Some(declared) = declared_struct(source, name, at) else { continue };
        let is_lead = |tag: &[u8]| subject.prefix_tags.iter().any(|lead| lead.as_bytes() == tag);
        let own = subject.tag.as_bytes();
        if (target == own && is_lead(declared)) || (declared == own && is_lead(target)) {
            let what = format!("a pointer to struct {} is cast to struct {}", text(declared), text(target));
            found.push(StructUse::new(source.line_of(at), UseDemand::First, Vec::new(), what));
        }
    }
}

/// `(struct tag *)name`, by its opening bracket: the tag, and the token of the name that is cast.
fn parse_cast<'t>(source: &SourceText<'t>, at: usize) -> Option<(&'t [u8], usize)> {
    let opens = source.is_punct(at, b'(') && source.word(at + 1) == Some(b"struct");
    let closes = source.is_punct(at + 3, b'*') && source.is_punct(at + 4, b')');
    let name = at + 5;
    source.word(name).filter(|_| opens && closes)?;
    let goes_on = [b'-', b'.', b'[', b'('].iter().any(|punct| source.is_punct(name + 1, *punct));
    let is_minus = source.is_punct(name + 1, b'-') && !source.is_punct(name + 2, b'>');
    (!goes_on || is_minus).then_some((source.word(at + 2)?, name))
}

/// `memset_after(object, value, member)`, by the macro's word.
fn find_cleared(source: &SourceText, subject: &UsedStruct, at: usize, found: &mut Uses) {
    let arguments = source.arguments(at + 1);
    let [object, _, member] = arguments.as_slice() else { return };
    let member = source.first_word(member.clone()).and_then(|word| subject.member(word));
    let Some(member) = member.filter(|_| object.len() == 1) else { return };
    let (demand, what) = match declared_struct(source, object.start, at) {
        Some(tag) if tag == subject.tag.as_bytes() => (UseDemand::Boundary, "to the end"),
        None => (UseDemand::Note, "on, perhaps in this struct"),
        _ => return,
    };
    let what = format!("{} clears from there {what}", text(source.text(at)));
    found.push(StructUse::new(source.line_of(at), demand, vec![member.clone()], what));
}

/// `(char *)&p->b - (char *)&p->a`, by the `&` of the first.
fn find_distance(source: &SourceText, subject: &UsedStruct, at: usize, found: &mut Uses) {
    let Some((member, minus)) = parse_address(source, at) else { return };
    if !source.is_punct(minus, b'-') || source.is_punct(minus + 1, b'-') || source.is_punct(minus + 1, b'>') {
        return;
    }
    let second = (minus + 1..minus + 8).find_map(|at| parse_address(source, at));
    let is_same = |(other, _): &(usize, usize)| source.word(at) == source.word(other.wrapping_sub(3));
    let Some((other, _)) = second.filter(is_same) else { return };
    if declared_struct(source, at, at) != Some(subject.tag.as_bytes()) {
        return;
    }
    let members = [member, other].map(|at| source.word(at).and_then(|word| subject.member(word)));
    let members: Vec<String> = members.into_iter().flatten().cloned().collect();
    let what = "a length is counted between addresses there".to_owned();
    found.push(StructUse::new(source.line_of(at), UseDemand::Boundary, members, what));
}

/// `&object->member`, by the object's word: the member's word, and the token behind closing brackets.
fn parse_address(source: &SourceText, at: usize) -> Option<(usize, usize)> {
    source.word(at)?;
    let is_address = at > 0 && source.is_punct(at - 1, b'&') && !source.is_punct(at.wrapping_sub(2), b'&');
    let points = source.is_punct(at + 1, b'-') && source.is_punct(at + 2, b'>');
    let member = at + 3;
    source.word(member).filter(|_| is_address && points)?;
    let mut end = member + 1;
    while source.is_punct(end, b')') || source.is_punct(end, b'[') {
        end = if source.is_punct(end, b')') { end + 1 } else { source.index_after(end) };
    }
    Some((member, end))
}

/// The struct that a name has in the function around a token: the tag of `struct tag *name` or
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
        while before > 1 && matches!(source.text(before), b"*" | b"const" | b"__restrict") {
            before -= 1;
        }
        if before > 0 && source.word(before - 1) == Some(b"struct") {
            return source.word(before);
        }
        // Another type, by its typedef or keyword.
        let other = source.word(before);
        if !matches!(other, None | Some(b"return" | b"sizeof" | b"else" | b"case" | b"goto" | b"in")) {
            return None;
        }
    }
    None
}

/// Whether a token is a closing brace at the start of a line, the end of the function before.
pub(super) fn ends_function(source: &SourceText, at: usize) -> bool {
    let before = source.start(at).checked_sub(1).and_then(|before| source.bytes().get(before));
    source.is_punct(at, b'}') && before.is_none_or(|byte| *byte == b'\n')
}
