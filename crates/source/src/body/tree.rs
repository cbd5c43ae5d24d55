//! Pieces in their nest of `#if` blocks.

use super::statement::{Piece, PieceKind};
use crate::refusal::Refusal;
use crate::scan::{Directive, Literal, SourceText};

/// Deeper nests, and longer chains of `#elif`, are no real header's.
const LIMIT: usize = 128;

/// A piece or a block in the sequence of its arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Piece(usize),
    Block(usize),
}

/// `#if … #endif`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The block and arm around it.
    pub(crate) home: Option<(usize, usize)>,
    pub(crate) arms: Vec<Arm>,
    /// The piece of its `#endif`.
    pub(crate) end: usize,
}

/// What stands under one condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arm {
    /// The piece of its `#if`, `#elif` or `#else`.
    pub(crate) piece: usize,
    /// What must hold for it: the conditions of the arms before fail, its own holds.
    pub(crate) literals: Vec<Literal>,
    pub(crate) nodes: Vec<Node>,
}

/// The nest of a body.
pub(crate) struct Tree {
    pub(crate) blocks: Vec<Block>,
    pub(crate) root: Vec<Node>,
}

/// Builds the nest and tells each piece its home.
pub(crate) fn grow(source: &SourceText, pieces: &mut [Piece]) -> Result<Tree, Refusal> {
    let mut grower = Grower { tree: Tree { blocks: Vec::new(), root: Vec::new() }, open: Vec::new() };
    for (index, piece) in pieces.iter_mut().enumerate() {
        let directive = match piece.kind {
            PieceKind::Directive(token) => source.directive(token),
            _ => None,
        };
        let line = u32::try_from(piece.lines.start + 1).unwrap_or(u32::MAX);
        grower.take(index, directive, piece, line)?;
    }
    match grower.open.pop() {
        Some((_, line)) => Err(Refusal::Unbalanced { line }),
        None => Ok(grower.tree),
    }
}

struct Grower {
    tree: Tree,
    /// Open blocks with the line of their `#if`.
    open: Vec<(usize, u32)>,
}

impl Grower {
    fn take(
        &mut self,
        index: usize,
        directive: Option<Directive>,
        piece: &mut Piece,
        line: u32,
    ) -> Result<(), Refusal> {
        match directive {
            Some(Directive::If(_)) if self.open.len() >= LIMIT => return Err(Refusal::TooDeep { line }),
            Some(Directive::If(literal)) => self.open_block(index, literal, line),
            Some(Directive::Elif(literal)) => self.open_arm(index, Some(literal), line)?,
            Some(Directive::Else) => self.open_arm(index, None, line)?,
            Some(Directive::Endif) => {
                let (block, _) = self.open.pop().ok_or(Refusal::Unbalanced { line })?;
                if let Some(block) = self.tree.blocks.get_mut(block) {
                    block.end = index;
                }
            }
            _ => {
                piece.home = self.home();
                self.push(Node::Piece(index));
            }
        }
        Ok(())
    }

    fn home(&self) -> Option<(usize, usize)> {
        let (block, _) = self.open.last()?;
        let arms = self.tree.blocks.get(*block).map_or(1, |block| block.arms.len());
        Some((*block, arms.saturating_sub(1)))
    }

    fn push(&mut self, node: Node) {
        let innermost = self.open.last().map(|(block, _)| *block);
        let block = innermost.and_then(|block| self.tree.blocks.get_mut(block));
        match block.and_then(|block| block.arms.last_mut()) {
            Some(arm) => arm.nodes.push(node),
            None => self.tree.root.push(node),
        }
    }

    fn open_block(&mut self, piece: usize, literal: Literal, line: u32) {
        let index = self.tree.blocks.len();
        self.push(Node::Block(index));
        let arm = Arm { piece, literals: vec![literal], nodes: Vec::new() };
        self.tree.blocks.push(Block { home: self.home(), arms: vec![arm], end: piece });
        self.open.push((index, line));
    }

    fn open_arm(&mut self, piece: usize, literal: Option<Literal>, line: u32) -> Result<(), Refusal> {
        let innermost = self.open.last().map(|(block, _)| *block);
        let block = innermost.and_then(|block| self.tree.blocks.get_mut(block));
        let block = block.ok_or(Refusal::Unbalanced { line })?;
        if block.arms.len() >= LIMIT {
            return Err(Refusal::TooDeep { line });
        }
        let mut literals = block.arms.last().map_or_else(Vec::new, |arm| arm.literals.clone());
        if let Some(last) = literals.pop() {
            literals.push(last.negated());
        }
        literals.extend(literal);
        block.arms.push(Arm { piece, literals, nodes: Vec::new() });
        Ok(())
    }
}
