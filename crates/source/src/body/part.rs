//! A declaration's text at its own level: words, marks, and bracket groups as one part each.

use crate::scan::{SourceText, TokenKind};
use std::ops::Range;

/// One part of a declaration, with its token index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Word(usize),
    Mark(u8),
    /// Opening bracket, its token and the closing token.
    Group(u8, usize, usize),
    /// A literal or number.
    Other,
}

impl Part {
    pub(crate) fn is_group(&self, open: u8) -> bool {
        matches!(self, Self::Group(found, _, _) if *found == open)
    }
}

/// The parts of a token range, comments and preprocessor lines left out.
pub(crate) fn parts(source: &SourceText, tokens: Range<usize>) -> Vec<Part> {
    let mut found = Vec::new();
    let mut at = tokens.start;
    while at < tokens.end {
        let Some(token) = source.token(at) else { break };
        match token.kind {
            TokenKind::Comment | TokenKind::Directive => {}
            TokenKind::Word => found.push(Part::Word(at)),
            TokenKind::Punct(open @ (b'(' | b'[' | b'{')) => {
                let close = source.partner(at).filter(|close| (at..tokens.end).contains(close));
                let close = close.unwrap_or(at);
                found.push(Part::Group(open, at, close));
                at = close;
            }
            TokenKind::Punct(mark) => found.push(Part::Mark(mark)),
            TokenKind::String | TokenKind::Char | TokenKind::Number => found.push(Part::Other),
        }
        at += 1;
    }
    found
}

pub(crate) fn at_commas(parts: &[Part]) -> impl Iterator<Item = &[Part]> {
    parts.split(|part| *part == Part::Mark(b','))
}
