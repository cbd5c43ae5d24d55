//! C text cut into tokens with byte ranges: comments, literals, preprocessor lines, words, bracket pairs.
//!
//! Nothing is expanded and nothing is rejected: any bytes give tokens, and between two tokens there is
//! nothing but white space and spliced line ends.

mod brackets;
mod directive;
mod lines;
mod token;

pub use directive::{ConditionLiteral, Directive};
pub use lines::LineIndex;
pub use token::{Token, TokenKind, tokenize};

pub(crate) use lines::line_number;
pub(crate) use token::is_word;

use std::ops::Range;

/// A file's text with its tokens, lines and bracket pairs.
#[derive(Clone, Debug)]
pub struct SourceText<'t> {
    bytes: &'t [u8],
    tokens: Vec<Token>,
    lines: LineIndex,
    partners: Vec<Option<usize>>,
}

impl<'t> SourceText<'t> {
    /// Scans a file's text.
    pub fn new(bytes: &'t [u8]) -> Self {
        let tokens = token::tokenize(bytes);
        let partners = brackets::pair_brackets(bytes, &tokens);
        Self { bytes, lines: LineIndex::new(bytes), tokens, partners }
    }

    /// The whole text.
    pub fn bytes(&self) -> &'t [u8] {
        self.bytes
    }

    /// All tokens in order.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Where lines begin.
    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The token at an index.
    pub fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    /// The closing bracket's token index for an opening one, and vice versa.
    pub fn partner(&self, index: usize) -> Option<usize> {
        self.partners.get(index).copied().flatten()
    }

    /// A token's text, empty if there is no such token.
    pub fn text(&self, index: usize) -> &'t [u8] {
        self.slice(self.span(index, index))
    }

    /// Bytes of a range, empty if it lies outside.
    pub fn slice(&self, range: Range<usize>) -> &'t [u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// The 1-based line a token begins on; the text's last line behind the last token.
    pub fn line_of(&self, index: usize) -> u32 {
        self.lines.number(self.start(index))
    }

    /// The directive a token is.
    pub fn directive(&self, index: usize) -> Option<Directive> {
        (self.kind(index) == Some(TokenKind::Directive)).then(|| Directive::parse(self.text(index)))
    }

    pub(crate) fn kind(&self, index: usize) -> Option<TokenKind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// Where a token begins; the text's end behind the last token.
    pub(crate) fn start(&self, index: usize) -> usize {
        self.tokens.get(index).map_or(self.bytes.len(), |token| token.start)
    }

    /// The bytes from a token's first to another's last.
    pub(crate) fn span(&self, first: usize, last: usize) -> Range<usize> {
        let start = self.start(first);
        start..self.tokens.get(last).map_or(start, |token| token.end)
    }

    /// A word token's text.
    pub(crate) fn word(&self, index: usize) -> Option<&'t [u8]> {
        (self.kind(index) == Some(TokenKind::Word)).then(|| self.text(index))
    }

    /// Whether a token is this one character.
    pub(crate) fn is_punct(&self, index: usize, punct: u8) -> bool {
        self.kind(index) == Some(TokenKind::Punct(punct))
    }

    /// The first index from `index` on, below `end`, that is neither a comment nor a directive.
    pub(crate) fn skip_silent(&self, index: usize, end: usize) -> usize {
        let silent = |at: &usize| matches!(self.kind(*at), Some(TokenKind::Comment | TokenKind::Directive));
        (index..end).find(|at| !silent(at)).unwrap_or(end)
    }

    /// The text of a 0-based line, with its end.
    pub(crate) fn line(&self, line: usize) -> &'t [u8] {
        self.slice(self.lines.bytes(line))
    }

    pub(crate) fn is_blank(&self, line: usize) -> bool {
        self.line(line).trim_ascii().is_empty()
    }

    /// The blanks at the beginning of a byte's line.
    pub(crate) fn indent(&self, offset: usize) -> &'t [u8] {
        let line = self.line(self.lines.index(offset));
        let length = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        line.get(..length).unwrap_or_default()
    }

    /// Whether only white space stands before a byte on its line.
    pub(crate) fn begins_line(&self, offset: usize) -> bool {
        self.slice(self.lines.start(self.lines.index(offset))..offset).iter().all(u8::is_ascii_whitespace)
    }
}
