//! Where a struct or union is defined.

use crate::body::attribute;
use crate::refusal::{LineList, Refusal};
use crate::scan::{SourceText, TokenKind};
use std::ops::Range;

/// More words than this before `{` are no struct head.
const HEAD_WORDS: usize = 12;

/// A definition `struct tag { … } tail;` in a [`SourceText`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
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
pub struct Query {
    /// Tag or typedef name.
    pub name: Option<String>,
    /// 1-based line of `DW_AT_decl_line`; may be off if the file has changed.
    pub line: Option<u32>,
}

impl Query {
    /// Asks by name alone.
    pub fn named(name: &str) -> Self {
        Self { name: Some(name.to_owned()), line: None }
    }

    /// Asks by line alone.
    pub fn at(line: u32) -> Self {
        Self { name: None, line: Some(line) }
    }

    /// Adds the line where debug info has it.
    pub fn with_line(self, line: Option<u32>) -> Self {
        Self { line, ..self }
    }
}

impl SourceText<'_> {
    /// All definitions with a body, in order; those inside others too.
    pub fn definitions(&self) -> Vec<Definition> {
        let starts = (0..self.tokens().len()).filter(|index| is_keyword(self, *index));
        starts.filter_map(|index| definition_at(self, index)).collect()
    }

    /// The definition asked for.
    ///
    /// # Errors
    /// If there is none, or the line doesn't tell which of several it is.
    pub fn find(&self, query: &Query) -> Result<Definition, Refusal> {
        let mut found = self.candidates(query);
        match (found.len(), &query.name, query.line) {
            (1, _, _) => Ok(found.remove(0)),
            (0, Some(name), _) => Err(Refusal::NotFound { name: name.clone() }),
            (0, None, line) => Err(Refusal::NothingAtLine { line: line.unwrap_or(0) }),
            _ => Err(Refusal::Ambiguous {
                name: query.name.clone().unwrap_or_default(),
                lines: LineList(found.iter().map(|definition| definition.line).collect()),
            }),
        }
    }

    /// Every definition that could be meant: those of the name, narrowed by the line if it hits one of them.
    pub fn candidates(&self, query: &Query) -> Vec<Definition> {
        let named = match &query.name {
            Some(name) => self.named(name),
            None => self.definitions(),
        };
        let at_line = |definition: &&Definition| query.line.is_some_and(|line| self.covers(definition, line));
        let hits: Vec<Definition> = named.iter().filter(at_line).cloned().collect();
        if hits.is_empty() && query.name.is_some() { named } else { hits }
    }

    /// Definitions with that tag, else with that typedef name.
    fn named(&self, name: &str) -> Vec<Definition> {
        let all = self.definitions();
        let tagged = |definition: &&Definition| definition.tag.as_deref() == Some(name);
        let tagged: Vec<Definition> = all.iter().filter(tagged).cloned().collect();
        if !tagged.is_empty() {
            return tagged;
        }
        all.into_iter()
            .filter(|definition| definition.typedefs.iter().any(|typedef| typedef == name))
            .collect()
    }

    /// Whether a line is part of a definition's head.
    fn covers(&self, definition: &Definition, line: u32) -> bool {
        (self.line_of(definition.keyword)..=self.line_of(definition.open)).contains(&line)
    }
}

impl Definition {
    /// The name to call it by in messages.
    pub fn name(&self) -> &str {
        let typedef = self.typedefs.first().map(String::as_str);
        self.tag.as_deref().or(typedef).unwrap_or("(anonymous)")
    }

    /// Byte range between the braces.
    pub fn inside(&self, source: &SourceText) -> Range<usize> {
        let end_of_open = source.token(self.open).map_or(0, |token| token.end);
        let close = source.token(self.close).map_or(end_of_open, |token| token.start);
        end_of_open..close
    }
}

fn is_keyword(source: &SourceText, index: usize) -> bool {
    matches!(source.word(index), Some(b"struct" | b"union"))
}

/// Reads a definition whose `struct` or `union` stands at a token.
pub(crate) fn definition_at(source: &SourceText, keyword: usize) -> Option<Definition> {
    let head = Head::read(source, keyword)?;
    let close = source.partner(head.open).filter(|close| *close > head.open)?;
    let tail = Tail::read(source, keyword, close);
    let mut attributes = head.attributes;
    attributes.extend(tail.attributes);
    Some(Definition {
        tag: head.tag.map(|tag| lossy(source.text(tag))),
        typedefs: tail.typedefs,
        is_union: source.text(keyword) == b"union",
        line: source.line_of(head.tag.unwrap_or(keyword)),
        attributes,
        keyword,
        open: head.open,
        close,
    })
}

/// What stands before the opening brace.
struct Head {
    tag: Option<usize>,
    attributes: Vec<String>,
    open: usize,
}

impl Head {
    fn read(source: &SourceText, keyword: usize) -> Option<Self> {
        let mut head = Self { tag: None, attributes: Vec::new(), open: keyword };
        let mut at = keyword + 1;
        for _ in 0..HEAD_WORDS {
            at = skip_comments(source, at);
            match source.token(at)?.kind {
                TokenKind::Punct(b'{') => {
                    head.open = at;
                    return Some(head);
                }
                TokenKind::Word => at = head.word(source, at)?,
                _ => return None,
            }
        }
        None
    }

    /// Takes an attribute or the tag; gives the next token.
    fn word(&mut self, source: &SourceText, at: usize) -> Option<usize> {
        let next = skip_comments(source, at + 1);
        if source.is_punct(next, b'(') {
            let close = source.partner(next).filter(|close| *close > next)?;
            self.attributes.push(span_text(source, at, close));
            return Some(close + 1);
        }
        if attribute::is_plain(source.text(at)) {
            self.attributes.push(lossy(source.text(at)));
        } else {
            self.tag = Some(at);
        }
        Some(at + 1)
    }
}

/// What stands behind the closing brace.
#[derive(Default)]
struct Tail {
    typedefs: Vec<String>,
    attributes: Vec<String>,
}

impl Tail {
    fn read(source: &SourceText, keyword: usize, close: usize) -> Self {
        let mut tail = Self::default();
        let mut names = Vec::new();
        let mut at = skip_comments(source, close + 1);
        while let Some(token) = source.token(at) {
            let next = skip_comments(source, at + 1);
            match token.kind {
                TokenKind::Word if source.is_punct(next, b'(') => {
                    let end = source.partner(next).unwrap_or(next).max(next);
                    tail.attributes.push(span_text(source, at, end));
                    at = skip_comments(source, end + 1);
                    continue;
                }
                TokenKind::Word if attribute::is_plain(source.text(at)) => {
                    tail.attributes.push(lossy(source.text(at)));
                }
                TokenKind::Word if is_keyword(source, at) => break,
                TokenKind::Word => names.push(lossy(source.text(at))),
                TokenKind::Punct(b',' | b'*') => {}
                TokenKind::Punct(b'[') => {
                    at = skip_comments(source, source.partner(at).unwrap_or(at).max(at) + 1);
                    continue;
                }
                _ => break,
            }
            at = next;
        }
        if is_typedef(source, keyword) {
            tail.typedefs = names;
        }
        tail
    }
}

/// Whether `typedef` stands before `struct`, qualifiers apart.
fn is_typedef(source: &SourceText, keyword: usize) -> bool {
    let before = (0..keyword).rev().take(HEAD_WORDS);
    for index in before {
        match (source.token(index).map(|token| token.kind), source.text(index)) {
            (Some(TokenKind::Comment), _) | (_, b"const" | b"volatile" | b"__extension__") => {}
            (_, text) => return text == b"typedef",
        }
    }
    false
}

fn skip_comments(source: &SourceText, mut at: usize) -> usize {
    while source.token(at).is_some_and(|token| token.kind == TokenKind::Comment) {
        at += 1;
    }
    at
}

fn span_text(source: &SourceText, first: usize, last: usize) -> String {
    let start = source.token(first).map_or(0, |token| token.start);
    let end = source.token(last).map_or(start, |token| token.end);
    lossy(source.slice(start..end))
}

/// Text for messages and names; bytes that aren't UTF-8 are replaced.
pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
