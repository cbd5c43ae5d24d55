//! Variables whose values a macro gives: `struct s name = S_INIT(name)`, `struct s names[] = { S(1), S(2) }`,
//! `(struct s)S_INIT`.
//!
//! The macro may be the same file's, or any other's: then it is awaited ([`Awaited`]), and [`definitions`] looks for it in
//! another text. A macro that is another macro's call goes on there.

use super::demand::{Use, UsedStruct, text};
use super::initial;
use crate::body::attribute::is_shouted;
use crate::scan::{SourceText, TokenKind};

/// A `#define`.
pub(super) struct Macro<'t> {
    pub(super) name: &'t [u8],
    /// Empty for one without.
    pub(super) parameters: Vec<&'t [u8]>,
    pub(super) body: SourceText<'t>,
}

/// Reads a preprocessor line.
pub(super) fn parse(text: &[u8]) -> Option<Macro<'_>> {
    let rest = text.strip_prefix(b"#")?.trim_ascii_start().strip_prefix(b"define")?;
    let line = SourceText::new(rest);
    let (name, mut end) = (line.word(0)?, line.token(0)?.end);
    let mut parameters = Vec::new();
    if line.is_punct(1, b'(') && line.start(1) == end {
        parameters = line.arguments(1).into_iter().filter_map(|tokens| line.first_word(tokens)).collect();
        end = line.token(line.partner(1)?)?.end;
    }
    Some(Macro { name, parameters, body: SourceText::new(rest.get(end..)?) })
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

/// So many macros may stand for one another.
pub const MACROS: usize = 4;

/// A variable of a struct, or several, whose values come from a macro that its file doesn't define.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Awaited {
    /// 1-based line of the variable.
    pub line: u32,
    /// The macro.
    pub name: String,
    /// Whether it gives all of an array.
    pub is_array: bool,
}

/// A macro's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroDefinition {
    /// 1-based line.
    pub line: u32,
    /// What it stands for.
    pub gives: Gives,
}

/// What a macro gives a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gives {
    /// Values, and what they demand. Empty if they go by name. Lines are those of the definition.
    Values(Vec<Use>),
    /// What another macro gives.
    Macro(String),
    /// No values in braces.
    Nothing,
}

/// Definitions of a macro in a file's text: alternatives under conditions may be several.
pub fn definitions(file: &[u8], awaited: &Awaited, subject: &UsedStruct) -> Vec<MacroDefinition> {
    match contains(file, awaited.name.as_bytes()) {
        true => defined(&SourceText::new(file), awaited, subject).collect(),
        false => Vec::new(),
    }
}

/// Variables in a text, which may be a macro's body that stands on a line of the file, whose values macros give.
pub(super) fn find(
    file: &SourceText,
    text: &SourceText,
    line: Option<u32>,
    subject: &UsedStruct,
    (found, awaited): (&mut Vec<Use>, &mut Vec<Awaited>),
) {
    for at in text.all().filter(|at| text.names_struct(*at, &subject.tag)) {
        let Some((place, is_array)) = value(text, at) else { continue };
        let Some(name) = text.word(place).filter(|name| is_shouted(name) && ends(text, place)) else {
            continue;
        };
        let line = line.unwrap_or_else(|| text.line_of(at));
        let of = Awaited { line, name: self::text(name), is_array };
        match resolved(file, of.clone(), subject) {
            Ok(uses) => found.extend(uses.into_iter().map(|of| Use { line, ..of })),
            Err(rest) => awaited.push(rest),
        }
    }
}

/// What a macro of the file gives; the macro that it ends with if the file doesn't define that.
fn resolved(file: &SourceText, mut of: Awaited, subject: &UsedStruct) -> Result<Vec<Use>, Awaited> {
    for _ in 0..MACROS {
        let all: Vec<Gives> = defined(file, &of, subject).map(|definition| definition.gives).collect();
        match all.first() {
            None => return Err(of),
            Some(Gives::Macro(name)) => of.name.clone_from(name),
            Some(_) => {
                let values = all.into_iter().filter_map(|gives| match gives {
                    Gives::Values(uses) => Some(uses),
                    _ => None,
                });
                return Ok(values.flatten().collect());
            }
        }
    }
    Ok(Vec::new())
}

/// Where a value begins, and whether it is all of an array: behind `struct s name =`, `struct s names[] = {`, `(struct s)`.
fn value(text: &SourceText, keyword: usize) -> Option<(usize, bool)> {
    if text.is_punct(keyword + 2, b')') {
        let is_sizeof =
            keyword.checked_sub(2).and_then(|at| text.word(at)).is_some_and(|word| word != b"return");
        return (!is_sizeof).then_some((keyword + 3, false));
    }
    let (equals, mut dimensions) = initial::declared(text, keyword)?;
    let mut place = equals + 1;
    while dimensions > 0 && text.is_punct(place, b'{') {
        place = initial::first_element(text, place);
        dimensions -= 1;
    }
    (dimensions < 2).then_some((place, dimensions == 1))
}

/// Whether a macro's name, and what it is called with, are all of a value.
fn ends(text: &SourceText, at: usize) -> bool {
    let next = if text.is_punct(at + 1, b'(') { text.past(at + 1) } else { at + 1 };
    let next = text.skip_silent(next, text.all().end);
    next >= text.all().end || [b';', b',', b'}', b')'].iter().any(|end| text.is_punct(next, *end))
}

/// The definitions of a macro in a file.
fn defined<'s>(
    source: &'s SourceText,
    of: &'s Awaited,
    subject: &'s UsedStruct,
) -> impl Iterator<Item = MacroDefinition> {
    let name = of.name.as_bytes();
    let directives = source.all().filter(|at| source.kind(*at) == Some(TokenKind::Directive));
    let named = directives.filter(move |at| contains(source.text(*at), name));
    let parsed = named.filter_map(|at| Some((source.line_of(at), parse(source.text(at))?)));
    parsed
        .filter(move |(_, macro_)| macro_.name == name)
        .map(|(line, macro_)| MacroDefinition { line, gives: gives(&macro_, line, of.is_array, subject) })
}

fn gives(macro_: &Macro, line: u32, is_array: bool, subject: &UsedStruct) -> Gives {
    let body = &macro_.body;
    let first = body.skip_silent(0, body.all().end);
    let open = if is_array { initial::element(body, first) } else { Some(first) };
    match open.filter(|open| body.is_punct(*open, b'{')) {
        Some(open) => {
            let mut uses = Vec::new();
            initial::values(body, open, line, subject, &mut uses);
            Gives::Values(uses)
        }
        None => match body.word(first).filter(|name| is_shouted(name) && ends(body, first)) {
            Some(name) if name != macro_.name => Gives::Macro(text(name)),
            _ => Gives::Nothing,
        },
    }
}
