//! Members of a declaration.

use super::attribute;
use super::macros;
use super::statement::{Declarator, DeclaredMembers, MemberShape};
use crate::definition::lossy;
use crate::scan::{SourceText, TokenKind};
use std::ops::Range;

/// One part of a declaration at its own level, with its token index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Word(usize),
    Punct(u8),
    /// Opening bracket, its token and the closing token.
    Group(u8, usize, usize),
    /// A literal or number.
    Other,
}

impl Part {
    fn is_group(&self, open: u8) -> bool {
        matches!(self, Self::Group(found, _, _) if *found == open)
    }
}

/// The parts of a token range, comments and preprocessor lines left out.
fn split_parts(source: &SourceText, tokens: Range<usize>) -> Vec<Part> {
    let mut found = Vec::new();
    let mut at = tokens.start;
    while let Some(kind) = source.kind(at).filter(|_| at < tokens.end) {
        match kind {
            TokenKind::Comment | TokenKind::Directive => {}
            TokenKind::Word => found.push(Part::Word(at)),
            TokenKind::Punct(open @ (b'(' | b'[' | b'{')) => {
                let close = source.partner(at).filter(|close| (at..tokens.end).contains(close)).unwrap_or(at);
                found.push(Part::Group(open, at, close));
                at = close;
            }
            TokenKind::Punct(mark) => found.push(Part::Punct(mark)),
            TokenKind::Quoted | TokenKind::Number => found.push(Part::Other),
        }
        at += 1;
    }
    found
}

/// How many parts there are from `<` to the `>` that closes it.
fn closing_angle(parts: &[Part]) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, part) in parts.iter().enumerate() {
        match part {
            Part::Punct(b'<') => depth += 1,
            Part::Punct(b'>') if depth == 1 => return Some(at + 1),
            Part::Punct(b'>') => depth = depth.saturating_sub(1),
            Part::Punct(b';') => return None,
            _ => {}
        }
    }
    None
}

fn split_at_commas(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    parts.split(|part| *part == Part::Punct(b','))
}

/// Reads the tokens of one statement, with or without its semicolon.
pub(crate) fn parse_declared(source: &SourceText, tokens: Range<usize>) -> DeclaredMembers {
    let mut all = split_parts(source, tokens);
    if let Some(end) = all.iter().position(|part| *part == Part::Punct(b';')) {
        all.truncate(end);
    }
    let reader = Reader { source };
    let all = reader.without_arguments_of_templates(&reader.without_attributes(&all));
    if reader.declares_no_data(&all) {
        return DeclaredMembers::Nothing;
    }
    match all.as_slice() {
        [] => DeclaredMembers::Nothing,
        [Part::Word(word)] => macros::declared_by_word(source.text(*word)),
        [Part::Word(word), Part::Group(b'(', open, close)] if !attribute::is_typeof(source.text(*word)) => {
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
        let Part::Word(word) = part else { continue };
        let text = source.text(*word);
        match all.get(index + 1) {
            Some(Part::Group(b'(', _, close)) if is_attribute_call(text) => {
                found.push(lossy(source.slice(source.span(*word, *close))));
            }
            _ if attribute::is_plain(text) => found.push(lossy(text)),
            _ => {}
        }
    }
    found
}

fn unnamed_aggregate() -> Declarator {
    Declarator::unnamed(MemberShape::Aggregate)
}

fn is_attribute_call(word: &[u8]) -> bool {
    attribute::is_call(word) && !attribute::is_typeof(word)
}

struct Reader<'s, 't> {
    source: &'s SourceText<'t>,
}

impl<'t> Reader<'_, 't> {
    fn text(&self, part: Option<&Part>) -> &'t [u8] {
        match part {
            Some(Part::Word(word)) => self.source.text(*word),
            _ => b"",
        }
    }

    /// Drops attributes, with their arguments.
    fn without_attributes(&self, all: &[Part]) -> Vec<Part> {
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

    /// Drops `<…>` behind names: the commas there part no members. What has no end is a comparison.
    fn without_arguments_of_templates(&self, all: &[Part]) -> Vec<Part> {
        let mut kept: Vec<Part> = Vec::with_capacity(all.len());
        let mut at = 0;
        while let Some(part) = all.get(at) {
            let opens = *part == Part::Punct(b'<') && matches!(kept.last(), Some(Part::Word(_)));
            match all.get(at..).filter(|_| opens).and_then(closing_angle) {
                Some(length) => at += length,
                None => {
                    kept.push(*part);
                    at += 1;
                }
            }
        }
        kept
    }

    /// Whether a declaration of C++ has no member of an object: a static one, another name of a type, a function that the
    /// compiler writes or that is deleted.
    fn declares_no_data(&self, all: &[Part]) -> bool {
        let has_other_storage = matches!(self.text(all.first()), b"using" | b"typedef" | b"friend")
            || all.iter().any(|part| self.text(Some(part)) == b"static");
        let is_written_by_compiler = match all {
            [.., Part::Punct(b'='), last] => matches!(self.text(Some(last)), b"default" | b"delete"),
            _ => false,
        };
        has_other_storage || is_written_by_compiler
    }

    fn read_call(&self, word: usize, arguments: Range<usize>) -> DeclaredMembers {
        let arguments = split_parts(self.source, arguments);
        let last_word = |argument: &[Part]| {
            let words = argument.iter().rev().map(|part| self.text(Some(part)));
            words.into_iter().find(|word| !word.is_empty()).unwrap_or(b"")
        };
        let words: Vec<&[u8]> = split_at_commas(&arguments).map(last_word).collect();
        macros::declared_by_call(self.source.text(word), &words)
    }

    fn read_declaration(&self, all: &[Part]) -> DeclaredMembers {
        if matches!(self.text(all.first()), b"static_assert" | b"_Static_assert") {
            return DeclaredMembers::Nothing;
        }
        match all.iter().position(|part| part.is_group(b'{')) {
            Some(at) if self.is_initialised(&all[..at], &all[at + 1..]) => self.read_plain(&all[..at]),
            Some(at) => self.read_aggregate(&all[..at], &all[at + 1..]),
            None => self.read_plain(all),
        }
    }

    /// Whether braces give a member its value: `int count{1};`. A function has parameters in front of them.
    fn is_initialised(&self, head: &[Part], tail: &[Part]) -> bool {
        let is_other = |part: &Part| part.is_group(b'(') || attribute::is_tag_keyword(self.text(Some(part)));
        tail.is_empty() && matches!(head, [_, .., Part::Word(_)]) && !head.iter().any(is_other)
    }

    /// `struct tag { … } declarators`.
    fn read_aggregate(&self, head: &[Part], tail: &[Part]) -> DeclaredMembers {
        let keyword = head.iter().find(|part| attribute::is_tag_keyword(self.text(Some(part))));
        if keyword.is_none() {
            return DeclaredMembers::Unknown;
        }
        if tail.iter().all(|part| attribute::is_qualifier(self.text(Some(part)))) {
            let is_optional = head.len() > 1 && self.text(head.last()) != self.text(keyword);
            return match self.text(keyword) {
                b"enum" => DeclaredMembers::Nothing,
                _ => DeclaredMembers::Members(vec![Declarator { is_optional, ..unnamed_aggregate() }]),
            };
        }
        collect_declarators(split_at_commas(tail).map(|part| self.read_later(part)))
    }

    /// A declaration without a body of its own.
    fn read_plain(&self, all: &[Part]) -> DeclaredMembers {
        if let [tag, Part::Word(_)] = all {
            match self.text(Some(tag)) {
                b"enum" => return DeclaredMembers::Nothing,
                b"struct" | b"union" => {
                    return DeclaredMembers::Members(vec![unnamed_aggregate().optional()]);
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
    fn has_unknown_prefix(&self, all: &[Part]) -> bool {
        let [Part::Word(first), Part::Word(second), third, ..] = all else { return false };
        let goes_on = matches!(third, Part::Word(_) | Part::Punct(b'*'));
        let (first, second) = (self.source.text(*first), self.source.text(*second));
        let names_type = attribute::is_type_word(second) || attribute::is_tag_keyword(second);
        attribute::is_shouted(first) && (names_type || goes_on)
    }

    /// The declarator behind the type.
    fn read_first(&self, segment: &[Part]) -> Option<Declarator> {
        self.read_declarator(segment, |before| self.name_after_type(before))
    }

    /// A declarator without a type before it.
    fn read_later(&self, segment: &[Part]) -> Option<Declarator> {
        self.read_declarator(segment, |before| self.candidates(before).last().copied())
    }

    fn read_declarator<'p>(
        &self,
        segment: &'p [Part],
        plain_name: impl Fn(&'p [Part]) -> Option<&'t [u8]>,
    ) -> Option<Declarator> {
        // Without the value that members have from their declaration.
        let value = segment.iter().position(|part| *part == Part::Punct(b'='));
        let segment = &segment[..value.unwrap_or(segment.len())];
        let is_colon = |at: usize| segment.get(at) == Some(&Part::Punct(b':'));
        // Not those of `std::string`.
        let colon = (0..segment.len())
            .find(|at| is_colon(*at) && !is_colon(*at + 1) && !at.checked_sub(1).is_some_and(is_colon));
        let (before, has_bits) = (&segment[..colon.unwrap_or(segment.len())], colon.is_some());
        match self.name_in_parentheses(before).or_else(|| plain_name(before)) {
            Some(name) => Some(Declarator::named(name, self.shape(before, has_bits))),
            None => has_bits.then(|| Declarator::unnamed(MemberShape::UnnamedBits)),
        }
    }

    fn shape(&self, before: &[Part], has_bits: bool) -> MemberShape {
        match before.iter().find(|part| part.is_group(b'[')) {
            _ if has_bits => MemberShape::BitField,
            Some(Part::Group(_, open, close))
                if close - open == 1 || (close - open == 2 && self.source.text(open + 1) == b"0") =>
            {
                MemberShape::Flexible
            }
            _ => MemberShape::Field,
        }
    }

    /// The name in `(*name)(…)`, `(*name)[…]` and deeper nests.
    fn name_in_parentheses(&self, parts_here: &[Part]) -> Option<&'t [u8]> {
        let mut here = parts_here.to_vec();
        let mut is_inner = false;
        while let Some(inside) = (0..here.len()).find_map(|at| self.declarator_group(&here, at)) {
            here = inside;
            is_inner = true;
        }
        self.candidates(&here).last().copied().filter(|_| is_inner)
    }

    /// The tokens inside the group at `at`, if that is a declarator rather than arguments.
    fn declarator_group(&self, here: &[Part], at: usize) -> Option<Vec<Part>> {
        let Some(Part::Group(b'(', open, close)) = here.get(at).copied() else { return None };
        if attribute::is_call(self.text(at.checked_sub(1).and_then(|before| here.get(before)))) {
            return None;
        }
        let inside = self.without_attributes(&split_parts(self.source, open + 1..close));
        let points = |part: &Part| matches!(part, Part::Punct(b'*' | b'^'));
        let follows = here.get(at + 1).is_some_and(|next| next.is_group(b'(') || next.is_group(b'['));
        let begins = inside.first().is_some_and(points);
        (begins || (follows && inside.iter().any(points))).then_some(inside)
    }

    /// The name in `type name`, where the type takes at least one word.
    fn name_after_type(&self, before: &[Part]) -> Option<&'t [u8]> {
        let mut has_type = false;
        let mut rest = before;
        while let Some((part, tail)) = rest.split_first() {
            let word = self.text(Some(part));
            let has_group = tail.first().is_some_and(|next| next.is_group(b'('));
            if has_group && attribute::is_typeof(word) || attribute::is_tag_keyword(word) {
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
                [Part::Word(_), Part::Group(b'(', _, _), tail @ ..] | [Part::Word(_), tail @ ..] => tail,
                _ => &[],
            };
        }
        choose_name(&self.candidates(rest))
    }

    /// Words that could be the name: behind the last `*`, before the first `[`, no call, qualifier or type.
    fn candidates(&self, here: &[Part]) -> Vec<&'t [u8]> {
        let end = here.iter().position(|part| part.is_group(b'['));
        let here = here.get(..end.unwrap_or(here.len())).unwrap_or(here);
        let star = here.iter().rposition(|part| *part == Part::Punct(b'*'));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(text: &str) -> Option<Vec<String>> {
        let source = SourceText::new(text.as_bytes());
        match parse_declared(&source, 0..source.tokens().len()) {
            DeclaredMembers::Members(all) => Some(all.into_iter().filter_map(|member| member.name).collect()),
            DeclaredMembers::Nothing => Some(Vec::new()),
            DeclaredMembers::Unknown => None,
        }
    }

    #[test]
    fn members_of_classes_are_read() {
        for (text, names) in [
            ("std::array<std::uint8_t, 4> raw;", &["raw"][..]),
            ("std::map<int, std::vector<std::pair<int, int>>> rows, spare;", &["rows", "spare"]),
            ("std::unique_ptr<int, void (*)(int *)> owner{nullptr, free_int};", &["owner"]),
            ("bool operator==(const key &) const = default;", &[]),
            ("key(const key &) = delete;", &[]),
            ("static constexpr int limit = 3;", &[]),
            ("using pair = std::pair<int, int>;", &[]),
            ("unsigned level : 3, kind : 2;", &["level", "kind"]),
            ("long count = other < 3, rest;", &["count", "rest"]),
        ] {
            assert_eq!(declared(text), Some(names.iter().map(|name| (*name).to_owned()).collect()), "{text}");
        }
    }
}
