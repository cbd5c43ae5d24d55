//! A definition's text to its body.

use super::whole::Body;
use super::{element, own, pin, tree};
use crate::definition::Definition;
use crate::refusal::Refusal;
use crate::scan::SourceText;

impl<'s, 't> Body<'s, 't> {
    /// Splits a definition's body.
    ///
    /// # Errors
    /// If brackets or `#if` lines don't pair up, or a preprocessor line shares a line with a declaration.
    pub fn parse(source: &'s SourceText<'t>, definition: &Definition) -> Result<Self, Refusal> {
        let elements = element::split(source, definition.open + 1..definition.close)?;
        let mut owned = own::own(source, definition, &elements)?;
        let tree = tree::grow(source, &mut owned.pieces)?;
        let mut body = Self {
            source,
            definition: definition.clone(),
            statements: owned.statements,
            pieces: owned.pieces,
            blocks: tree.blocks,
            root: tree.root,
            lines: owned.lines,
            is_inline: owned.is_inline,
        };
        pin::find_pins(&mut body);
        Ok(body)
    }
}
