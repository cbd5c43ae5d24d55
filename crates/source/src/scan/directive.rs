//! Preprocessor lines and their conditions.

use super::token::{TokenKind, tokenize};
use std::fmt;

/// Conditions of more tokens are taken as they stand.
const MAX_TOKENS: usize = 1000;

/// Kinds of preprocessor lines, as far as the layout of a body is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// `#if`, `#ifdef`, `#ifndef`.
    If(ConditionLiteral),
    /// `#elif`, `#elifdef`, `#elifndef`.
    Elif(ConditionLiteral),
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
pub struct ConditionLiteral {
    /// The condition without negation, white space normalised.
    pub atom: String,
    /// Whether it must hold.
    pub holds: bool,
}

impl ConditionLiteral {
    fn new(atom: String, holds: bool) -> Self {
        Self { atom, holds }
    }

    /// The opposite.
    pub fn negated(&self) -> Self {
        Self::new(self.atom.clone(), !self.holds)
    }

    /// Whether it requires one macro to be defined and nothing else.
    pub(crate) fn is_definedness(&self) -> bool {
        let name = self.atom.strip_prefix("defined(").and_then(|rest| rest.strip_suffix(')'));
        name.is_some_and(|name| name.chars().all(|c| c.is_alphanumeric() || c == '_'))
    }

    /// Reads a condition's tokens without a negation of the whole. No recursion: depth is the input's choice.
    fn parse(mut tokens: &[&[u8]]) -> Self {
        let mut holds = true;
        if tokens.len() > MAX_TOKENS {
            return Self::new(join_tokens(tokens), holds);
        }
        loop {
            match tokens {
                [b"!", rest @ ..] if is_primary(rest) => {
                    holds = !holds;
                    tokens = rest;
                }
                [_, inner @ .., _] if is_enclosed(tokens) => tokens = inner,
                _ => return Self::new(join_tokens(tokens), holds),
            }
        }
    }
}

impl fmt::Display for ConditionLiteral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.holds {
            true => f.write_str(&self.atom),
            false if self.atom.contains(|c: char| !(c.is_alphanumeric() || "_()".contains(c))) => {
                write!(f, "!({})", self.atom)
            }
            false => write!(f, "!{}", self.atom),
        }
    }
}

impl Directive {
    /// Reads a directive token's text.
    pub(crate) fn parse(text: &[u8]) -> Self {
        let hash = text.iter().position(|byte| *byte == b'#');
        let rest = text.get(hash.map_or(0, |at| at + 1)..).unwrap_or_default();
        let tokens = tokenize(rest).into_iter().filter(|token| token.kind != TokenKind::Comment);
        let mut words = tokens.map(|token| rest.get(token.range()).unwrap_or_default());
        let keyword = words.next().unwrap_or_default();
        let words: Vec<&[u8]> = words.collect();
        let name = || join_tokens(words.get(..1).unwrap_or(&[]));
        let defined = |holds| ConditionLiteral::new(format!("defined({})", name()), holds);
        match keyword {
            b"if" => Self::If(ConditionLiteral::parse(&words)),
            b"ifdef" => Self::If(defined(true)),
            b"ifndef" => Self::If(defined(false)),
            b"elif" => Self::Elif(ConditionLiteral::parse(&words)),
            b"elifdef" => Self::Elif(defined(true)),
            b"elifndef" => Self::Elif(defined(false)),
            b"else" => Self::Else,
            b"endif" => Self::Endif,
            b"define" => Self::Define(name()),
            _ => Self::Other,
        }
    }
}

/// Whether these tokens are one operand: a word, a call, something in parentheses, or a negation of those.
fn is_primary(tokens: &[&[u8]]) -> bool {
    let signs = tokens.iter().take_while(|token| **token == b"!").count();
    match tokens.get(signs..).unwrap_or_default() {
        [_] | [b"defined", _] => true,
        [b"(", ..] => is_enclosed(tokens.get(signs..).unwrap_or_default()),
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
fn join_tokens(tokens: &[&[u8]]) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(line: &str) -> String {
        match Directive::parse(line.as_bytes()) {
            Directive::If(literal) | Directive::Elif(literal) => literal.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn equal_conditions_read_equal() {
        for line in [
            "#ifndef A",
            "# ifndef A /* why */",
            "#if !defined(A)",
            "#if !defined A",
            "#if !(defined(A))",
            "#if !!!defined(A)",
            "#\tif \\\n ! defined ( A ) // why",
            "#elif (!defined(A))",
            "#elifndef A",
        ] {
            assert_eq!(literal(line), "!defined(A)", "{line}");
        }
    }

    #[test]
    fn compound_conditions_stay_whole() {
        assert_eq!(literal("#if defined(A) && !defined B"), "defined(A)&&!defined(B)");
        assert_eq!(literal("#if !defined(A) || X > 2"), "!defined(A)||X>2");
        assert_eq!(literal("#if !(A || B)"), "!(A||B)");
        assert_eq!(literal("#if IS_ENABLED(CONFIG_X)"), "IS_ENABLED(CONFIG_X)");
        assert_eq!(literal("#if !IS_ENABLED(CONFIG_X)"), "!IS_ENABLED(CONFIG_X)");
        assert_eq!(literal("#if (A) && (B)"), "(A)&&(B)");
    }

    #[test]
    fn other_lines_are_distinguished() {
        assert_eq!(Directive::parse(b"#define X(a) 1"), Directive::Define("X".to_owned()));
        assert_eq!(Directive::parse(b"#else /* X */"), Directive::Else);
        assert_eq!(Directive::parse(b"# endif"), Directive::Endif);
        assert_eq!(Directive::parse(b"#pragma pack(1)"), Directive::Other);
        assert_eq!(Directive::parse(b"#"), Directive::Other);
    }
}
