//! A file as words, numbers, literals and operators, its `#define`s apart.
//!
//! The arms of an `#if` follow one another, as all of them count. A bracket that another arm's bracket
//! opens or closes too is dropped, so that the rest still pairs.

use crate::scan::{SourceText, TokenKind};

/// Kinds of words of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// A string or a character.
    Quoted,
    /// An operator or bracket.
    Sign,
}

/// A word, number, literal or operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    pub(super) text: &'t [u8],
    pub(super) kind: Kind,
    /// 1-based line of the file; of a macro's body, the line of the call.
    pub(super) line: u32,
    /// One more than the number of the macro that it comes from; 0 for the file's own text.
    pub(super) source: u32,
}

/// A `#define`.
#[derive(Clone, Debug)]
pub(super) struct Macro<'t> {
    pub(super) name: &'t [u8],
    /// None of one that isn't called.
    pub(super) parameters: Option<Vec<&'t [u8]>>,
    pub(super) body: Vec<Piece<'t>>,
    pub(super) line: u32,
}

/// A file's pieces and macros.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream<'t> {
    pub(super) pieces: Vec<Piece<'t>>,
    pub(super) macros: Vec<Macro<'t>>,
    /// Lines from where on members are packed, and from where on they aren't.
    pub(super) packs: Vec<(u32, bool)>,
    pub(super) includes: Vec<Include<'t>>,
    /// Brackets that are open.
    depth: usize,
}

impl<'t> Stream<'t> {
    /// The paths of files that are included while structs are packed.
    pub(super) fn packed_paths(&self) -> impl Iterator<Item = &'t [u8]> + '_ {
        let is_packed = |line: u32| {
            self.packs.iter().rev().find(|(from, _)| *from < line).is_some_and(|(_, packed)| *packed)
        };
        self.includes.iter().filter(move |include| is_packed(include.line)).map(|include| include.path)
    }
}

/// An `#include` of a file of the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Include<'t> {
    pub(super) path: &'t [u8],
    /// The number of the piece behind it.
    pub(super) at: usize,
    pub(super) line: u32,
    /// Whether it stands in brackets.
    pub(super) is_inside: bool,
}

/// Operators of several characters, longest first.
const OPERATORS: [&[u8]; 23] = [
    b"...", b"<<=", b">>=", b"->", b"++", b"--", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||",
    b"+=", b"-=", b"*=", b"/=", b"%=", b"&=", b"|=", b"^=", b"::",
];

/// Longest body of a macro that is read.
const LONGEST_BODY: usize = 4000;

pub(super) fn read(text: &[u8]) -> Stream<'_> {
    let source = SourceText::new(text);
    let mut stream = Stream::default();
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut at = 0;
    let mut dead = Dead::default();
    while let Some(token) = source.token(at) {
        let line = lines.number(token.start);
        if matches!(token.kind, TokenKind::Directive) {
            dead.directive(slice(text, token.start, token.end));
        }
        match token.kind {
            _ if dead.is_dead() => {}
            TokenKind::Comment => {}
            TokenKind::Directive => directive(slice(text, token.start, token.end), line, &mut stream),
            _ => {
                let length = match token.kind {
                    TokenKind::Punct(_) => operator(text, token.start).max(1),
                    _ => token.end - token.start,
                };
                let dropped = is_bracket(token.kind) && !is_paired(&source, at);
                if !dropped {
                    match token.kind {
                        TokenKind::Punct(b'{' | b'(') => stream.depth += 1,
                        TokenKind::Punct(b'}' | b')') => stream.depth = stream.depth.saturating_sub(1),
                        _ => {}
                    }
                    let text = slice(text, token.start, token.start + length);
                    stream.pieces.push(Piece { text, kind: kind(token.kind), line, source: 0 });
                }
                while source.token(at + 1).is_some_and(|next| next.end <= token.start + length) {
                    at += 1;
                }
            }
        }
        at += 1;
    }
    stream
}

/// Whether a place stands below `#if 0`.
#[derive(Default)]
struct Dead {
    /// How many conditions are open since `#if 0`; none above it.
    depth: usize,
}

impl Dead {
    fn is_dead(&self) -> bool {
        self.depth > 0
    }

    fn directive(&mut self, text: &[u8]) {
        let rest = text.strip_prefix(b"#").unwrap_or_default().trim_ascii();
        let word = rest.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(rest.len());
        let (word, condition) = rest.split_at(word);
        match word {
            b"if" if self.depth == 0 => self.depth = usize::from(condition.trim_ascii() == b"0"),
            b"if" | b"ifdef" | b"ifndef" if self.depth > 0 => self.depth += 1,
            b"endif" => self.depth = self.depth.saturating_sub(1),
            b"else" | b"elif" if self.depth == 1 => self.depth = 0,
            _ => {}
        }
    }
}

/// Counts lines from one place to the next.
struct Lines<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
}

impl Lines<'_> {
    fn number(&mut self, place: usize) -> u32 {
        let passed = self.text.get(self.at..place).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u32;
        self.at = self.at.max(place);
        self.line
    }
}

fn slice(text: &[u8], start: usize, end: usize) -> &[u8] {
    text.get(start..end).unwrap_or_default()
}

fn kind(kind: TokenKind) -> Kind {
    match kind {
        TokenKind::Word => Kind::Word,
        TokenKind::Number => Kind::Number,
        TokenKind::Quoted => Kind::Quoted,
        _ => Kind::Sign,
    }
}

fn is_bracket(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Punct(b'{' | b'}' | b'(' | b')' | b'[' | b']'))
}

fn is_paired(source: &SourceText<'_>, at: usize) -> bool {
    source.partner(at).and_then(|other| source.partner(other)) == Some(at)
}

/// The length of the operator of several characters that begins at a place.
fn operator(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    OPERATORS.iter().find(|operator| rest.starts_with(operator)).map_or(0, |operator| operator.len())
}

/// Cuts a macro's body.
fn pieces(text: &[u8], line: u32) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut end = 0;
    for token in crate::scan::tokenize(text) {
        let is_silent = matches!(token.kind, TokenKind::Comment | TokenKind::Directive);
        // `#x` in a body at a line's beginning looks like a directive.
        if token.start < end || is_silent {
            continue;
        }
        end = match token.kind {
            TokenKind::Punct(b'#') if slice(text, token.start, token.start + 2) == b"##" => token.start + 2,
            TokenKind::Punct(_) => token.start + operator(text, token.start).max(1),
            _ => token.end,
        };
        let text = slice(text, token.start, end);
        found.push(Piece { text, kind: kind(token.kind), line, source: 0 });
        if found.len() > LONGEST_BODY {
            break;
        }
    }
    found
}

fn directive<'t>(text: &'t [u8], line: u32, stream: &mut Stream<'t>) {
    let rest = text.strip_prefix(b"#").unwrap_or_default().trim_ascii_start();
    if let Some(pragma) = rest.strip_prefix(b"pragma") {
        packing(pragma, line, stream);
        second_name(pragma, line, stream);
    }
    if let Some(path) = rest.strip_prefix(b"include").map(<[u8]>::trim_ascii_start)
        && let Some((first, path)) = path.split_first()
    {
        let is_named = matches!(first, b'"' | b'<');
        let ends = |byte: &u8| matches!(byte, b'"' | b'>') || !is_named && !crate::scan::is_word(*byte);
        let end = path.iter().position(ends).unwrap_or(path.len());
        // The name of a macro that is the path stands for it.
        let path = if is_named { path.get(..end) } else { rest_of(rest).get(..end + 1) }.unwrap_or_default();
        let (at, is_inside) = (stream.pieces.len(), stream.depth > 0);
        stream.includes.push(Include { path, at, line, is_inside });
    }
    let Some(rest) = rest.strip_prefix(b"define") else { return };
    if let Some(found) = define(rest, line) {
        stream.macros.push(found);
    }
}

/// The words behind `include`.
fn rest_of(directive: &[u8]) -> &[u8] {
    directive.strip_prefix(b"include").map(<[u8]>::trim_ascii_start).unwrap_or_default()
}

fn packing(pragma: &[u8], line: u32, stream: &mut Stream<'_>) {
    let words = pieces(pragma, line);
    if words.first().is_none_or(|word| word.text != b"pack") {
        return;
    }
    let has = |wanted: &[u8]| words.iter().any(|word| word.text == wanted);
    let number = words.iter().find(|word| word.kind == Kind::Number);
    let is_packed = !has(b"pop") && number.is_some_and(|number| number.text != b"0");
    stream.packs.push((line, is_packed));
}

/// `#pragma weak name = symbol`, `#pragma redefine_extname name symbol`: what declares the name reads the symbol's
/// object. It stands for assembler code that says the symbol.
fn second_name<'t>(pragma: &'t [u8], line: u32, stream: &mut Stream<'t>) {
    let words = pieces(pragma, line);
    let symbol = match words.as_slice() {
        [first, _, sign, symbol] if first.text == b"weak" && sign.text == b"=" => symbol,
        [first, _, symbol] if first.text == b"redefine_extname" => symbol,
        _ => return,
    };
    let piece = |text, kind| Piece { text, kind, line, source: 0 };
    stream.pieces.extend([
        piece(b"__asm__", Kind::Word),
        piece(b"(", Kind::Sign),
        piece(symbol.text, Kind::Quoted),
        piece(b")", Kind::Sign),
        piece(b";", Kind::Sign),
    ]);
}

fn define(rest: &[u8], line: u32) -> Option<Macro<'_>> {
    let words = pieces(rest, line);
    let name = words.first().filter(|word| word.kind == Kind::Word)?.text;
    let behind = offset_of(rest, name)? + name.len();
    if rest.get(behind) != Some(&b'(') {
        return Some(Macro { name, parameters: None, body: words.get(1..)?.to_vec(), line });
    }
    let close = words.iter().position(|word| word.text == b")")?;
    let parameters = words.get(2..close)?.iter().filter(|word| word.text != b",");
    let parameters = parameters.map(|word| if word.text == b"..." { b"__VA_ARGS__" } else { word.text });
    let body = words.get(close + 1..)?.to_vec();
    Some(Macro { name, parameters: Some(parameters.collect()), body, line })
}

/// Where a part of a text begins in it.
fn offset_of(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_follow_one_another_and_brackets_pair() {
        let text = b"int f(void)\n{\n#ifdef A\n\tif (x) {\n#else\n\tif (y) {\n#endif\n\t}\n}\n#define M(a, ...) a##_x \\\n\t+= 1\n";
        let stream = read(text);
        let words: Vec<&[u8]> = stream.pieces.iter().map(|piece| piece.text).collect();
        let count = |wanted: &[u8]| words.iter().filter(|word| **word == wanted).count();
        assert_eq!((count(b"{"), count(b"}"), count(b"if")), (2, 2, 2));
        let found = &stream.macros[0];
        assert_eq!(found.parameters, Some(vec![b"a".as_slice(), b"__VA_ARGS__"]));
        assert_eq!(
            found.body.iter().map(|piece| piece.text).collect::<Vec<_>>(),
            [b"a".as_slice(), b"##", b"_x", b"+=", b"1"]
        );
        assert_eq!(found.line, 10);
    }
}
