//! A body's tokens cut into statements, comments and preprocessor lines.

use super::{attribute, macros};
use crate::refusal::{Result, SourceRefusal};
use crate::scan::{Directive, SourceText, TokenKind};
use std::ops::Range;

/// One element, by token index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BodyElement {
    Statement { tokens: Range<usize>, is_tangled: bool },
    Comment(usize),
    Directive(usize),
}

impl BodyElement {
    pub(crate) fn tokens(&self) -> Range<usize> {
        match self {
            Self::Statement { tokens, .. } => tokens.clone(),
            Self::Comment(token) | Self::Directive(token) => *token..*token + 1,
        }
    }
}

/// Cuts the tokens between a body's braces into elements.
pub(crate) fn split_elements(source: &SourceText, tokens: Range<usize>) -> Result<Vec<BodyElement>> {
    let mut splitter = ElementSplitter { source, at: tokens.start, end: tokens.end, elements: Vec::new() };
    while splitter.at < splitter.end {
        splitter.element()?;
    }
    Ok(splitter.elements)
}

struct ElementSplitter<'s, 't> {
    source: &'s SourceText<'t>,
    at: usize,
    end: usize,
    elements: Vec<BodyElement>,
}

/// A statement being read.
#[derive(Default)]
struct OpenStatement {
    first: usize,
    /// Behind its last token so far.
    end: usize,
    /// `#if` blocks opened inside it.
    depth: usize,
    is_tangled: bool,
    after_semicolon: bool,
}

impl ElementSplitter<'_, '_> {
    fn element(&mut self) -> Result<()> {
        match self.source.kind(self.at) {
            Some(TokenKind::Comment) => self.elements.push(BodyElement::Comment(self.at)),
            Some(TokenKind::Directive) => self.elements.push(BodyElement::Directive(self.at)),
            _ => return self.statement(),
        }
        self.at += 1;
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        let mut open = OpenStatement { first: self.at, end: self.at, ..OpenStatement::default() };

        while self.at < self.end && (open.depth > 0 || !open.after_semicolon && !self.is_whole_macro(&open)) {
            self.advance(&mut open)?;
        }
        // Comments behind its last token are elements of their own.
        self.at = open.end;
        let OpenStatement { first, end, is_tangled, .. } = open;
        self.elements.push(BodyElement::Statement { tokens: first..end, is_tangled });
        Ok(())
    }

    fn advance(&mut self, open: &mut OpenStatement) -> Result<()> {
        match self.source.kind(self.at) {
            Some(TokenKind::Comment) => {
                self.at += 1;
                return Ok(());
            }
            Some(TokenKind::Directive) => {
                self.conditional(open, self.at)?;
                open.is_tangled = true;
            }
            Some(TokenKind::Punct(b'{' | b'(' | b'[')) => {
                self.group(open)?;
                open.after_semicolon = false;
            }
            Some(TokenKind::Punct(b'}' | b')' | b']')) | None => return Err(self.unbalanced(self.at)),
            kind => open.after_semicolon = kind == Some(TokenKind::Punct(b';')),
        }
        self.at += 1;
        open.end = self.at;
        Ok(())
    }

    /// Goes to a group's closing bracket; preprocessor lines inside may reach beyond it.
    fn group(&mut self, open: &mut OpenStatement) -> Result<()> {
        let close = self.source.partner(self.at).filter(|close| (self.at..self.end).contains(close));
        let close = close.ok_or_else(|| self.unbalanced(self.at))?;
        let before = (open.depth, open.first);
        for index in self.at + 1..close {
            if self.source.directive(index).is_some() {
                self.conditional(open, index)?;
            }
        }
        open.is_tangled |= before != (open.depth, open.first);
        self.at = close;
        Ok(())
    }

    /// Follows a preprocessor line inside a statement. The end of an outer arm draws its whole block into it.
    fn conditional(&mut self, open: &mut OpenStatement, index: usize) -> Result<()> {
        match self.source.directive(index) {
            Some(Directive::If(_)) => open.depth += 1,
            Some(Directive::Elif(_) | Directive::Else) if open.depth == 0 => {
                open.first = self.take_back_block(index)?;
                open.depth = 1;
            }
            Some(Directive::Endif) if open.depth == 0 => open.first = self.take_back_block(index)?,
            Some(Directive::Endif) => open.depth -= 1,
            _ => {}
        }
        Ok(())
    }

    /// Takes back elements up to the `#if` of the innermost block; gives its token.
    fn take_back_block(&mut self, index: usize) -> Result<usize> {
        let mut depth = 0usize;
        while let Some(element) = self.elements.pop() {
            let BodyElement::Directive(token) = element else { continue };
            match self.source.directive(token) {
                Some(Directive::Endif) => depth += 1,
                Some(Directive::If(_)) if depth == 0 => return Ok(token),
                Some(Directive::If(_)) => depth -= 1,
                _ => {}
            }
        }
        Err(self.unbalanced(index))
    }

    fn unbalanced(&self, token: usize) -> SourceRefusal {
        SourceRefusal::Unbalanced(self.source.line_of(token))
    }

    /// Whether what was read is a macro that needs no semicolon, as `randomized_struct_fields_start`.
    fn is_whole_macro(&self, open: &OpenStatement) -> bool {
        let Some(word) = self.source.word(open.first).filter(|_| !open.is_tangled) else { return false };
        match open.end - open.first {
            0 => false,
            1 if macros::BARE.contains(&word) => !self.source.is_punct(self.next(open), b';'),
            1 => attribute::is_shouted(word) && self.ends_here(open),
            _ => self.is_call(open) && !attribute::is_call(word) && self.ends_here(open),
        }
    }

    fn next(&self, open: &OpenStatement) -> usize {
        self.source.skip_silent(open.end, self.end)
    }

    /// Whether nothing follows, or a word on a later line that isn't indented as a continuation.
    fn ends_here(&self, open: &OpenStatement) -> bool {
        let next = self.next(open);
        let lines = self.source.lines();
        let column = |token: usize| lines.column(self.source.bytes(), self.source.start(token));
        let last = self.source.span(open.first, open.end.saturating_sub(1)).end.saturating_sub(1);
        let on_later_line = || self.source.line_of(next) > lines.number(last);
        let is_word = self.source.word(next).is_some();
        next >= self.end || is_word && on_later_line() && column(next) <= column(open.first)
    }

    /// Whether the statement so far is `word(…)`.
    fn is_call(&self, open: &OpenStatement) -> bool {
        let bracket = self.source.skip_silent(open.first + 1, open.end);
        let close = self.source.partner(bracket);
        self.source.is_punct(bracket, b'(') && close == Some(open.end - 1)
    }
}
