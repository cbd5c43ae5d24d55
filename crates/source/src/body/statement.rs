//! The statements of a body, what they declare, and the lines that belong to them.

use crate::definition::lossy;
use crate::scan::SourceText;
use std::ops::Range;

/// Members of one statement of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredMembers {
    /// These members, in order.
    Members(Vec<Declarator>),
    /// No member: a type, an assertion, a lone semicolon.
    Nothing,
    /// A macro or shape this crate doesn't know.
    Unknown,
}

/// One member of a declaration, as far as its text shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declarator {
    /// Its name, unless it has none.
    pub name: Option<String>,
    /// Its shape.
    pub shape: MemberShape,
    /// Whether some configurations or language modes have no such member.
    pub is_optional: bool,
}

/// The shape of a member, as far as its text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberShape {
    /// An ordinary member.
    Field,
    /// An array without length, or of length 0.
    Flexible,
    /// A bit-field.
    BitField,
    /// A bit-field without a name; debug info leaves it out.
    UnnamedBits,
    /// An unnamed struct or union.
    Aggregate,
    /// A member that only marks a place, such as a cacheline group's begin.
    Marker,
}

impl Declarator {
    pub(crate) fn named(name: &[u8], shape: MemberShape) -> Self {
        Self { name: Some(lossy(name)), ..Self::unnamed(shape) }
    }

    pub(crate) fn unnamed(shape: MemberShape) -> Self {
        Self { name: None, shape, is_optional: false }
    }

    pub(crate) fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }
}

/// A name for a message, quoted.
pub(crate) fn quoted(name: Option<&str>) -> String {
    name.map_or_else(|| "an unnamed member".to_owned(), |name| format!("`{name}`"))
}

/// One declaration, macro call or assertion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// Byte range from its first word to its semicolon.
    pub range: Range<usize>,
    /// 1-based line it begins on.
    pub line: u32,
    /// Its members.
    pub declared: DeclaredMembers,
    /// Attributes of its own level, as written.
    pub attributes: Vec<String>,
    /// The pin by a comment of its own.
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

/// A comment that speaks of places without a demand, such as `/* protects the fields below */`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceComment {
    /// 1-based line it begins on.
    pub line: u32,
    /// Its text on one line, cut if long.
    pub text: String,
    /// The statements it is about, by index; empty if it stands alone before the first of them.
    pub statements: Range<usize>,
    /// Whether it is about all that stands before or behind.
    pub is_wide: bool,
}

impl Statement {
    /// The members it declares for sure or perhaps, in order.
    pub fn declarators(&self) -> &[Declarator] {
        match &self.declared {
            DeclaredMembers::Members(members) => members,
            DeclaredMembers::Nothing | DeclaredMembers::Unknown => &[],
        }
    }

    /// Its names for a message.
    pub(crate) fn label(&self, source: &SourceText) -> String {
        let names = self.declarators().iter().map(|member| quoted(member.name.as_deref()));
        let names: Vec<String> = names.collect();
        if names.is_empty() {
            let first = source.slice(self.range.clone()).split(|byte| matches!(byte, b'\n' | b'\r')).next();
            return format!("`{}`", lossy(first.unwrap_or_default()));
        }
        names.join(", ")
    }
}

/// Whole lines that stay together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyPiece {
    pub(crate) kind: PieceKind,
    /// 0-based lines.
    pub(crate) lines: Range<usize>,
    pub(crate) blank_before: usize,
    /// Token indices of comments that belong to it.
    pub(crate) comments: Vec<usize>,
    /// The block and arm that it is in.
    pub(crate) parent_arm: Option<(usize, usize)>,
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
