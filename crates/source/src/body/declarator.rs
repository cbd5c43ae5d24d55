//! Members of a declaration.

use super::attribute;
use super::macros;
use super::statement::{Declarator, DeclaredMembers, MemberShape};
use crate::definition::lossy;
use crate::scan::{SourceText, TokenKind};
use std::ops::Range;

/// One part of a declaration at its own level, with its token index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeclaratorPart {
    Word(usize),
    Punct(u8),
    /// Opening bracket, its token and the closing token.
    Group(u8, usize, usize),
    /// A literal or number.
    Other,
}

impl DeclaratorPart {
    fn is_group(&self, open: u8) -> bool {
        matches!(self, Self::Group(found, _, _) if *found == open)
    }
}

/// The parts of a token range, comments and preprocessor lines left out.
fn split_parts(source: &SourceText, tokens: Range<usize>) -> Vec<DeclaratorPart> {
    let mut found = Vec::new();
    let mut at = tokens.start;
    while let Some(kind) = source.kind(at).filter(|_| at < tokens.end) {
        match kind {
            TokenKind::Comment | TokenKind::Directive => {}
            TokenKind::Word => found.push(DeclaratorPart::Word(at)),
            TokenKind::Punct(open @ (b'(' | b'[' | b'{')) => {
                let close = source.partner(at).filter(|close| (at..tokens.end).contains(close)).unwrap_or(at);
                found.push(DeclaratorPart::Group(open, at, close));
                at = close;
            }
            TokenKind::Punct(mark) => found.push(DeclaratorPart::Punct(mark)),
            TokenKind::Quoted | TokenKind::Number => found.push(DeclaratorPart::Other),
        }
        at += 1;
    }
    found
}

fn split_at_commas(parts: &[DeclaratorPart]) -> impl Iterator<Item = &[DeclaratorPart]> {
    parts.split(|part| *part == DeclaratorPart::Punct(b','))
}

/// Reads the tokens of one statement, with or without its semicolon.
pub(crate) fn parse_declared(source: &SourceText, tokens: Range<usize>) -> DeclaredMembers {
    let mut all = split_parts(source, tokens);
    if let Some(end) = all.iter().position(|part| *part == DeclaratorPart::Punct(b';')) {
        all.truncate(end);
    }
    let reader = DeclarationReader { source };
    let all = reader.without_attributes(&all);
    match all.as_slice() {
        [] => DeclaredMembers::Nothing,
        [DeclaratorPart::Word(word)] => macros::declared_by_word(source.text(*word)),
        [DeclaratorPart::Word(word), DeclaratorPart::Group(b'(', open, close)]
            if !attribute::is_typeof(source.text(*word)) =>
        {
            reader.read_call(*word, open + 1..*close)
        }
        all => reader.read_declaration(all),
    }
}

/// The attributes of a declaration's own level, as written.
pub(crate) fn find_attributes(source: &SourceText, tokens: Range<usize>) -> Vec<String> {
    let all = split_parts(source, tokens);
    let mut found = Vec::new();
    for (index, part) in all.iter().enumerate() {
        let DeclaratorPart::Word(word) = part else { continue };
        let text = source.text(*word);
        match all.get(index + 1) {
            Some(DeclaratorPart::Group(b'(', _, close)) if is_attribute_call(text) => {
                found.push(lossy(source.slice(source.span(*word, *close))));
            }
            _ if attribute::is_plain(text) => found.push(lossy(text)),
            _ => {}
        }
    }
    found
}

fn is_attribute_call(word: &[u8]) -> bool {
    attribute::is_call(word) && !attribute::is_typeof(word)
}

struct DeclarationReader<'s, 't> {
    source: &'s SourceText<'t>,
}

impl<'t> DeclarationReader<'_, 't> {
    fn text(&self, part: Option<&DeclaratorPart>) -> &'t [u8] {
        match part {
            Some(DeclaratorPart::Word(word)) => self.source.text(*word),
            _ => b"",
        }
    }

    /// Drops attributes, with their arguments.
    fn without_attributes(&self, all: &[DeclaratorPart]) -> Vec<DeclaratorPart> {
        let mut kept = Vec::with_capacity(all.len());
        let mut rest = all.iter().peekable();
        while let Some(part) = rest.next() {
            let word = self.text(Some(part));
            if is_attribute_call(word) && rest.peek().is_some_and(|next| next.is_group(b'(')) {
                rest.next();
            } else if !attribute::is_plain(word) {
                kept.push(*part);
            }
        }
        kept
    }

    fn read_call(&self, word: usize, arguments: Range<usize>) -> DeclaredMembers {
        let arguments = split_parts(self.source, arguments);
        let last_word = |argument: &[DeclaratorPart]| {
            let words = argument.iter().rev().map(|part| self.text(Some(part)));
            words.into_iter().find(|word| !word.is_empty()).unwrap_or(b"")
        };
        let words: Vec<&[u8]> = split_at_commas(&arguments).map(last_word).collect();
        macros::declared_by_call(self.source.text(word), &words)
    }

    fn read_declaration(&self, all: &[DeclaratorPart]) -> DeclaredMembers {
        if matches!(self.text(all.first()), b"static_assert" | b"_Static_assert") {
            return DeclaredMembers::Nothing;
        }
        let body = all.iter().position(|part| part.is_group(b'{'));
        match body {
            Some(at) => self.read_aggregate(all.get(..at).unwrap_or(&[]), all.get(at + 1..).unwrap_or(&[])),
            None => self.read_plain(all),
        }
    }

    /// `struct tag { … } declarators`.
    fn read_aggregate(&self, head: &[DeclaratorPart], tail: &[DeclaratorPart]) -> DeclaredMembers {
        let keyword = head.iter().find(|part| attribute::is_tag_keyword(self.text(Some(part))));
        if keyword.is_none() {
            return DeclaredMembers::Unknown;
        }
        if tail.iter().all(|part| attribute::is_qualifier(self.text(Some(part)))) {
            let has_tag = head.len() > 1 && self.text(head.last()) != self.text(keyword);
            return match (self.text(keyword), has_tag) {
                (b"enum", _) => DeclaredMembers::Nothing,
                (_, false) => DeclaredMembers::Members(vec![Declarator::unnamed(MemberShape::Aggregate)]),
                (_, true) => {
                    DeclaredMembers::Members(vec![Declarator::unnamed(MemberShape::Aggregate).optional()])
                }
            };
        }
        collect_declarators(split_at_commas(tail).map(|part| self.read_later(part)))
    }

    /// A declaration without a body of its own.
    fn read_plain(&self, all: &[DeclaratorPart]) -> DeclaredMembers {
        if let [tag, DeclaratorPart::Word(_)] = all {
            match self.text(Some(tag)) {
                b"enum" => return DeclaredMembers::Nothing,
                b"struct" | b"union" => {
                    return DeclaredMembers::Members(vec![
                        Declarator::unnamed(MemberShape::Aggregate).optional(),
                    ]);
                }
                _ => {}
            }
        }
        if self.has_unknown_prefix(all) {
            return DeclaredMembers::Unknown;
        }
        let mut segments = split_at_commas(all);
        let first = segments.next().and_then(|segment| self.read_first(segment));
        collect_declarators(std::iter::once(first).chain(segments.map(|segment| self.read_later(segment))))
    }

    /// Whether a macro that may declare members stands first, as in `ACPI_COMMON_HEADER u32 value`.
    fn has_unknown_prefix(&self, all: &[DeclaratorPart]) -> bool {
        let [DeclaratorPart::Word(first), DeclaratorPart::Word(second), third, ..] = all else {
            return false;
        };
        let goes_on = matches!(third, DeclaratorPart::Word(_) | DeclaratorPart::Punct(b'*'));
        let is_ordinary = attribute::is_type_word(self.source.text(*second))
            || attribute::is_tag_keyword(self.source.text(*second))
            || goes_on;
        attribute::is_shouted(self.source.text(*first)) && is_ordinary
    }

    /// The declarator behind the type.
    fn read_first(&self, segment: &[DeclaratorPart]) -> Option<Declarator> {
        self.read_declarator(segment, |before| self.name_after_type(before))
    }

    /// A declarator without a type before it.
    fn read_later(&self, segment: &[DeclaratorPart]) -> Option<Declarator> {
        self.read_declarator(segment, |before| self.candidates(before).last().copied())
    }

    fn read_declarator<'p>(
        &self,
        segment: &'p [DeclaratorPart],
        plain_name: impl Fn(&'p [DeclaratorPart]) -> Option<&'t [u8]>,
    ) -> Option<Declarator> {
        let colon = segment.iter().position(|part| *part == DeclaratorPart::Punct(b':'));
        let (before, has_bits) = (&segment[..colon.unwrap_or(segment.len())], colon.is_some());
        match self.name_in_parentheses(before).or_else(|| plain_name(before)) {
            Some(name) => Some(Declarator::named(name, self.shape(before, has_bits))),
            None => has_bits.then(|| Declarator::unnamed(MemberShape::UnnamedBits)),
        }
    }

    fn shape(&self, before: &[DeclaratorPart], has_bits: bool) -> MemberShape {
        match before.iter().find(|part| part.is_group(b'[')) {
            _ if has_bits => MemberShape::BitField,
            Some(DeclaratorPart::Group(_, open, close))
                if close - open == 1 || (close - open == 2 && self.source.text(open + 1) == b"0") =>
            {
                MemberShape::Flexible
            }
            _ => MemberShape::Field,
        }
    }

    /// The name in `(*name)(…)`, `(*name)[…]` and deeper nests.
    fn name_in_parentheses(&self, parts_here: &[DeclaratorPart]) -> Option<&'t [u8]> {
        let mut here = parts_here.to_vec();
        let mut is_inner = false;
        loop {
            match (0..here.len()).find_map(|at| self.declarator_group(&here, at)) {
                Some(inside) => here = inside,
                None if is_inner => return self.candidates(&here).last().copied(),
                None => return None,
            }
            is_inner = true;
        }
    }

    /// The tokens inside the group at `at`, if that is a declarator rather than arguments.
    fn declarator_group(&self, here: &[DeclaratorPart], at: usize) -> Option<Vec<DeclaratorPart>> {
        let Some(DeclaratorPart::Group(b'(', open, close)) = here.get(at).copied() else { return None };
        if attribute::is_call(self.text(at.checked_sub(1).and_then(|before| here.get(before)))) {
            return None;
        }
        let inside = self.without_attributes(&split_parts(self.source, open + 1..close));
        let points =
            inside.contains(&DeclaratorPart::Punct(b'*')) || inside.contains(&DeclaratorPart::Punct(b'^'));
        let follows = here.get(at + 1).is_some_and(|next| next.is_group(b'(') || next.is_group(b'['));
        let begins = matches!(inside.first(), Some(DeclaratorPart::Punct(b'*' | b'^')));
        (begins || (points && follows)).then_some(inside)
    }

    /// The name in `type name`, where the type takes at least one word.
    fn name_after_type(&self, before: &[DeclaratorPart]) -> Option<&'t [u8]> {
        let mut has_type = false;
        let mut rest = before;
        while let Some((part, tail)) = rest.split_first() {
            let word = self.text(Some(part));
            let names_type =
                attribute::is_typeof(word) && tail.first().is_some_and(|next| next.is_group(b'('));
            if names_type || attribute::is_tag_keyword(word) {
                has_type = true;
                rest = tail.get(1..).unwrap_or(&[]);
            } else if attribute::is_type_word(word) {
                has_type = true;
                rest = tail;
            } else if attribute::is_qualifier(word) {
                rest = tail;
            } else {
                break;
            }
        }
        if !has_type {
            // `name_t` or `MACRO(x)` used as a type.
            rest = match rest {
                [DeclaratorPart::Word(_), DeclaratorPart::Group(b'(', _, _), tail @ ..]
                | [DeclaratorPart::Word(_), tail @ ..] => tail,
                _ => &[],
            };
        }
        choose_name(&self.candidates(rest))
    }

    /// Words that could be the name: behind the last `*`, before the first `[`, no call, qualifier or type
    /// word.
    fn candidates(&self, here: &[DeclaratorPart]) -> Vec<&'t [u8]> {
        let end = here.iter().position(|part| part.is_group(b'['));
        let here = here.get(..end.unwrap_or(here.len())).unwrap_or(here);
        let star = here.iter().rposition(|part| *part == DeclaratorPart::Punct(b'*'));
        let here = here.get(star.map_or(0, |at| at + 1)..).unwrap_or(&[]);
        let is_name = |at: usize| {
            let word = self.text(here.get(at));
            let is_call = here.get(at + 1).is_some_and(|next| next.is_group(b'('));
            let is_type = attribute::is_type_word(word) || attribute::is_qualifier(word);
            !word.is_empty() && !is_call && !is_type
        };
        (0..here.len()).filter(|at| is_name(*at)).map(|at| self.text(here.get(at))).collect()
    }
}

/// One of several words: an attribute macro we don't know begins with two underscores.
fn choose_name<'t>(candidates: &[&'t [u8]]) -> Option<&'t [u8]> {
    let plain: Vec<&&[u8]> = candidates.iter().filter(|word| !word.starts_with(b"__")).collect();
    match plain.as_slice() {
        [name] => Some(name),
        _ => candidates.last().copied(),
    }
}

fn collect_declarators(found: impl Iterator<Item = Option<Declarator>>) -> DeclaredMembers {
    found.collect::<Option<Vec<_>>>().map_or(DeclaredMembers::Unknown, DeclaredMembers::Members)
}
