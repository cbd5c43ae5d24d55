//! The statements of a body, and the lines that belong to them.

use super::member::{Declarator, Declares};
use crate::definition::lossy;
use crate::scan::SourceText;
use std::ops::Range;

/// One declaration, macro call or assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Byte range from its first word to its semicolon.
    pub range: Range<usize>,
    /// 1-based line it begins on.
    pub line: u32,
    /// What it declares.
    pub declares: Declares,
    /// Attributes of its own level, as written.
    pub attributes: Vec<String>,
    /// What a comment of its own says about its place.
    pub pin: Option<FixedPlace>,
    /// Preprocessor lines run through it.
    pub is_tangled: bool,
    pub(crate) piece: usize,
    /// Token index of the first and behind the last token.
    pub(crate) tokens: Range<usize>,
}

/// A member's place, and what fixes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedPlace {
    /// 1-based line of the words that say so.
    pub line: u32,
    /// Why it stays, as the end of a sentence.
    pub reason: String,
}

impl Statement {
    /// The members it declares for sure or perhaps, in order.
    pub fn declarators(&self) -> &[Declarator] {
        match &self.declares {
            Declares::Members(members) => members,
            Declares::Nothing | Declares::Unknown => &[],
        }
    }

    /// Its names for a message, quoted.
    pub(crate) fn label(&self, source: &SourceText) -> String {
        let names: Vec<String> = self
            .declarators()
            .iter()
            .map(|member| match &member.name {
                Some(name) => format!("`{name}`"),
                None => "an unnamed member".to_owned(),
            })
            .collect();
        match names.is_empty() {
            false => names.join(", "),
            true => format!("`{}`", first_line(source.slice(self.range.clone()))),
        }
    }
}

/// Whole lines that stay together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) kind: PieceKind,
    /// 0-based lines.
    pub(crate) lines: Range<usize>,
    pub(crate) blank_before: usize,
    /// Token indices of comments that belong to it.
    pub(crate) comments: Vec<usize>,
    /// The block and arm it stands in.
    pub(crate) home: Option<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    /// Statements that share lines, mostly one.
    Statements(Vec<usize>),
    /// A comment that no member follows.
    Comment,
    /// A comment that says where a hole or cacheline is.
    Layout,
    /// A preprocessor line, by token.
    Directive(usize),
}

fn first_line(text: &[u8]) -> String {
    let end = text.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
    lossy(text.get(..end.unwrap_or(text.len())).unwrap_or(text))
}
