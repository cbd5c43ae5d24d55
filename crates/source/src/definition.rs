//! Where a struct or union is defined.

use crate::body::attribute;
use crate::edits::Edit;
use crate::refusal::{Result, SourceRefusal};
use crate::scan::{SourceText, TokenKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// More words than this before `{` are no struct head.
const HEAD_WORDS: usize = 12;

/// More tokens than this behind `}` are no attributes.
const TAIL_TOKENS: usize = 60;

/// More tokens than this between a class's name and `{` are no list of bases.
const BASE_TOKENS: usize = 60;

/// A definition `struct tag { … } tail;` in a [`SourceText`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructDefinition {
    /// `struct tag`'s name, if it has one.
    pub tag: Option<String>,
    /// Names a `typedef` gives it.
    pub typedefs: Vec<String>,
    /// Whether it is a union.
    pub is_union: bool,
    /// 1-based line debug info gives it: of the tag, else of `struct`.
    pub line: u32,
    /// Attributes before the body and behind it, such as `__packed`.
    pub attributes: Vec<String>,
    /// Token index of `struct` or `union`.
    pub(crate) keyword: usize,
    /// Token index of the opening brace.
    pub(crate) open: usize,
    /// Token index of the closing brace.
    pub(crate) close: usize,
}

/// Which definition is wanted. Debug info knows a name, a line or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionQuery {
    /// Tag or typedef name.
    pub name: Option<String>,
    /// 1-based line of `DW_AT_decl_line`; may be off if the file has changed.
    pub line: Option<u32>,
}

impl DefinitionQuery {
    /// Asks by name alone.
    pub fn for_name(name: &str) -> Self {
        Self { name: Some(name.to_owned()), line: None }
    }
    /// Adds the line where debug info has it.
    pub fn with_line(self, line: Option<u32>) -> Self {
        Self { line, ..self }
    }
}

impl StructDefinition {
    /// The bytes of the definition with what stands behind its body, such as attributes and the semicolon.
    pub fn range(&self, source: &SourceText<'_>) -> Range<usize> {
        let tail = (self.close..source.tokens().len()).take(TAIL_TOKENS);
        let end = tail.into_iter().find(|at| source.is_punct(*at, b';')).unwrap_or(self.close);
        source.span(self.keyword, end)
    }

    /// Where the names of its members stand in the body, those of members without a name of their own among them: numbers
    /// that grow from the first to the last. Of several members of a name the first counts.
    pub fn member_places(&self, source: &SourceText<'_>) -> BTreeMap<String, usize> {
        let mut places = BTreeMap::new();
        let mut at = self.open + 1;
        let mut last = self.open;
        while at < self.close {
            let is_parameters = source.is_punct(at, b'(') && source.is_punct(last, b')');
            if is_parameters && let Some(close) = source.partner(at).filter(|close| *close > at) {
                at = close;
            } else if source.kind(at) == Some(TokenKind::Word) && ends_declarator(source, at) {
                places.entry(lossy(source.text(at))).or_insert(at);
            }
            if source.kind(at) != Some(TokenKind::Comment) {
                last = at;
            }
            at += 1;
        }
        places
    }

    /// The bytes of the comment of kernel-doc (`/**`) above it, if it has one.
    pub fn doc_comment(&self, source: &SourceText<'_>) -> Option<Range<usize>> {
        let before = self.keyword.checked_sub(1)?;
        let is_typedef = source.word(before) == Some(b"typedef");
        let comment = if is_typedef { before.checked_sub(1)? } else { before };
        let is_doc =
            source.kind(comment) == Some(TokenKind::Comment) && source.text(comment).starts_with(b"/**");
        is_doc.then(|| source.span(comment, comment))
    }

    /// An edit that writes an attribute behind the body.
    pub fn attribute(&self, source: &SourceText<'_>, text: &str) -> Edit {
        let end = source.token(self.close).map_or(0, |close| close.end);
        Edit { range: end..end, replacement: text.as_bytes().to_vec() }
    }
}

impl SourceText<'_> {
    /// All definitions with a body, in order; those inside others too.
    pub fn definitions(&self) -> Vec<StructDefinition> {
        let starts = (0..self.tokens().len()).filter(|index| is_keyword(self, *index));
        starts.filter_map(|index| definition_at(self, index)).collect()
    }

    /// The one definition that a query fits.
    /// Fails if there is none, or the line doesn't show which of several it is.
    pub fn find(&self, query: &DefinitionQuery) -> Result<StructDefinition> {
        let mut found = self.candidates(query);
        match (found.len(), &query.name, query.line) {
            (1, _, _) => Ok(found.remove(0)),
            (0, Some(name), _) => Err(SourceRefusal::NotFound(name.clone())),
            (0, None, line) => Err(SourceRefusal::NothingAtLine(line.unwrap_or(0))),
            _ => {
                let lines = found.iter().map(|definition| definition.line).collect();
                Err(SourceRefusal::Ambiguous(query.name.clone().unwrap_or_default(), lines))
            }
        }
    }

    /// All definitions of the name; those only whose head the line hits, if there are any.
    pub fn candidates(&self, query: &DefinitionQuery) -> Vec<StructDefinition> {
        let named = query.name.as_ref().map_or_else(|| self.definitions(), |name| self.find_named(name));
        let is_hit = |found: &&StructDefinition| {
            let head = self.line_of(found.keyword)..=self.line_of(found.open);
            query.line.is_some_and(|line| head.contains(&line))
        };
        let hits: Vec<StructDefinition> = named.iter().filter(is_hit).cloned().collect();
        if hits.is_empty() && query.name.is_some() { named } else { hits }
    }

    /// Definitions with that tag, else with that typedef name.
    fn find_named(&self, name: &str) -> Vec<StructDefinition> {
        let is_tagged = |definition: &StructDefinition| definition.tag.as_deref() == Some(name);
        let (tagged, mut others): (Vec<_>, Vec<_>) = self.definitions().into_iter().partition(is_tagged);
        others.retain(|definition| definition.typedefs.iter().any(|typedef| typedef == name));
        if tagged.is_empty() { others } else { tagged }
    }
}

impl StructDefinition {
    /// The name to call it by in messages.
    pub fn name(&self) -> &str {
        self.tag.as_ref().or(self.typedefs.first()).map_or("(anonymous)", String::as_str)
    }
}

/// Whether a word is a declarator's name: what ends one, or an array's bound, stands behind it and its attributes.
fn ends_declarator(source: &SourceText<'_>, word: usize) -> bool {
    let mut at = word;
    for _ in 0..HEAD_WORDS {
        at = skip_comments(source, at + 1);
        match (source.kind(at), attribute_end(source, at)) {
            (Some(TokenKind::Punct(b';' | b',' | b'[' | b':' | b')')), _) => return true,
            (Some(TokenKind::Word), Some(end)) => at = end,
            _ => return false,
        }
    }
    false
}

fn is_keyword(source: &SourceText, index: usize) -> bool {
    matches!(source.word(index), Some(b"struct" | b"union"))
}

/// Reads a definition whose `struct` or `union` stands at a token.
pub(crate) fn definition_at(source: &SourceText, keyword: usize) -> Option<StructDefinition> {
    let mut attributes = Vec::new();
    let (tag, open) = parse_head(source, keyword, &mut attributes)?;
    let close = source.partner(open).filter(|close| *close > open)?;
    let names = parse_tail(source, close, &mut attributes);
    Some(StructDefinition {
        tag: tag.map(|tag| lossy(source.text(tag))),
        typedefs: if is_typedef(source, keyword) { names } else { Vec::new() },
        is_union: source.text(keyword) == b"union",
        line: source.line_of(tag.unwrap_or(keyword)),
        attributes,
        keyword,
        open,
        close,
    })
}

/// The tag and the opening brace behind a keyword. Adds the attributes between.
fn parse_head(source: &SourceText, start: usize, found: &mut Vec<String>) -> Option<(Option<usize>, usize)> {
    let (mut tag, mut at) = (None, start + 1);
    for _ in 0..HEAD_WORDS {
        at = skip_comments(source, at);
        match (source.kind(at)?, attribute_end(source, at)) {
            (TokenKind::Punct(b'{'), _) => return Some((tag, at)),
            (TokenKind::Word, Some(end)) if source.is_punct(end, b'(') => return None,
            (TokenKind::Word, Some(end)) => {
                found.push(lossy(source.slice(source.span(at, end))));
                at = end;
            }
            (TokenKind::Word, None) => tag = Some(at),
            (TokenKind::Punct(b':'), _) if tag.is_some() => return Some((tag, behind_bases(source, at)?)),
            _ => return None,
        }
        at += 1;
    }
    None
}

/// The opening brace behind the classes that one is derived from: `: public base<int>, other`.
fn behind_bases(source: &SourceText, colon: usize) -> Option<usize> {
    let mut at = colon;
    for _ in 0..BASE_TOKENS {
        at = skip_comments(source, at + 1);
        match source.kind(at)? {
            TokenKind::Punct(b'{') => return Some(at),
            TokenKind::Word | TokenKind::Punct(b':' | b',' | b'<' | b'>' | b'*' | b'&') => {}
            _ => return None,
        }
    }
    None
}

/// The names behind a closing brace. Adds the attributes among them.
fn parse_tail(source: &SourceText, close: usize, attributes: &mut Vec<String>) -> Vec<String> {
    let (mut names, mut at) = (Vec::new(), close);
    loop {
        at = skip_comments(source, at + 1);
        match (source.kind(at), attribute_end(source, at)) {
            (Some(TokenKind::Word), Some(end)) => {
                attributes.push(lossy(source.slice(source.span(at, end))));
                at = end;
            }
            (Some(TokenKind::Word), None) if !is_keyword(source, at) => names.push(lossy(source.text(at))),
            (Some(TokenKind::Punct(b'[')), _) => at = source.partner(at).unwrap_or(at).max(at),
            (Some(TokenKind::Punct(b',' | b'*')), _) => {}
            _ => return names,
        }
    }
}

/// The last token of an attribute: the bracket that closes its arguments, if any does.
fn attribute_end(source: &SourceText, at: usize) -> Option<usize> {
    let open = skip_comments(source, at + 1);
    if source.is_punct(open, b'(') {
        return Some(source.partner(open).unwrap_or(open).max(open));
    }
    attribute::is_plain(source.text(at)).then_some(at)
}

/// Whether `typedef` stands before `struct`, qualifiers apart.
fn is_typedef(source: &SourceText, keyword: usize) -> bool {
    for index in (0..keyword).rev().take(HEAD_WORDS) {
        match (source.kind(index), source.text(index)) {
            (Some(TokenKind::Comment), _) | (_, b"const" | b"volatile" | b"__extension__") => {}
            (_, text) => return text == b"typedef",
        }
    }
    false
}

fn skip_comments(source: &SourceText, mut at: usize) -> usize {
    while source.kind(at) == Some(TokenKind::Comment) {
        at += 1;
    }
    at
}

/// Text for messages and names; bytes that aren't UTF-8 are replaced.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
