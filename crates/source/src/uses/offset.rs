//! `offsetof` and `offsetofend` where an offset is more than a path to a member.

use super::object::ends_function;
use super::used_struct::{StructUse, UseDemand, UsedStruct, Uses, text};
use crate::body::attribute::is_shouted;
use crate::scan::{SourceText, TokenKind};
use std::collections::BTreeSet;
use std::ops::Range;

/// In names of functions that take a range of bytes (include/linux/string.h, uaccess.h, jhash.h, crc32.h).
const RANGES: &str = "\
    memset memcpy memmove memcmp memchr_inv memzero memdup copy_from copy_to bzero bcmp jhash crc32 xxh \
    siphash csum_partial";

/// Words in the names of macros that fail the build.
const ASSERTS: &str = "BUILD_BUG static_assert _Static_assert compiletime_assert CTASSERT BUILD_ASSERT";

/// An `offsetof` of the struct.
#[derive(Clone, Debug)]
pub(super) struct OffsetUse<'t> {
    /// The macro's word.
    pub(super) at: usize,
    /// Behind its closing bracket.
    pub(super) end: usize,
    /// The first word of the member it names.
    pub(super) member: &'t [u8],
}

/// Where an offset stands.
pub(super) enum OffsetContext {
    /// It limits a range of bytes.
    Range(String),
    /// An assertion compares it.
    Assert(String),
    /// An assertion checks its alignment.
    Alignment(String),
}

pub(super) fn find(source: &SourceText, subject: &UsedStruct, found: &mut Uses) {
    let number = |word: &[u8]| subject.number(word);
    for offset in find_offsets(source, &subject.tag) {
        let Some(member) = subject.member(offset.member) else { continue };
        match (classify(source, &offset, &subject.tag, &number), find_alias(source, &offset)) {
            (Some(context), _) => found.push(context.into_use(source.line_of(offset.at), member)),
            (None, Some(name)) => follow_alias(source, offset.end, name, member, found),
            _ => {}
        }
    }
    find_size_assertions(source, subject, found);
}

/// All `offsetof(struct tag, member)` and their kin.
pub(super) fn find_offsets<'t>(source: &SourceText<'t>, tag: &str) -> Vec<OffsetUse<'t>> {
    let offset = |at: usize| {
        let word = source.word(at)?;
        let known = word.starts_with(b"offsetof") || word == b"__builtin_offsetof";
        (known && source.is_punct(at + 1, b'(') && source.names_struct(at + 2, tag)).then_some(())?;
        let member = source.word(at + 5).filter(|_| source.is_punct(at + 4, b','))?;
        Some(OffsetUse { at, end: source.index_after(at + 1), member })
    };
    source.token_range().filter_map(offset).collect()
}

/// The purpose of an offset, if its context shows that a move would break it. `number` maps words to members.
pub(super) fn classify(
    source: &SourceText,
    offset: &OffsetUse,
    tag: &str,
    number: &dyn Fn(&[u8]) -> Option<usize>,
) -> Option<OffsetContext> {
    let around = source.enclosing_brackets(offset.at).into_iter();
    let mut called = around.filter_map(|open| Some((open, source.callee(open)?)));
    if let Some((open, name)) = called.clone().find(|(_, name)| contains_any(name, ASSERTS)) {
        return classify_assertion(source, open + 1..source.index_after(open), text(name), tag, number);
    }
    let what = match called.find(|(_, name)| is_range(name)) {
        Some((_, name)) => format!("{} ends or begins there", text(name)),
        None if is_difference(source, offset, tag) => "a length is counted to or from there".to_owned(),
        None => return None,
    };
    Some(OffsetContext::Range(what))
}

/// The demand of an assertion on an offset in it: none if it compares offsets within one member.
fn classify_assertion(
    source: &SourceText,
    inside: Range<usize>,
    name: String,
    tag: &str,
    number: &dyn Fn(&[u8]) -> Option<usize>,
) -> Option<OffsetContext> {
    if checks_alignment(source, inside.clone()) {
        return Some(OffsetContext::Alignment(name));
    }
    let mut own = find_offsets(source, tag);
    own.retain(|other| inside.contains(&other.at));
    let is_offset = |at: &usize| source.word(*at).is_some_and(|word| word.starts_with(b"offsetof"));
    let all = inside.clone().filter(is_offset).count();
    let joins = |punct: u8| move |at: usize| source.is_punct(at, punct) && source.is_punct(at + 1, punct);
    let is_several = inside.clone().any(joins(b'|')) || inside.clone().any(joins(b'&'));
    if own.len() < 2 || own.len() < all || is_several {
        return Some(OffsetContext::Assert(name));
    }
    let numbers: BTreeSet<Option<usize>> = own.iter().map(|offset| number(offset.member)).collect();
    let what = format!("{name} compares it with another member's offset");
    (numbers.len() > 1).then_some(OffsetContext::Range(what))
}

impl OffsetContext {
    pub(super) fn into_use(self, line: u32, member: &str) -> StructUse {
        let (demand, what) = match self {
            Self::Range(what) => (UseDemand::Boundary, what),
            Self::Assert(name) => (UseDemand::Offset, format!("{name} fixes its offset")),
            Self::Alignment(name) => (UseDemand::Note, format!("{name} checks the alignment of its offset")),
        };
        StructUse::new(line, demand, vec![member.to_owned()], what)
    }
}

pub(super) fn is_range(name: &[u8]) -> bool {
    contains_any(name, RANGES) && !name.starts_with(b"memset_after") && !name.starts_with(b"memset_startat")
}

fn contains_any(name: &[u8], parts: &str) -> bool {
    parts.split(' ').any(|part| memchr::memmem::find(name, part.as_bytes()).is_some())
}

fn checks_alignment(source: &SourceText, mut tokens: Range<usize>) -> bool {
    let is_and = |at: usize| source.is_punct(at, b'&');
    tokens.any(|at| {
        let single_and = is_and(at) && !is_and(at + 1) && !is_and(at.wrapping_sub(1));
        single_and || matches!(source.text(at), b"%" | b"IS_ALIGNED")
    })
}

/// Whether an offset is taken from a length or another offset, or another is taken from it.
fn is_difference(source: &SourceText, offset: &OffsetUse, tag: &str) -> bool {
    let minuend = offset.at.checked_sub(2).filter(|_| source.is_punct(offset.at - 1, b'-'));
    let is_length = |word: &[u8]| contains_any(word, "size SIZE offsetof len LEN");
    let is_minuend = |at: usize| match source.kind(at) {
        Some(TokenKind::Word) => is_length(source.text(at)),
        Some(TokenKind::Punct(b')')) => {
            let open = source.partner(at).unwrap_or(at);
            let mut words = (open.saturating_sub(1)..at).filter_map(|at| source.word(at));
            words.any(|word| word.starts_with(b"sizeof") || word.starts_with(b"offsetof"))
        }
        _ => false,
    };
    let subtracts = source.is_punct(offset.end, b'-') && !source.is_punct(offset.end + 1, b'-');
    let from_own = (offset.end + 1..offset.end + 4)
        .find(|at| source.word(*at).is_some())
        .is_some_and(|at| source.text(at).starts_with(b"offsetof") && source.names_struct(at + 2, tag));
    minuend.is_some_and(is_minuend) || (subtracts && from_own)
}

/// The name that an offset is given: `name = offsetof(…)`.
fn find_alias<'t>(source: &SourceText<'t>, offset: &OffsetUse) -> Option<&'t [u8]> {
    let assigns = source.is_punct(offset.at.checked_sub(1)?, b'=');
    let ends = [b';', b',', b'}'].iter().any(|end| source.is_punct(offset.end, *end));
    let target = offset.at.checked_sub(2)?;
    // `.name = ` sets a member of an object, which is used elsewhere.
    let is_plain = target.checked_sub(1).is_none_or(|before| !matches!(source.text(before), b"." | b">"));
    (assigns && ends && is_plain).then(|| source.word(target))?
}

/// Ranges of bytes whose length is a name that stands for an offset.
pub(super) fn follow_alias(source: &SourceText, from: usize, name: &[u8], member: &str, found: &mut Uses) {
    // Another function's variable of that name is another; constants are the file's.
    let all = source.token_range().end;
    let end = match is_shouted(name) {
        true => all,
        false => (from..all).find(|at| ends_function(source, *at)).unwrap_or(from),
    };
    for at in (from..end).filter(|at| source.word(*at) == Some(name)) {
        if let Some(called) = find_callee(source, at, is_range) {
            let what = format!("{} takes {}, its offset, for a length", text(called), text(name));
            found.push(StructUse::new(
                source.line_of(at),
                UseDemand::Boundary,
                vec![member.to_owned()],
                what,
            ));
        }
    }
}

/// The innermost call around a token whose name is of a kind.
fn find_callee<'t>(source: &SourceText<'t>, at: usize, is_kind: impl Fn(&[u8]) -> bool) -> Option<&'t [u8]> {
    let mut called = source.enclosing_brackets(at).into_iter().filter_map(|open| source.callee(open));
    called.find(|name| is_kind(name))
}

/// Assertions about the size of the struct.
fn find_size_assertions(source: &SourceText, subject: &UsedStruct, found: &mut Uses) {
    for at in source.token_range() {
        let is_size = source.word(at) == Some(b"sizeof")
            && source.names_struct(at + 2, &subject.tag)
            && source.is_punct(at + 4, b')');
        if is_size && let Some(name) = find_callee(source, at, |name| contains_any(name, ASSERTS)) {
            let what = format!("{} checks the size of the struct", text(name));
            found.push(StructUse::new(source.line_of(at), UseDemand::Size, Vec::new(), what));
        }
    }
}

/// Members that `asm-offsets` files name: `OFFSET(symbol, tag, member)`,
/// `DEFINE(symbol, offsetof(struct tag, member))` (include/linux/kbuild.h).
pub(super) fn find_assembler_uses(source: &SourceText, subject: &UsedStruct, found: &mut Uses) {
    let mut add = |at: usize, word: &[u8]| {
        if let Some(member) = subject.member(word) {
            let what = "assembler code reads it; the build generates its offset anew".to_owned();
            found.push(StructUse::new(source.line_of(at), UseDemand::Assembler, vec![member.clone()], what));
        }
    };
    for offset in find_offsets(source, &subject.tag) {
        add(offset.at, offset.member);
    }
    for at in source.token_range() {
        let is_call =
            source.word(at).is_some_and(|word| word.ends_with(b"OFFSET")) && source.is_punct(at + 1, b'(');
        let arguments = if is_call { source.arguments(at + 1) } else { Vec::new() };
        let word = |index: usize| arguments.get(index).and_then(|tokens| source.first_word(tokens.clone()));
        if let (Some(tag), Some(member)) = (word(1), word(2))
            && tag == subject.tag.as_bytes()
        {
            add(at, member);
        }
    }
}
