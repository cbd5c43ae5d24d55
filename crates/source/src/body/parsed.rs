//! A body split into statements, and questions about it.

use super::statement::{BodyPiece, PieceKind, PlaceComment, Statement};
use super::tree::{BodyNode, ConditionArm, ConditionBlock};
use super::{element, ownership, pin, tree};
use crate::definition::StructDefinition;
use crate::refusal::Result;
use crate::scan::{ConditionLiteral, SourceText};
use std::ops::Range;

/// A body split into statements.
#[derive(Clone, Debug)]
pub struct StructBody<'s, 't> {
    pub(crate) source: &'s SourceText<'t>,
    pub(crate) definition: StructDefinition,
    pub(crate) statements: Vec<Statement>,
    pub(crate) pieces: Vec<BodyPiece>,
    pub(crate) blocks: Vec<ConditionBlock>,
    pub(crate) root: Vec<BodyNode>,
    /// 0-based lines that belong to the body alone.
    pub(crate) lines: Range<usize>,
    /// Whether a declaration shares a line with one of the braces.
    pub(crate) is_inline: bool,
    /// Comments that speak of places, in order.
    pub(crate) place_comments: Vec<PlaceComment>,
}

impl<'s, 't> StructBody<'s, 't> {
    /// Splits a definition's body.
    /// Fails if brackets or `#if` lines don't pair up, or one shares a line with a declaration.
    pub fn parse(source: &'s SourceText<'t>, definition: &StructDefinition) -> Result<Self> {
        let elements = element::split_elements(source, definition.open + 1..definition.close)?;
        let ownership::BodyLines { mut statements, mut pieces, lines, is_inline } =
            ownership::assign_lines(source, definition, &elements)?;
        let tree::ConditionTree { blocks, root } = tree::build_tree(source, &mut pieces)?;
        let place_comments = pin::find_pins(source, definition, &mut statements, &pieces);
        Ok(Self {
            source,
            definition: definition.clone(),
            statements,
            pieces,
            blocks,
            root,
            lines,
            is_inline,
            place_comments,
        })
    }

    /// The definition whose body it is.
    pub fn definition(&self) -> &StructDefinition {
        &self.definition
    }

    /// All statements in order, those of inactive branches too.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// Comments that speak of places without a demand, in order of the text.
    pub fn place_comments(&self) -> &[PlaceComment] {
        &self.place_comments
    }

    /// A statement's own text.
    pub fn text(&self, statement: &Statement) -> &'t [u8] {
        self.source.slice(statement.range.clone())
    }

    /// The conditions around a statement, outermost first; in an `#else` arm the negated ones before it.
    pub fn conditions(&self, statement: &Statement) -> Vec<ConditionLiteral> {
        let path = self.path(statement.piece).into_iter();
        path.flat_map(|(block, arm)| self.arm_literals(block, arm)).collect()
    }

    /// The definition in an edited text: as many structs and unions are named before it.
    pub(crate) fn find_again(&self, source: &SourceText) -> Option<StructDefinition> {
        let count = |source: &SourceText, end: usize| {
            (0..end).filter(|index| matches!(source.word(*index), Some(b"struct" | b"union"))).count()
        };
        let number = count(self.source, self.definition.keyword);
        let mut all = source.definitions().into_iter();
        all.find(|found| found.tag == self.definition.tag && count(source, found.keyword) == number)
    }

    pub(crate) fn arms(&self, block: usize) -> &[ConditionArm] {
        self.blocks.get(block).map_or(&[], |block| &block.arms)
    }

    /// Blocks around a piece with the arm it is in, outermost first.
    pub(crate) fn path(&self, piece: usize) -> Vec<(usize, usize)> {
        let mut parent = self.pieces.get(piece).and_then(|piece| piece.parent_arm);
        let mut path = Vec::new();
        while let Some((block, arm)) = parent {
            path.push((block, arm));
            parent = self.blocks.get(block).and_then(|block| block.parent_arm);
        }
        path.reverse();
        path
    }

    pub(crate) fn arm_literals(&self, block: usize, arm: usize) -> Vec<ConditionLiteral> {
        self.arms(block).get(arm).map_or_else(Vec::new, |arm| arm.literals.clone())
    }

    /// 0-based line on which a preprocessor line itself begins, comments above it apart.
    pub(crate) fn directive_line(&self, piece: &BodyPiece) -> usize {
        match piece.kind {
            PieceKind::Directive(token) => self.source.lines().index(self.source.start(token)),
            _ => piece.lines.start,
        }
    }

    pub(crate) fn lines_text(&self, lines: &Range<usize>) -> &'t [u8] {
        self.source.slice(self.source.lines().span(lines))
    }
}
