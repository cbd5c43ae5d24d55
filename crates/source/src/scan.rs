//! C text cut into tokens with byte ranges: comments, literals, preprocessor lines, words, and which brackets pair.
//!
//! Nothing is expanded and nothing is rejected: any bytes give tokens, and between two tokens there is nothing but
//! white space and spliced line ends.

mod brackets;
mod directive;
mod lines;
mod token;

pub use directive::{Directive, Literal};
pub use lines::Lines;
pub use token::{Token, TokenKind, tokens};

pub(crate) use token::is_word;

use std::ops::Range;

/// A file's text with its tokens, lines and bracket pairs.
#[derive(Clone, Debug)]
pub struct SourceText<'t> {
    bytes: &'t [u8],
    tokens: Vec<Token>,
    lines: Lines,
    partners: Vec<Option<usize>>,
}

impl<'t> SourceText<'t> {
    /// Scans a file's text.
    pub fn new(bytes: &'t [u8]) -> Self {
        let tokens = token::tokens(bytes);
        let partners = brackets::partners(bytes, &tokens);
        Self { bytes, lines: Lines::new(bytes), tokens, partners }
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
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// The token at an index.
    pub fn token(&self, index: usize) -> Option<Token> {
        self.tokens.get(index).copied()
    }

    /// The closing bracket's token index for an opening one, and the other way round.
    pub fn partner(&self, index: usize) -> Option<usize> {
        self.partners.get(index).copied().flatten()
    }

    /// A token's text, empty if there is no such token.
    pub fn text(&self, index: usize) -> &'t [u8] {
        self.token(index).map_or(b"".as_slice(), |token| self.slice(token.range()))
    }

    /// Bytes of a range, empty if it lies outside.
    pub fn slice(&self, range: Range<usize>) -> &'t [u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// The 1-based line a token begins on; 0 if there is no such token.
    pub fn line_of(&self, index: usize) -> u32 {
        let token = self.token(index);
        token.map_or(0, |token| self.lines.number(token.start))
    }

    /// A word token's text.
    pub(crate) fn word(&self, index: usize) -> Option<&'t [u8]> {
        self.token(index).filter(|token| token.kind == TokenKind::Word)?;
        Some(self.text(index))
    }

    /// Whether a token is this one character.
    pub(crate) fn is_punct(&self, index: usize, punct: u8) -> bool {
        self.token(index).is_some_and(|token| token.kind == TokenKind::Punct(punct))
    }

    /// The directive a token is.
    pub fn directive(&self, index: usize) -> Option<Directive> {
        self.token(index).filter(|token| token.kind == TokenKind::Directive)?;
        Some(Directive::parse(self.text(index)))
    }

    /// The first index from `index` on, below `end`, that is neither a comment nor a directive.
    pub(crate) fn skip_silent(&self, index: usize, end: usize) -> usize {
        let silent = |at: &usize| self.token(*at).is_some_and(|token| token.is_silent());
        (index..end).find(|at| !silent(at)).unwrap_or(end)
    }
}
