//! Bytes to tokens.

use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A block comment, or a line comment without its line end.
    Comment,
    /// A string literal; one that isn't closed ends with its line.
    String,
    /// A character literal; one that isn't closed ends with its line.
    Char,
    /// A preprocessor line with its continuation lines and comments, without the last line end.
    Directive,
    /// An identifier or keyword.
    Word,
    /// A preprocessing number (C11 6.4.8).
    Number,
    /// Any other single byte.
    Punct(u8),
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
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

    /// Whether it is none of the declaration's own text.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self.kind, TokenKind::Comment | TokenKind::Directive)
    }
}

/// Cuts text into tokens. They are in order, don't overlap, and leave out only white space and spliced line ends.
pub fn tokens(bytes: &[u8]) -> Vec<Token> {
    let mut cursor = Cursor { bytes, at: 0, line_is_blank: true };
    let mut found = Vec::new();
    while let Some(token) = cursor.next_token() {
        found.push(token);
    }
    found
}

struct Cursor<'t> {
    bytes: &'t [u8],
    at: usize,
    /// Only white space and comments since the line began: a `#` is a directive here.
    line_is_blank: bool,
}

impl Cursor<'_> {
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
            b'"' => {
                self.literal(b'"');
                TokenKind::String
            }
            b'\'' => {
                self.literal(b'\'');
                TokenKind::Char
            }
            b'0'..=b'9' => {
                self.number();
                TokenKind::Number
            }
            _ if is_word(first) => {
                self.skip_while(is_word);
                TokenKind::Word
            }
            _ => {
                self.at += 1;
                TokenKind::Punct(first)
            }
        }
    }

    fn skip_while(&mut self, wanted: fn(u8) -> bool) {
        while self.peek(0).is_some_and(wanted) {
            self.at += 1;
        }
    }

    fn number(&mut self) {
        while let Some(byte) = self.peek(0) {
            let signed =
                matches!(byte, b'e' | b'E' | b'p' | b'P') && matches!(self.peek(1), Some(b'+' | b'-'));
            if signed {
                self.at += 2;
            } else if is_word(byte) || byte == b'.' {
                self.at += 1;
            } else {
                break;
            }
        }
    }

    /// Passes a comment, if one begins here.
    fn comment(&mut self) -> bool {
        match self.peek(1) {
            Some(b'*') => self.block_comment(),
            Some(b'/') => self.line_rest(),
            _ => return false,
        }
        true
    }

    fn block_comment(&mut self) {
        self.at += 2;
        while let Some(byte) = self.peek(0) {
            if byte == b'*' && self.peek(1) == Some(b'/') {
                self.at += 2;
                return;
            }
            self.at += 1;
        }
    }

    /// Passes everything up to the line's end, spliced lines included.
    fn line_rest(&mut self) {
        while let Some(byte) = self.peek(0) {
            match self.splice() {
                0 if byte == b'\n' || (byte == b'\r' && self.peek(1) == Some(b'\n')) => return,
                0 => self.at += 1,
                splice => self.at += splice,
            }
        }
    }

    fn literal(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => return,
                b'\r' if self.peek(1) == Some(b'\n') => return,
                b'\\' => self.at += self.splice().max(2).min(self.bytes.len() - self.at),
                _ => {
                    self.at += 1;
                    if byte == quote {
                        return;
                    }
                }
            }
        }
    }

    fn directive(&mut self) {
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' => return,
                b'\r' if self.peek(1) == Some(b'\n') => return,
                b'\\' if self.splice() > 0 => self.at += self.splice(),
                b'/' if self.comment() => {}
                b'"' => self.literal(b'"'),
                _ => self.at += 1,
            }
        }
    }
}

/// Bytes of identifiers; other than ASCII counts, as compilers take it.
pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}
