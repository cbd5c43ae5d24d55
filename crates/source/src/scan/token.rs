//! Bytes to tokens.

use std::ops::Range;

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A block comment, or a line comment without its line end.
    Comment,
    /// A string or character literal; one that isn't closed ends with its line.
    Quoted,
    /// A preprocessor line with its continuation lines and comments, without the last line end.
    Directive,
    /// An identifier or keyword.
    Word,
    /// A preprocessing number (C11 6.4.8).
    Number,
    /// Any other single byte.
    Punct(u8),
}

/// A token and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Offset of its first byte.
    pub start: usize,
    /// Offset behind its last byte.
    pub end: usize,
}

impl Token {
    /// Its bytes' range.
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// Cuts text into tokens in order, without overlap. Only white space and spliced line ends are left out.
pub fn tokenize(bytes: &[u8]) -> Vec<Token> {
    let mut cursor = TokenCursor { bytes, at: 0, line_is_blank: true };
    let mut found = Vec::new();
    while let Some(token) = cursor.next_token() {
        found.push(token);
    }
    found
}

struct TokenCursor<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Only white space and comments since the line began: a `#` is a directive here.
    line_is_blank: bool,
}

impl TokenCursor<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn next_token(&mut self) -> Option<Token> {
        self.skip_space();
        let start = self.at;
        let kind = self.kind(self.peek(0)?);
        self.line_is_blank &= kind == TokenKind::Comment;
        Some(Token { kind, start, end: self.at })
    }

    fn skip_space(&mut self) {
        while let Some(byte) = self.peek(0) {
            let splice = self.splice();
            if splice > 0 {
                self.at += splice;
            } else if byte.is_ascii_whitespace() || byte == 0x0b {
                self.line_is_blank |= byte == b'\n';
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// Length of a backslash and line end here, else 0.
    fn splice(&self) -> usize {
        match (self.peek(0), self.peek(1), self.peek(2)) {
            (Some(b'\\'), Some(b'\n'), _) => 2,
            (Some(b'\\'), Some(b'\r'), Some(b'\n')) => 3,
            _ => 0,
        }
    }

    fn kind(&mut self, first: u8) -> TokenKind {
        match first {
            b'/' if self.comment() => TokenKind::Comment,
            b'#' if self.line_is_blank => {
                self.directive();
                TokenKind::Directive
            }
            b'"' | b'\'' => {
                self.literal(first);
                TokenKind::Quoted
            }
            b'0'..=b'9' => {
                self.number();
                TokenKind::Number
            }
            _ if is_word(first) => {
                while self.peek(0).is_some_and(is_word) {
                    self.at += 1;
                }
                TokenKind::Word
            }
            _ => {
                self.at += 1;
                TokenKind::Punct(first)
            }
        }
    }

    fn number(&mut self) {
        while let Some(byte) = self.peek(0) {
            self.at += match (byte, self.peek(1)) {
                (b'e' | b'E' | b'p' | b'P', Some(b'+' | b'-')) => 2,
                _ if is_word(byte) || byte == b'.' => 1,
                _ => break,
            };
        }
    }

    /// Passes a comment, if one begins here.
    fn comment(&mut self) -> bool {
        match self.peek(1) {
            Some(b'*') => {
                let rest = self.bytes.get(self.at + 2..).unwrap_or_default();
                let end = memchr::memmem::find(rest, b"*/").map_or(rest.len(), |at| at + 2);
                self.at += 2 + end;
            }
            Some(b'/') => {
                while self.on_line().is_some() {
                    self.at += self.splice().max(1);
                }
            }
            _ => return false,
        }
        true
    }

    /// The byte here unless the line ends, which a spliced one doesn't.
    fn on_line(&self) -> Option<u8> {
        match (self.peek(0)?, self.peek(1)) {
            (b'\n', _) | (b'\r', Some(b'\n')) => None,
            (byte, _) => Some(byte),
        }
    }

    fn literal(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.on_line() {
            let length = if byte == b'\\' { self.splice().max(2) } else { 1 };
            self.at += length.min(self.bytes.len() - self.at);
            if byte == quote {
                return;
            }
        }
    }

    fn directive(&mut self) {
        while let Some(byte) = self.on_line() {
            match byte {
                b'/' if self.comment() => {}
                b'"' => self.literal(b'"'),
                _ => self.at += self.splice().max(1),
            }
        }
    }
}

/// Bytes of identifiers; other than ASCII counts, as compilers take it.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
