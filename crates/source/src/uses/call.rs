//! Calls in a text: their arguments, and what stands around a token.

use crate::scan::{SourceText, TokenKind};

impl<'t> SourceText<'t> {
    /// Indices of all tokens.
    pub(super) fn token_range(&self) -> std::ops::Range<usize> {
        0..self.tokens().len()
    }

    /// Whether `struct tag` begins at a token.
    pub(super) fn names_struct(&self, at: usize, tag: &str) -> bool {
        self.word(at) == Some(b"struct") && self.word(at + 1) == Some(tag.as_bytes())
    }

    /// Token ranges of a call's arguments, by the index of its opening bracket.
    pub(super) fn arguments(&self, open: usize) -> Vec<std::ops::Range<usize>> {
        let Some(close) = self.partner(open).filter(|close| *close > open) else { return Vec::new() };
        let mut arguments = Vec::new();
        let (mut first, mut at) = (open + 1, open + 1);
        while at < close {
            if self.is_punct(at, b',') {
                arguments.push(first..at);
                first = at + 1;
            }
            at = self.index_after(at);
        }
        arguments.push(first..close);
        arguments
    }

    /// The token behind this one, or behind the bracket that this one opens.
    pub(super) fn index_after(&self, at: usize) -> usize {
        self.partner(at).filter(|close| *close > at).unwrap_or(at) + 1
    }

    pub(super) fn first_word(&self, tokens: std::ops::Range<usize>) -> Option<&'t [u8]> {
        tokens.into_iter().find_map(|at| self.word(at))
    }

    /// Opening brackets around a token up to its statement's ends, innermost first.
    pub(super) fn enclosing_brackets(&self, at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = at;
        while let Some(before) = at.checked_sub(1) {
            at = before;
            match self.kind(before) {
                Some(TokenKind::Punct(b')' | b']')) => match self.partner(before) {
                    Some(open) if open < before => at = open,
                    _ => break,
                },
                Some(TokenKind::Punct(b';' | b'{' | b'}')) | None => break,
                Some(TokenKind::Punct(b'(')) => found.push(before),
                _ => {}
            }
        }
        found
    }

    /// The word a bracket's call names.
    pub(super) fn callee(&self, open: usize) -> Option<&'t [u8]> {
        self.word(open.checked_sub(1)?)
    }
}
