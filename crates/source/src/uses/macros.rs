//! Macros of the file: their bodies are read like code, and a member that is a parameter is what each call gives.

use super::demand::{Use, UsedStruct};
use super::given::{self, Awaited, Macro, contains, parse};
use super::initial;
use super::offset::{context, follow, offsets};
use crate::scan::{SourceText, TokenKind};

pub(super) fn find(
    source: &SourceText,
    subject: &UsedStruct,
    found: &mut Vec<Use>,
    awaited: &mut Vec<Awaited>,
) {
    for at in source.all() {
        if source.kind(at) == Some(TokenKind::Directive)
            && contains(source.text(at), subject.tag.as_bytes())
            && let Some(macro_) = parse(source.text(at))
        {
            read(source, at, &macro_, subject, found);
            let line = source.line_of(at);
            let mut inside = Vec::new();
            initial::find(&macro_.body, subject, &mut inside);
            found.extend(inside.into_iter().map(|of| Use { line, ..of }));
            given::find(source, &macro_.body, Some(line), subject, (found, awaited));
        }
    }
    given::find(source, source, None, subject, (found, awaited));
}

fn read(source: &SourceText, at: usize, macro_: &Macro, subject: &UsedStruct, found: &mut Vec<Use>) {
    let body = &macro_.body;
    let all = offsets(body, &subject.tag);
    let by_call = all.iter().any(|offset| macro_.parameters.contains(&offset.member));
    for offset in all {
        if by_call {
            for call in calls(source, macro_) {
                let number = |word: &[u8]| subject.number(call.given(macro_, word));
                if let Some(member) = subject.member(call.given(macro_, offset.member))
                    && let Some(context) = context(body, &offset, &subject.tag, &number)
                {
                    found.push(context.into_use(call.line, member));
                }
            }
        } else if let Some(member) = subject.member(offset.member) {
            let number = |word: &[u8]| subject.number(word);
            match context(body, &offset, &subject.tag, &number) {
                Some(context) => found.push(context.into_use(source.line_of(at), member)),
                // `#define LENGTH offsetof(…)`.
                None if is_all(body, offset.at, offset.end) => {
                    follow(source, at, macro_.name, std::slice::from_ref(member), found);
                }
                None => {}
            }
        }
    }
}

/// Whether tokens are all of a macro's body, brackets around it apart.
fn is_all(body: &SourceText, first: usize, end: usize) -> bool {
    let mut others = (0..first).chain(end..body.all().end);
    others.all(|at| body.is_punct(at, b'(') || body.is_punct(at, b')'))
}

/// A macro's call: its line and the first word of each argument.
struct Call<'t> {
    line: u32,
    words: Vec<Option<&'t [u8]>>,
}

impl Call<'_> {
    /// What the call gives for a word of the macro's body.
    fn given<'w>(&'w self, macro_: &'w Macro, word: &'w [u8]) -> &'w [u8] {
        let parameter = macro_.parameters.iter().position(|name| *name == word);
        match parameter {
            Some(parameter) => self.words.get(parameter).copied().flatten().unwrap_or_default(),
            None => word,
        }
    }
}

fn calls<'t>(source: &SourceText<'t>, macro_: &Macro) -> Vec<Call<'t>> {
    let places = source.all().filter(|at| source.word(*at) == Some(macro_.name));
    let places = places.filter(|at| source.is_punct(at + 1, b'('));
    let call = |at: usize| {
        let arguments = source.arguments(at + 1).into_iter();
        Call { line: source.line_of(at), words: arguments.map(|tokens| source.first_word(tokens)).collect() }
    };
    places.map(call).collect()
}
