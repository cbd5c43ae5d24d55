//! `__init` functions without parameters, and where their statements begin.

use crate::scan::{Directive, SourceText, TokenKind};
use std::ops::Range;

/// How checks of structs are named.
const CHECK: &[u8] = b"_struct_check";
/// Words that begin a statement and no declaration.
const STATEMENTS: &str = "if for while do switch return goto break continue case default asm else";
/// How names of macros that declare variables begin.
const DECLARING: &[&[u8]] = &[b"DEFINE_", b"DECLARE_", b"LIST_HEAD", b"HLIST_HEAD"];

/// A function that runs once when the kernel starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InitFunction {
    /// Its name.
    pub name: String,
    /// 1-based line of the name.
    pub line: u32,
    /// Whether it is known in its file only.
    pub is_static: bool,
    /// Whether an `#if` stands around it.
    pub is_conditional: bool,
    /// 0-based line of its first word, or of a comment right above it.
    pub(super) head: usize,
    /// Where a call may stand.
    pub(super) call_position: Option<CallPosition>,
}

impl InitFunction {
    /// Whether a call can be put into it.
    pub fn accepts_calls(&self) -> bool {
        self.call_position.is_some()
    }
}

/// A place among a function's statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CallPosition {
    /// 0-based line before which it is.
    pub(super) line: usize,
    pub(super) follows: Follows,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follows {
    Brace,
    Declaration,
    Check,
}

/// All `__init` functions of a file that take nothing, in order.
pub fn find_init_functions(source: &SourceText) -> Vec<InitFunction> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut head = 0;
    let mut at = 0;
    while let Some(token) = source.token(at) {
        match token.kind {
            TokenKind::Directive => {
                match source.directive(at) {
                    Some(Directive::If(_)) => depth += 1,
                    Some(Directive::Endif) => depth = depth.saturating_sub(1),
                    _ => {}
                }
                head = at + 1;
            }
            TokenKind::Punct(b';' | b'}') => head = at + 1,
            TokenKind::Punct(b'{') => {
                let close = source.partner(at).filter(|close| *close > at);
                found.extend(close.and_then(|close| parse_init_function(source, head..at, close, depth > 0)));
                at = close.unwrap_or(at);
                head = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The function whose head these tokens are, its closing brace at `close`.
fn parse_init_function(
    source: &SourceText,
    head: Range<usize>,
    close: usize,
    is_conditional: bool,
) -> Option<InitFunction> {
    let words = |text: &[u8]| head.clone().any(|at| source.word(at) == Some(text));
    let open = (head.start..head.end).rev().find(|at| source.is_punct(*at, b'('))?;
    let arguments = source.partner(open).filter(|end| (open..head.end).contains(end))?;
    let takes_nothing = match arguments - open {
        1 => true,
        2 => source.word(open + 1) == Some(b"void"),
        _ => false,
    };
    let name = source.word(open.checked_sub(1)?)?;
    if !words(b"__init") || !takes_nothing || name == b"__init" {
        return None;
    }
    let first = source.skip_silent(head.start, head.end);
    Some(InitFunction {
        name: crate::definition::lossy(name),
        line: source.line_of(open - 1),
        is_static: words(b"static"),
        is_conditional,
        head: comment_above(source, first),
        call_position: find_call_position(source, head.end, close),
    })
}

/// 0-based line of a token, or of the first of the comments right above it.
fn comment_above(source: &SourceText, mut at: usize) -> usize {
    let line = |at: usize| source.lines().index(source.start(at));
    let mut first = line(at);
    while let Some(before) = at.checked_sub(1).and_then(|at| source.token(at)) {
        let ends = source.lines().index(before.end.saturating_sub(1));
        let is_alone = at.checked_sub(2).is_none_or(|other| line(other) < line(at - 1));
        if before.kind != TokenKind::Comment || ends + 1 != first || !is_alone {
            break;
        }
        at -= 1;
        first = line(at);
    }
    first
}

/// Where a function's statements begin, behind its declarations and calls of checks.
fn find_call_position(source: &SourceText, open: usize, close: usize) -> Option<CallPosition> {
    let behind = |at: usize| Some(source.lines().index(source.token(at)?.end.saturating_sub(1)) + 1);
    let mut place = CallPosition { line: behind(open)?, follows: Follows::Brace };
    let (mut depth, mut is_open, mut at) = (0usize, false, open + 1);
    while at < close {
        match (source.kind(at)?, source.directive(at)) {
            (TokenKind::Comment, _) => {}
            (_, Some(Directive::If(_))) => depth += 1,
            (_, Some(Directive::Endif)) => {
                depth = depth.checked_sub(1)?;
                if depth == 0 && std::mem::take(&mut is_open) {
                    (place.line, place.follows) = (behind(at)?, Follows::Declaration);
                }
            }
            (TokenKind::Directive, _) => {}
            _ => {
                let Some(follows) = classify_statement(source, at, depth) else { break };
                at = find_semicolon(source, at, close)?;
                is_open |= depth > 0;
                if depth == 0 {
                    place = CallPosition { line: behind(at)?, follows };
                }
            }
        }
        at += 1;
    }
    let is_own_line = source.lines().start(place.line) <= source.token(close)?.start;
    (!is_open && is_own_line).then_some(place)
}

/// The kind of a statement, if a call may follow it and not precede it.
fn classify_statement(source: &SourceText, at: usize, depth: usize) -> Option<Follows> {
    let word = source.word(at)?;
    let mut next = at + 1;
    if source.is_punct(next, b'(') {
        let is_check = word.ends_with(CHECK) && depth == 0;
        let declares = DECLARING.iter().any(|start| word.starts_with(start));
        return if is_check { Some(Follows::Check) } else { declares.then_some(Follows::Declaration) };
    }
    if STATEMENTS.split(' ').any(|keyword| keyword.as_bytes() == word) {
        return None;
    }
    let is_pointer = source.is_punct(next, b'*');
    while source.is_punct(next, b'*') {
        next += 1;
    }
    source.word(next)?;
    let marks = [b';', b',', b'=', b'['];
    let is_declared = !is_pointer || marks.iter().any(|mark| source.is_punct(next + 1, *mark));
    is_declared.then_some(Follows::Declaration)
}

/// The token of a statement's semicolon.
fn find_semicolon(source: &SourceText, mut at: usize, close: usize) -> Option<usize> {
    while at < close && !source.is_punct(at, b';') {
        at = source.partner(at).filter(|end| *end > at).unwrap_or(at) + 1;
    }
    (at < close).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, bool, bool)> {
        let found = find_init_functions(&SourceText::new(text.as_bytes()));
        found
            .into_iter()
            .map(|function| (function.name, function.is_static, function.is_conditional))
            .collect()
    }

    #[test]
    fn functions_that_run_at_startup_are_found() {
        let text = "static int __init a(void) { return 0; }\nvoid __init b(void);\n#ifdef X\n__init void c(void)\n{\n}\n#endif\n\
                    int d(void) { }\nstatic int __init e(char *s) { return 1; }\nint __initdata f[] = { 1 };\n\
                    early_param(\"x\", e);\nint __init g(void)\n{\n}\n";
        let found = names(text);
        let want = [("a", true, false), ("c", false, true), ("g", false, false)];
        assert_eq!(found, want.map(|(name, own, under)| (name.to_owned(), own, under)));
    }

    #[test]
    fn declarations_are_distinguished_from_statements() {
        let kinds = |text: &str| classify_statement(&SourceText::new(text.as_bytes()), 0, 0);
        for text in
            ["int i;", "struct rq *rq;", "T *p = q;", "const char *s[3];", "LIST_HEAD(x);", "u64 a, b;"]
        {
            assert_eq!(kinds(text), Some(Follows::Declaration), "{text}");
        }
        for text in ["f(x);", "i = 1;", "p->x = 2;", "return x;", "goto out;", "*p = 1;", "a * b();", "out:"]
        {
            assert_eq!(kinds(text), None, "{text}");
        }
        assert_eq!(kinds("a_struct_check();"), Some(Follows::Check));
    }
}
