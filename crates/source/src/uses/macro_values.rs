//! Variables whose values come from a macro: `struct s name = S_INIT(name)`,
//! `struct s names[] = { S(1), S(2) }`, `(struct s)S_INIT`.
//!
//! The macro may be the same file's, or any other's: then it is unresolved ([`UnresolvedMacro`]), and
//! [`find_definitions`] searches another text for it. A macro that is another macro's call is followed there.

use super::initializer;
use super::used_struct::{StructUse, UsedStruct, text};
use crate::body::attribute::is_shouted;
use crate::scan::{SourceText, TokenKind};

/// A `#define`.
pub(super) struct ParsedMacro<'t> {
    pub(super) name: &'t [u8],
    /// Empty for one without.
    pub(super) parameters: Vec<&'t [u8]>,
    pub(super) body: SourceText<'t>,
}

/// Reads a preprocessor line.
pub(super) fn parse_define(text: &[u8]) -> Option<ParsedMacro<'_>> {
    let rest = text.strip_prefix(b"#")?.trim_ascii_start().strip_prefix(b"define")?;
    let line = SourceText::new(rest);
    let (name, mut end) = (line.word(0)?, line.token(0)?.end);
    let mut parameters = Vec::new();
    if line.is_punct(1, b'(') && line.start(1) == end {
        parameters = line.arguments(1).into_iter().filter_map(|tokens| line.first_word(tokens)).collect();
        end = line.token(line.partner(1)?)?.end;
    }
    Some(ParsedMacro { name, parameters, body: SourceText::new(rest.get(end..)?) })
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

/// Most macros that are followed from one to the next.
pub const MAX_MACRO_CALLS: usize = 4;

/// Uses in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileUses {
    /// Uses, by line.
    pub uses: Vec<StructUse>,
    /// Variables of the struct whose values macros of other files give, by line.
    pub unresolved: Vec<UnresolvedMacro>,
}

/// A variable of a struct, or several, whose values come from a macro that its file doesn't define.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnresolvedMacro {
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
    /// Its value.
    pub value: MacroValue,
}

/// Value of a macro as an initializer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MacroValue {
    /// Values, and what they demand. Empty if they go by name. Lines are those of the definition.
    Values(Vec<StructUse>),
    /// A call of another macro.
    Macro(String),
    /// No values in braces.
    Nothing,
}

/// Definitions of a macro in a file's text: alternatives under conditions may be several.
pub fn find_definitions(file: &[u8], wanted: &UnresolvedMacro, subject: &UsedStruct) -> Vec<MacroDefinition> {
    match contains(file, wanted.name.as_bytes()) {
        true => parse_definitions(&SourceText::new(file), wanted, subject).collect(),
        false => Vec::new(),
    }
}

/// Variables whose values macros give, in a text: the file's, or a macro's body on one of its lines.
pub(super) fn find(
    file: &SourceText,
    text: &SourceText,
    line: Option<u32>,
    subject: &UsedStruct,
    found: &mut FileUses,
) {
    for at in text.token_range().filter(|at| text.names_struct(*at, &subject.tag)) {
        let Some((place, is_array)) = find_value(text, at) else { continue };
        let Some(name) = text.word(place).filter(|name| is_shouted(name) && ends_value(text, place)) else {
            continue;
        };
        let line = line.unwrap_or_else(|| text.line_of(at));
        let unresolved = UnresolvedMacro { line, name: self::text(name), is_array };
        match resolve(file, unresolved, subject) {
            Ok(uses) => found.uses.extend(uses.into_iter().map(|used| StructUse { line, ..used })),
            Err(rest) => found.unresolved.push(rest),
        }
    }
}

/// The uses by a macro of the file; the macro that it ends with if the file doesn't define that.
fn resolve(
    file: &SourceText,
    mut unresolved: UnresolvedMacro,
    subject: &UsedStruct,
) -> Result<Vec<StructUse>, UnresolvedMacro> {
    for _ in 0..MAX_MACRO_CALLS {
        let all: Vec<_> = parse_definitions(file, &unresolved, subject).map(|found| found.value).collect();
        match all.first() {
            None => return Err(unresolved),
            Some(MacroValue::Macro(name)) => unresolved.name.clone_from(name),
            Some(_) => {
                let values = all.into_iter().filter_map(|value| match value {
                    MacroValue::Values(uses) => Some(uses),
                    _ => None,
                });
                return Ok(values.flatten().collect());
            }
        }
    }
    Ok(Vec::new())
}

/// Where a value begins, and whether it is all of an array: behind `struct s name =`, `struct s names[] = {`,
/// `(struct s)`.
fn find_value(text: &SourceText, keyword: usize) -> Option<(usize, bool)> {
    if text.is_punct(keyword + 2, b')') {
        return (!initializer::is_argument(text, keyword)).then_some((keyword + 3, false));
    }
    let (equals, mut dimensions) = initializer::find_equals(text, keyword)?;
    let mut place = equals + 1;
    while dimensions > 0 && text.is_punct(place, b'{') {
        place = initializer::first_element(text, place);
        dimensions -= 1;
    }
    (dimensions < 2).then_some((place, dimensions == 1))
}

/// Whether a macro's name, and what it is called with, are all of a value.
fn ends_value(text: &SourceText, at: usize) -> bool {
    let next = if text.is_punct(at + 1, b'(') { text.index_after(at + 1) } else { at + 1 };
    let next = text.skip_silent(next, text.token_range().end);
    next >= text.token_range().end || [b';', b',', b'}', b')'].iter().any(|end| text.is_punct(next, *end))
}

/// The definitions of a macro in a file.
fn parse_definitions<'s>(
    source: &'s SourceText,
    unresolved: &'s UnresolvedMacro,
    subject: &'s UsedStruct,
) -> impl Iterator<Item = MacroDefinition> {
    let name = unresolved.name.as_bytes();
    let directives = source.token_range().filter(|at| source.kind(*at) == Some(TokenKind::Directive));
    let named = directives.filter(move |at| contains(source.text(*at), name));
    let parsed = named.filter_map(|at| Some((source.line_of(at), parse_define(source.text(at))?)));
    let value = |line, macro_: &_| read_value(macro_, line, unresolved.is_array, subject);
    let parsed = parsed.filter(move |(_, macro_)| macro_.name == name);
    parsed.map(move |(line, macro_)| MacroDefinition { line, value: value(line, &macro_) })
}

fn read_value(macro_: &ParsedMacro, line: u32, is_array: bool, subject: &UsedStruct) -> MacroValue {
    let body = &macro_.body;
    let first = body.skip_silent(0, body.token_range().end);
    let open = if is_array { initializer::nested_brace(body, first) } else { Some(first) };
    match open.filter(|open| body.is_punct(*open, b'{')) {
        Some(open) => {
            let mut uses = Vec::new();
            initializer::add_uses(body, open, line, subject, &mut uses);
            MacroValue::Values(uses)
        }
        None => match body.word(first).filter(|name| is_shouted(name) && ends_value(body, first)) {
            Some(name) if name != macro_.name => MacroValue::Macro(text(name)),
            _ => MacroValue::Nothing,
        },
    }
}
