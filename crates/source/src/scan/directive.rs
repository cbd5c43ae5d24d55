//! Preprocessor lines and their conditions.

use super::token::{Token, TokenKind, tokens};
use std::fmt;

/// What a preprocessor line does, as far as the layout of a body is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `#if`, `#ifdef`, `#ifndef`.
    If(Literal),
    /// `#elif`, `#elifdef`, `#elifndef`.
    Elif(Literal),
    /// `#else`.
    Else,
    /// `#endif`.
    Endif,
    /// `#define` of this macro.
    Define(String),
    /// Anything else.
    Other,
}

/// A condition that holds or doesn't. `#ifndef X` and `#if !defined(X)` are the same literal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal {
    /// The condition without negation, white space normalised.
    pub atom: String,
    /// Whether it must hold.
    pub holds: bool,
}

impl Literal {
    fn new(atom: String, holds: bool) -> Self {
        Self { atom, holds }
    }

    /// The opposite.
    pub fn negated(&self) -> Self {
        Self::new(self.atom.clone(), !self.holds)
    }

    /// Whether no C compilation of it can hold.
    pub(super) fn is_never(&self) -> bool {
        self.holds && matches!(self.atom.as_str(), "0" | "defined(__cplusplus)")
    }

    fn parse(tokens: &[&[u8]]) -> Self {
        match tokens.split_first() {
            Some((&b"!", rest)) if is_primary(rest) => Self::parse(rest).negated(),
            _ if is_enclosed(tokens) => {
                let inner = tokens.get(1..tokens.len() - 1).unwrap_or_default();
                Self::parse(inner)
            }
            _ => Self::new(joined(tokens), true),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.holds {
            true => f.write_str(&self.atom),
            false if self.atom.contains(' ') => write!(f, "!({})", self.atom),
            false => write!(f, "!{}", self.atom),
        }
    }
}

impl Directive {
    /// Reads a directive token's text.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let hash = text.iter().position(|byte| *byte == b'#');
        let rest = text.get(hash.map_or(0, |at| at + 1)..).unwrap_or_default();
        let all = tokens(rest);
        let mut words = all
            .iter()
            .filter(|token| token.kind != TokenKind::Comment)
            .map(|token: &Token| rest.get(token.range()).unwrap_or_default());
        let keyword = words.next().unwrap_or_default();
        let words: Vec<&[u8]> = words.collect();
        let defined =
            |holds| Literal::new(format!("defined({})", joined(words.get(..1).unwrap_or(&[]))), holds);
        match keyword {
            b"if" => Self::If(Literal::parse(&words)),
            b"ifdef" => Self::If(defined(true)),
            b"ifndef" => Self::If(defined(false)),
            b"elif" => Self::Elif(Literal::parse(&words)),
            b"elifdef" => Self::Elif(defined(true)),
            b"elifndef" => Self::Elif(defined(false)),
            b"else" => Self::Else,
            b"endif" => Self::Endif,
            b"define" => Self::Define(joined(words.get(..1).unwrap_or(&[]))),
            _ => Self::Other,
        }
    }
}

/// Whether these tokens are one operand: a word, a call, or something in parentheses.
fn is_primary(tokens: &[&[u8]]) -> bool {
    match tokens {
        [_] => true,
        [b"defined", _] => true,
        [b"!", rest @ ..] => is_primary(rest),
        [b"(", ..] => is_enclosed(tokens),
        [_, call @ ..] => is_enclosed(call),
        [] => false,
    }
}

/// Whether the first token is a parenthesis that the last one closes.
fn is_enclosed(tokens: &[&[u8]]) -> bool {
    if tokens.first() != Some(&b"(".as_slice()) {
        return false;
    }
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate() {
        match *token {
            b"(" => depth += 1,
            b")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return index + 1 == tokens.len();
        }
    }
    false
}

/// Tokens with a space only where two words would run together, and `defined X` as `defined(X)`.
fn joined(tokens: &[&[u8]]) -> String {
    let mut out = String::new();
    let mut rest = tokens.iter().peekable();
    while let Some(token) = rest.next() {
        let text = String::from_utf8_lossy(token);
        let follows_word = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if follows_word && text.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            out.push(' ');
        }
        out.push_str(&text);
        if *token == b"defined" && rest.peek().is_some_and(|next| **next != b"(") {
            let name = rest.next().copied().unwrap_or_default();
            out.push_str(&format!("({})", String::from_utf8_lossy(name)));
        }
    }
    out
}
