//! Pieces in their nest of `#if` blocks.

use super::statement::{BodyPiece, PieceKind};
use crate::refusal::{Result, SourceRefusal};
use crate::scan::{ConditionLiteral, Directive, SourceText, line_number};

/// Deeper nests, and longer chains of `#elif`, are no real header's.
const LIMIT: usize = 128;

/// A piece or a block in the sequence of its arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyNode {
    Piece(usize),
    Block(usize),
}

/// `#if … #endif`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConditionBlock {
    /// The block and arm around it.
    pub(crate) parent_arm: Option<(usize, usize)>,
    pub(crate) arms: Vec<ConditionArm>,
    /// The piece of its `#endif`.
    pub(crate) end: usize,
}

/// The nodes under one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConditionArm {
    /// The piece of its `#if`, `#elif` or `#else`.
    pub(crate) piece: usize,
    /// Its conditions: those of the arms before fail, its own holds.
    pub(crate) literals: Vec<ConditionLiteral>,
    pub(crate) nodes: Vec<BodyNode>,
}

/// The nest of a body.
#[derive(Default)]
pub(crate) struct ConditionTree {
    pub(crate) blocks: Vec<ConditionBlock>,
    pub(crate) root: Vec<BodyNode>,
}

/// Builds the nest and sets each piece's arm.
pub(crate) fn build_tree(source: &SourceText, pieces: &mut [BodyPiece]) -> Result<ConditionTree> {
    let mut builder = TreeBuilder::default();
    for (index, piece) in pieces.iter_mut().enumerate() {
        builder.add_piece(source, index, piece)?;
    }
    match builder.open.pop() {
        Some((_, line)) => Err(SourceRefusal::Unbalanced(line)),
        None => Ok(builder.tree),
    }
}

#[derive(Default)]
struct TreeBuilder {
    tree: ConditionTree,
    /// Open blocks with the line of their `#if`.
    open: Vec<(usize, u32)>,
}

impl TreeBuilder {
    fn add_piece(&mut self, source: &SourceText, index: usize, piece: &mut BodyPiece) -> Result<()> {
        let line = line_number(piece.lines.start);
        let directive = match piece.kind {
            PieceKind::Directive(token) => source.directive(token),
            _ => None,
        };
        match directive {
            Some(Directive::If(_)) if self.open.len() >= LIMIT => return Err(SourceRefusal::TooDeep(line)),
            Some(Directive::If(literal)) => {
                let block = self.tree.blocks.len();
                self.push(BodyNode::Block(block));
                let arms = vec![ConditionArm { piece: index, literals: vec![literal], nodes: Vec::new() }];
                let parent_arm = self.current_arm();
                self.tree.blocks.push(ConditionBlock { parent_arm, arms, end: index });
                self.open.push((block, line));
            }
            Some(Directive::Elif(literal)) => self.open_arm(index, Some(literal), line)?,
            Some(Directive::Else) => self.open_arm(index, None, line)?,
            Some(Directive::Endif) => {
                let (block, _) = self.open.pop().ok_or(SourceRefusal::Unbalanced(line))?;
                self.tree.blocks[block].end = index;
            }
            _ => {
                piece.parent_arm = self.current_arm();
                self.push(BodyNode::Piece(index));
            }
        }
        Ok(())
    }

    fn current_arm(&self) -> Option<(usize, usize)> {
        self.open.last().map(|(block, _)| (*block, self.tree.blocks[*block].arms.len().saturating_sub(1)))
    }

    fn push(&mut self, node: BodyNode) {
        match self.current_arm() {
            Some((block, arm)) => self.tree.blocks[block].arms[arm].nodes.push(node),
            None => self.tree.root.push(node),
        }
    }

    fn open_arm(&mut self, piece: usize, literal: Option<ConditionLiteral>, line: u32) -> Result<()> {
        let (block, _) = self.open.last().ok_or(SourceRefusal::Unbalanced(line))?;
        let arms = &mut self.tree.blocks[*block].arms;
        if arms.len() >= LIMIT {
            return Err(SourceRefusal::TooDeep(line));
        }
        let mut literals = arms.last().map_or_else(Vec::new, |arm| arm.literals.clone());
        if let Some(last) = literals.last_mut() {
            last.holds = !last.holds;
        }
        literals.extend(literal);
        arms.push(ConditionArm { piece, literals, nodes: Vec::new() });
        Ok(())
    }
}
