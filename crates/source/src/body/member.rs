//! What a statement declares, as far as its text tells.

use crate::definition::lossy;

/// What one statement of a body declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Declares {
    /// These members, in order.
    Members(Vec<Declarator>),
    /// No member: a type, an assertion, a lone semicolon.
    Nothing,
    /// A macro or shape this crate doesn't know.
    Unknown,
}

/// One member of a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declarator {
    /// Its name, unless it has none.
    pub name: Option<String>,
    /// What it is.
    pub shape: MemberShape,
    /// Whether some configurations or language modes have no such member.
    pub is_optional: bool,
}

/// What a member is, as far as its text tells.
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
        Self { name: Some(lossy(name)), shape, is_optional: false }
    }

    pub(crate) fn unnamed(shape: MemberShape) -> Self {
        Self { name: None, shape, is_optional: false }
    }

    pub(crate) fn optional(self) -> Self {
        Self { is_optional: true, ..self }
    }
}
