//! Members as debug info has them.

use crate::body::quoted;

/// A top-level member as debug info declares it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedMember {
    /// Its name; none for an unnamed struct or union.
    pub name: Option<String>,
    /// 1-based line of its declaration, if known. Only used to choose between branches that fit equally well.
    pub line: Option<u32>,
    /// Whether it is a base class or the pointer to virtual functions: no declaration among the members stands for it.
    /// These come first.
    pub is_inherited: bool,
}

impl ExpectedMember {
    /// A member with a name.
    pub fn named(name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..Self::default() }
    }

    /// An unnamed struct or union.
    pub fn unnamed() -> Self {
        Self::default()
    }

    /// A base class or the pointer to virtual functions.
    pub fn inherited() -> Self {
        Self { is_inherited: true, ..Self::default() }
    }

    /// Adds the line of its declaration.
    pub fn with_line(self, line: Option<u32>) -> Self {
        Self { line, ..self }
    }

    pub(crate) fn label(&self) -> String {
        quoted(self.name.as_deref())
    }
}
