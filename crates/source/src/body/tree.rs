//! Pieces in their nest of `#if` blocks.

use super::statement::{Piece, PieceKind};
use crate::refusal::Refusal;
use crate::scan::{Directive, Literal, SourceText, line_number};

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
        grower.take(source, index, piece)?;
    }
    match grower.open.pop() {
        Some((_, line)) => Err(Refusal::Unbalanced(line)),
        None => Ok(grower.tree),
    }
}

struct Grower {
    tree: Tree,
    /// Open blocks with the line of their `#if`.
    open: Vec<(usize, u32)>,
}

impl Grower {
    fn take(&mut self, source: &SourceText, index: usize, piece: &mut Piece) -> Result<(), Refusal> {
        let line = line_number(piece.lines.start);
        let directive = match piece.kind {
            PieceKind::Directive(token) => source.directive(token),
            _ => None,
        };
        match directive {
            Some(Directive::If(_)) if self.open.len() >= LIMIT => return Err(Refusal::TooDeep(line)),
            Some(Directive::If(literal)) => {
                let block = self.tree.blocks.len();
                self.push(Node::Block(block));
                let arm = Arm { piece: index, literals: vec![literal], nodes: Vec::new() };
                self.tree.blocks.push(Block { home: self.home(), arms: vec![arm], end: index });
                self.open.push((block, line));
            }
            Some(Directive::Elif(literal)) => self.open_arm(index, Some(literal), line)?,
            Some(Directive::Else) => self.open_arm(index, None, line)?,
            Some(Directive::Endif) => {
                let (block, _) = self.open.pop().ok_or(Refusal::Unbalanced(line))?;
                self.tree.blocks[block].end = index;
            }
            _ => {
                piece.home = self.home();
                self.push(Node::Piece(index));
            }
        }
        Ok(())
    }

    fn home(&self) -> Option<(usize, usize)> {
        self.open.last().map(|(block, _)| (*block, self.tree.blocks[*block].arms.len().saturating_sub(1)))
    }

    fn push(&mut self, node: Node) {
        match self.home() {
            Some((block, arm)) => self.tree.blocks[block].arms[arm].nodes.push(node),
            None => self.tree.root.push(node),
        }
    }

    fn open_arm(&mut self, piece: usize, literal: Option<Literal>, line: u32) -> Result<(), Refusal> {
        let (block, _) = self.open.last().ok_or(Refusal::Unbalanced(line))?;
        let arms = &mut self.tree.blocks[*block].arms;
        if arms.len() >= LIMIT {
            return Err(Refusal::TooDeep(line));
        }
        let mut literals = arms.last().map_or_else(Vec::new, |arm| arm.literals.clone());
        if let Some(last) = literals.last_mut() {
            last.holds = !last.holds;
        }
        literals.extend(literal);
        arms.push(Arm { piece, literals, nodes: Vec::new() });
        Ok(())
    }
}
