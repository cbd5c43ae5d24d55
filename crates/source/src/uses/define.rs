//! Macros as their `#define` lines have them.

use crate::scan::SourceText;

/// A `#define`.
pub(super) struct Macro<'t> {
    pub(super) name: &'t [u8],
    /// Empty for one without.
    pub(super) parameters: Vec<&'t [u8]>,
    pub(super) body: SourceText<'t>,
}

pub(super) fn parse(text: &[u8]) -> Option<Macro<'_>> {
    let rest = text.strip_prefix(b"#")?.trim_ascii_start().strip_prefix(b"define")?;
    let line = SourceText::new(rest);
    let name = line.word(0)?;
    let name_end = line.token(0)?.end;
    let has_parameters = line.is_punct(1, b'(') && line.token(1)?.start == name_end;
    if !has_parameters {
        return Some(Macro { name, parameters: Vec::new(), body: SourceText::new(rest.get(name_end..)?) });
    }
    let arguments = line.arguments(1);
    let parameters = arguments.into_iter().filter_map(|tokens| line.first_word(tokens)).collect();
    let close = line.partner(1).and_then(|close| line.token(close))?;
    Some(Macro { name, parameters, body: SourceText::new(rest.get(close.end..)?) })
}

pub(super) fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}
