//! Places for a marker before the first or behind the last declaration of a group.

use crate::body::{BodyNode, PieceKind, StructBody};
use crate::join::Join;
use crate::scan::ConditionLiteral;
use std::collections::BTreeSet;
use std::ops::Range;

/// Which end of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupEdge {
    Begin,
    End,
}

/// A place for a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MarkerPosition {
    /// 0-based line before which it stands.
    pub(super) line: usize,
    /// Blocks open at that line, outermost first.
    pub(super) blocks: Vec<usize>,
    /// How many of them are around the marker; the others are closed before it and opened again behind it.
    pub(super) level: usize,
    /// How many are cut so.
    pub(super) splits: usize,
    /// The conditions it stands under.
    pub(super) conditions: BTreeSet<ConditionLiteral>,
}

/// All places at one end of a group of members, by the index of the declaration there.
pub(super) fn find_positions(
    join: &Join,
    statement: usize,
    members: &Range<usize>,
    edge: GroupEdge,
) -> Vec<MarkerPosition> {
    let body = join.body;
    let Some(piece) = body.statements().get(statement).map(|statement| statement.piece) else {
        return Vec::new();
    };
    let finder = PositionFinder { body, path: body.path(piece), edge };
    // What has several arms moves as one, and its arms are alternatives: markers stand around all of it.
    let is_forked = |(block, _): &(usize, usize)| body.arms(*block).len() != 1;
    let (node, depth) = match finder.path.iter().position(is_forked) {
        Some(at) => (BodyNode::Block(finder.path[at].0), at),
        None => (BodyNode::Piece(piece), finder.path.len()),
    };
    let lines = finder.lines(node);
    if is_shared(join, &lines, members) { Vec::new() } else { finder.find(node, depth) }
}

/// Whether lines declare members of no such group too.
fn is_shared(join: &Join, lines: &Range<usize>, members: &Range<usize>) -> bool {
    let index = join.body.source.lines();
    join.body.statements().iter().enumerate().any(|(at, statement)| {
        lines.contains(&index.index(statement.range.start))
            && join.members_of(at).any(|member| !members.contains(&member))
    })
}

struct PositionFinder<'b, 's, 't> {
    body: &'b StructBody<'s, 't>,
    /// Blocks and arms around the declaration, outermost first.
    path: Vec<(usize, usize)>,
    edge: GroupEdge,
}

impl PositionFinder<'_, '_, '_> {
    /// From inside out: out of blocks that begin (end) with the group, then through cuts of those that don't.
    fn find(&self, mut node: BodyNode, mut depth: usize) -> Vec<MarkerPosition> {
        let mut found = vec![self.position(node, depth, depth)];
        while let Some((block, arm)) = depth.checked_sub(1).map(|above| self.path[above]) {
            if !self.is_outermost(block, arm, node) {
                break;
            }
            node = BodyNode::Block(block);
            depth -= 1;
            found.push(self.position(node, depth, depth));
        }
        found.extend((0..depth).rev().map(|level| self.position(node, depth, level)));
        found
    }

    fn position(&self, node: BodyNode, depth: usize, level: usize) -> MarkerPosition {
        let lines = self.lines(node);
        let above = self.path[..level].iter();
        let conditions = above.flat_map(|(block, arm)| self.body.arm_literals(*block, *arm)).collect();
        MarkerPosition {
            line: if self.edge == GroupEdge::Begin { lines.start } else { lines.end },
            blocks: self.path.iter().take(depth).map(|(block, _)| *block).collect(),
            level,
            splits: depth - level,
            conditions,
        }
    }

    /// Whether nothing stands between a node and this end of its arm.
    fn is_outermost(&self, block: usize, arm: usize, node: BodyNode) -> bool {
        let nodes = self.body.arms(block).get(arm).map_or(&[][..], |arm| &arm.nodes);
        let is_member = |node: &&BodyNode| match node {
            // Comments on their own belong to nothing.
            BodyNode::Piece(piece) => {
                !matches!(self.body.pieces[*piece].kind, PieceKind::Comment | PieceKind::Layout)
            }
            BodyNode::Block(_) => true,
        };
        let mut nodes = nodes.iter().filter(is_member);
        let found = if self.edge == GroupEdge::Begin { nodes.next() } else { nodes.next_back() };
        found == Some(&node)
    }

    /// 0-based lines of a node.
    fn lines(&self, node: BodyNode) -> Range<usize> {
        let lines = |piece: usize| &self.body.pieces[piece].lines;
        match node {
            BodyNode::Piece(piece) => lines(piece).clone(),
            BodyNode::Block(block) => {
                let block = &self.body.blocks[block];
                block.arms.first().map_or(0, |arm| lines(arm.piece).start)..lines(block.end).end
            }
        }
    }
}
