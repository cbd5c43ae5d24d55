//! Macros of the file: their bodies are read like code, and a member that is a parameter is what each call gives.

use super::offset::{context, follow, offsets};
use super::{Subject, Use};
use crate::scan::{SourceText, TokenKind};

/// A `#define`.
struct Macro<'t> {
    name: &'t [u8],
    /// Empty for one without.
    parameters: Vec<&'t [u8]>,
    body: SourceText<'t>,
}

pub(super) fn find(source: &SourceText, subject: &Subject, found: &mut Vec<Use>) {
    for at in 0..source.tokens().len() {
        let is_directive = source.token(at).is_some_and(|token| token.kind == TokenKind::Directive);
        if is_directive && contains(source.text(at), subject.tag.as_bytes()) {
            if let Some(macro_) = parse(source.text(at)) {
                read(source, at, &macro_, subject, found);
            }
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(text, part).is_some()
}

fn parse(text: &[u8]) -> Option<Macro<'_>> {
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

fn read(source: &SourceText, at: usize, macro_: &Macro, subject: &Subject, found: &mut Vec<Use>) {
    let body = &macro_.body;
    for offset in offsets(body, &subject.tag) {
        let parameter = macro_.parameters.iter().position(|name| *name == offset.member);
        let context = || context(body, &offset, &subject.tag);
        if let Some(parameter) = parameter {
            for (line, word) in calls(source, macro_.name, parameter) {
                if let (Some(member), Some(context)) = (subject.member(word), context()) {
                    found.push(context.into_use(line, member));
                }
            }
        } else if let Some(member) = subject.member(offset.member) {
            match context() {
                Some(context) => found.push(context.into_use(source.line_of(at), member)),
                // `#define LENGTH offsetof(…)`.
                None if is_all(body, offset.at, offset.end) => {
                    follow(source, macro_.name, std::slice::from_ref(member), found);
                }
                None => {}
            }
        }
    }
}

/// Whether tokens are all of a macro's body, brackets around it apart.
fn is_all(body: &SourceText, first: usize, end: usize) -> bool {
    let mut others = (0..first).chain(end..body.tokens().len());
    others.all(|at| body.is_punct(at, b'(') || body.is_punct(at, b')'))
}

/// Lines of a macro's calls and the first word each gives for a parameter.
fn calls<'t>(source: &SourceText<'t>, name: &[u8], parameter: usize) -> Vec<(u32, &'t [u8])> {
    let places = (0..source.tokens().len()).filter(|at| source.word(*at) == Some(name));
    let places = places.filter(|at| source.is_punct(at + 1, b'('));
    let given = places.filter_map(|at| {
        let tokens = source.arguments(at + 1).into_iter().nth(parameter)?;
        Some((source.line_of(at), source.first_word(tokens)?))
    });
    given.collect()
}
