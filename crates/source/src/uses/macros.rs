//! Macros of the file, read like code: a member that is a parameter is what each call gives.

use super::initializer;
use super::macro_values::{self, FileUses, ParsedMacro, contains, parse_define};
use super::offset::{classify, find_offsets, follow_alias};
use super::used_struct::{StructUse, UsedStruct, Uses};
use crate::scan::{SourceText, TokenKind};

pub(super) fn find(source: &SourceText, subject: &UsedStruct, found: &mut FileUses) {
    for at in source.token_range() {
        if source.kind(at) == Some(TokenKind::Directive)
            && contains(source.text(at), subject.tag.as_bytes())
            && let Some(macro_) = parse_define(source.text(at))
        {
            read_macro(source, at, &macro_, subject, &mut found.uses);
            let line = source.line_of(at);
            let mut inside = Vec::new();
            initializer::find(&macro_.body, subject, &mut inside);
            found.uses.extend(inside.into_iter().map(|used| StructUse { line, ..used }));
            macro_values::find(source, &macro_.body, Some(line), subject, found);
        }
    }
    macro_values::find(source, source, None, subject, found);
}

fn read_macro(source: &SourceText, at: usize, macro_: &ParsedMacro, subject: &UsedStruct, found: &mut Uses) {
    let body = &macro_.body;
    let all = find_offsets(body, &subject.tag);
    let by_call = all.iter().any(|offset| macro_.parameters.contains(&offset.member));
    for offset in all {
        if by_call {
            for call in find_calls(source, macro_) {
                let number = |word: &[u8]| subject.number(call.substitute(macro_, word));
                if let Some(member) = subject.member(call.substitute(macro_, offset.member))
                    && let Some(context) = classify(body, &offset, &subject.tag, &number)
                {
                    found.push(context.into_use(call.line, member));
                }
            }
        } else if let Some(member) = subject.member(offset.member) {
            let number = |word: &[u8]| subject.number(word);
            match classify(body, &offset, &subject.tag, &number) {
                Some(context) => found.push(context.into_use(source.line_of(at), member)),
                // `#define LENGTH offsetof(…)`.
                None if is_all(body, offset.at, offset.end) => {
                    follow_alias(source, at, macro_.name, member, found);
                }
                None => {}
            }
        }
    }
}

/// Whether tokens are all of a macro's body, brackets around it apart.
fn is_all(body: &SourceText, first: usize, end: usize) -> bool {
    let mut others = (0..first).chain(end..body.token_range().end);
    others.all(|at| body.is_punct(at, b'(') || body.is_punct(at, b')'))
}

/// A macro's call: its line and the first word of each argument.
struct MacroCall<'t> {
    line: u32,
    words: Vec<Option<&'t [u8]>>,
}

impl MacroCall<'_> {
    /// The word that the call substitutes for one of the macro's body.
    fn substitute<'w>(&'w self, macro_: &'w ParsedMacro, word: &'w [u8]) -> &'w [u8] {
        let parameter = macro_.parameters.iter().position(|name| *name == word);
        match parameter {
            Some(parameter) => self.words.get(parameter).copied().flatten().unwrap_or_default(),
            None => word,
        }
    }
}

fn find_calls<'t>(source: &SourceText<'t>, macro_: &ParsedMacro) -> Vec<MacroCall<'t>> {
    let is_call = |at: &usize| source.word(*at) == Some(macro_.name) && source.is_punct(at + 1, b'(');
    let call = |at: usize| {
        let words = source.arguments(at + 1).into_iter().map(|tokens| source.first_word(tokens));
        MacroCall { line: source.line_of(at), words: words.collect() }
    };
    source.token_range().filter(is_call).map(call).collect()
}
