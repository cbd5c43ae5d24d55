//! A joined body as chunks of whole lines.

use crate::body::{BodyNode, BodyPiece, FixedPlace, PieceKind, Statement, StructBody};
use crate::body::{DeclaredMembers, MemberShape};
use crate::join::Join;
use crate::scan::line_number;
use std::ops::Range;

/// Lines that stay together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineChunk {
    pub(super) role: ChunkRole,
    /// 0-based lines.
    pub(super) lines: Range<usize>,
    /// Comment lines of its own above the declaration.
    pub(super) lead_lines: usize,
    pub(super) blank_before: usize,
    /// Open blocks around it, outermost first; each has one arm, and that is active.
    pub(super) path: Vec<usize>,
    /// Members it declares, by declared index.
    pub(super) members: Range<usize>,
    /// Stretch between barriers; no unit leaves its zone.
    pub(super) zone: u32,
    /// Why its members are one unit.
    pub(super) unit_reason: UnitReason,
    /// Why nothing passes it and it doesn't move.
    pub(super) fixed: Option<FixedPlace>,
}

/// Roles of chunks when units are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkRole {
    /// Declares members; goes where the order says.
    Unit,
    /// Declares none; stays, and nothing passes it.
    Barrier,
    /// Stays beside the chunks that don't move.
    Stay,
    /// An inactive block that stays too.
    Inactive,
    /// An inactive block that stays with this unit, by chunk index.
    FollowUnit(usize),
    /// A comment about the layout between its two neighbours.
    Layout,
}

/// Why several members are one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitReason {
    /// One declaration.
    Declaration,
    /// Declarations on one line.
    Line,
    /// Declarations below one another, with a comment that goes on from one line to the next.
    Comment,
    /// An `#if` block with several arms.
    Block,
}

impl UnitReason {
    /// The reason, as part of a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Declaration => "they are one declaration",
            Self::Line => "their declarations share a line",
            Self::Comment => "a comment behind one goes on behind the next",
            Self::Block => "they stand in an #if block with several branches",
        }
    }
}

/// All chunks of a body in the order of their lines.
#[derive(Clone, Debug, Default)]
pub(super) struct LineChunks {
    pub(super) list: Vec<LineChunk>,
}

impl LineChunks {
    pub(super) fn build(join: &Join) -> Self {
        let (chunks, path) = (Vec::new(), Vec::new());
        let mut builder = ChunkBuilder { join, body: join.body, chunks, path, next_member: join.inherited };
        // An own stack: nesting depth is the input's choice.
        let mut work: Vec<_> = join.body.root.iter().rev().map(|node| Work::Node(*node)).collect();
        while let Some(next) = work.pop() {
            match next {
                Work::LeaveBlock => {
                    builder.path.pop();
                }
                Work::Node(BodyNode::Piece(piece)) => builder.push_piece(piece),
                Work::Node(BodyNode::Block(block)) if builder.is_open(block) => {
                    builder.path.push(block);
                    work.push(Work::LeaveBlock);
                    let nodes = join.body.arms(block).iter().flat_map(|arm| arm.nodes.iter().rev());
                    work.extend(nodes.map(|node| Work::Node(*node)));
                }
                Work::Node(BodyNode::Block(block)) => builder.push_closed_block(block),
            }
        }
        let mut chunks = Self { list: builder.chunks };
        for chunk in chunks.list.iter_mut().filter(|_| join.body.is_inline) {
            let reason = "a declaration shares a line with a brace".to_owned();
            chunk.fixed.get_or_insert(FixedPlace { line: line_number(chunk.lines.start), reason });
        }
        chunks.attach_followers();
        chunks.number_zones(u32::try_from(join.inherited).unwrap_or(u32::MAX / 2));
        chunks
    }

    pub(super) fn get(&self, index: usize) -> Option<&LineChunk> {
        self.list.get(index)
    }

    pub(super) fn is_unit(&self, index: usize) -> bool {
        self.get(index).is_some_and(|chunk| chunk.role == ChunkRole::Unit)
    }

    /// Units in declared order, by chunk index.
    pub(super) fn units(&self) -> impl Iterator<Item = (usize, &LineChunk)> {
        self.list.iter().enumerate().filter(|(_, chunk)| chunk.role == ChunkRole::Unit)
    }

    /// An inactive block directly below a unit belongs to it.
    fn attach_followers(&mut self) {
        for index in 1..self.list.len() {
            let (last, chunk) = (&self.list[index - 1], &self.list[index]);
            if chunk.role == ChunkRole::Inactive && chunk.blank_before == 0 && chunk.path == last.path {
                match last.role {
                    ChunkRole::Unit => self.list[index].role = ChunkRole::FollowUnit(index - 1),
                    ChunkRole::FollowUnit(unit) => self.list[index].role = ChunkRole::FollowUnit(unit),
                    _ => {}
                }
            }
        }
    }

    /// The first zones are of what is inherited, one each, which all else follows.
    fn number_zones(&mut self, first: u32) {
        let mut zone = first;
        for chunk in &mut self.list {
            let alone = u32::from(chunk.fixed.is_some());
            chunk.zone = zone + alone;
            zone += 2 * alone;
        }
    }
}

enum Work {
    Node(BodyNode),
    LeaveBlock,
}

struct ChunkBuilder<'j, 'b, 's, 't> {
    join: &'j Join<'b, 's, 't>,
    body: &'b StructBody<'s, 't>,
    chunks: Vec<LineChunk>,
    path: Vec<usize>,
    /// The first member no chunk has yet.
    next_member: usize,
}

impl ChunkBuilder<'_, '_, '_, '_> {
    /// Lines from a piece on that stay where they are as far as is known.
    fn new_chunk(&self, first: &BodyPiece, end: usize) -> LineChunk {
        LineChunk {
            role: ChunkRole::Stay,
            lines: first.lines.start..end,
            lead_lines: 0,
            blank_before: first.blank_before,
            path: self.path.clone(),
            members: self.next_member..self.next_member,
            zone: 0,
            unit_reason: UnitReason::Declaration,
            fixed: None,
        }
    }

    /// Adds a chunk of statements with their members; its role is `idle` if it has none and doesn't stay.
    fn push(&mut self, chunk: LineChunk, statements: &[usize], fixed: Option<FixedPlace>, idle: ChunkRole) {
        let members = self.members(statements);
        let role = match (members.is_empty(), &fixed) {
            (false, _) => ChunkRole::Unit,
            (true, Some(_)) => ChunkRole::Barrier,
            (true, None) => idle,
        };
        self.next_member = self.next_member.max(members.end);
        self.chunks.push(LineChunk { role, members, fixed, ..chunk });
    }

    fn push_piece(&mut self, index: usize) {
        let Some(piece) = self.body.pieces.get(index) else { return };
        let chunk = self.new_chunk(piece, piece.lines.end);
        match &piece.kind {
            PieceKind::Comment => self.chunks.push(chunk),
            PieceKind::Layout => self.chunks.push(LineChunk { role: ChunkRole::Layout, ..chunk }),
            PieceKind::Directive(token) => {
                let fixed = Some(self.fixed_at_directive(*token));
                self.chunks.push(LineChunk { role: ChunkRole::Barrier, fixed, ..chunk });
            }
            PieceKind::Statements(statements) => {
                let is_idle = self.members(statements).is_empty();
                let mut all = statements.iter().filter_map(|at| self.body.statements.get(*at).zip(Some(*at)));
                let start = all.clone().next().map_or(0, |(first, _)| first.range.start);
                let lead_lines = self.body.source.lines().index(start).saturating_sub(chunk.lines.start);
                let fixed = all.find_map(|(statement, at)| self.find_fixed_place(statement, at, is_idle));
                let unit_reason = match statements.as_slice() {
                    [_, _, ..] if self.are_below_one_another(statements) => UnitReason::Comment,
                    [_, _, ..] => UnitReason::Line,
                    _ => UnitReason::Declaration,
                };
                let chunk = LineChunk { lead_lines, unit_reason, ..chunk };
                self.push(chunk, statements, fixed, ChunkRole::Stay);
            }
        }
    }

    /// Whether a statement begins on a line behind that on which the one before ends.
    fn are_below_one_another(&self, statements: &[usize]) -> bool {
        let found = statements.iter().filter_map(|at| self.body.statements.get(*at));
        let ends = found.clone().map(|statement| self.body.source.lines().number(statement.range.end));
        ends.zip(found.skip(1)).any(|(end, next)| next.line > end)
    }

    /// Members that statements declare: a run, since they are taken in order.
    fn members(&self, statements: &[usize]) -> Range<usize> {
        let runs = statements.iter().map(|at| self.join.members_of(*at)).filter(|run| !run.is_empty());
        runs.reduce(|first, next| first.start..next.end).unwrap_or(self.next_member..self.next_member)
    }

    /// Why a statement stays where it is, if so. `is_idle`: nothing beside it declares a member either.
    fn find_fixed_place(&self, statement: &Statement, index: usize, is_idle: bool) -> Option<FixedPlace> {
        if let Some(pin) = &statement.pin {
            return Some(pin.clone());
        }
        let is_lone = || self.body.text(statement) == b";";
        let reason = match statement.declared {
            _ if statement.is_tangled => "preprocessor lines run through the declaration",
            _ if has_unnamed_bits(statement) => "an unnamed bit-field stands there",
            DeclaredMembers::Nothing if !is_lone() => "it declares something other than a member",
            DeclaredMembers::Unknown if !self.join.is_understood(index) => {
                "it is a macro that isn't understood"
            }
            DeclaredMembers::Members(_) if is_idle => "it may declare a member in other configurations",
            _ => return None,
        };
        Some(FixedPlace { line: statement.line, reason: reason.to_owned() })
    }

    fn fixed_at_directive(&self, token: usize) -> FixedPlace {
        let line = self.body.source.line_of(token);
        FixedPlace { line, reason: "a preprocessor line stands there".to_owned() }
    }

    /// Whether units can move in and out of a block: it has one arm, which is active.
    fn is_open(&self, block: usize) -> bool {
        self.body.arms(block).len() == 1 && !self.members(&self.statements_in(block)).is_empty()
    }

    /// A block that moves as a whole, or stays as a whole.
    fn push_closed_block(&mut self, block: usize) {
        let Some(found) = self.body.blocks.get(block) else { return };
        let first = found.arms.first().and_then(|arm| self.body.pieces.get(arm.piece));
        let (Some(first), Some(last)) = (first, self.body.pieces.get(found.end)) else { return };
        let statements = self.statements_in(block);
        let fixed = self.fixed_in_block(block, &statements);
        let chunk = self.new_chunk(first, last.lines.end);
        let lead_lines = self.body.directive_line(first).saturating_sub(chunk.lines.start);
        let chunk = LineChunk { lead_lines, unit_reason: UnitReason::Block, ..chunk };
        self.push(chunk, &statements, fixed, ChunkRole::Inactive);
    }

    fn fixed_in_block(&self, block: usize, statements: &[usize]) -> Option<FixedPlace> {
        let directive = self.pieces_in(block).into_iter().find_map(|piece| match piece.kind {
            PieceKind::Directive(token) => Some(self.fixed_at_directive(token)),
            _ => None,
        });
        let is_idle = self.members(statements).is_empty();
        directive.or_else(|| {
            statements.iter().find_map(|at| {
                let statement = self.body.statements.get(*at)?;
                // In an inactive arm a declaration of members we understand is no barrier.
                let is_fixed = statement.pin.is_some() || statement.is_tangled || has_unnamed_bits(statement);
                let is_plain = matches!(statement.declared, DeclaredMembers::Members(_)) && !is_fixed;
                let is_inactive = self.join.members_of(*at).is_empty();
                self.find_fixed_place(statement, *at, is_idle).filter(|_| !(is_inactive && is_plain))
            })
        })
    }

    /// Pieces of all arms and nested blocks, their own preprocessor lines of conditions apart.
    fn pieces_in(&self, block: usize) -> Vec<&BodyPiece> {
        let mut found = Vec::new();
        let mut work = vec![block];
        while let Some(block) = work.pop() {
            for node in self.body.arms(block).iter().flat_map(|arm| &arm.nodes) {
                match node {
                    BodyNode::Piece(piece) => found.push(*piece),
                    BodyNode::Block(block) => work.push(*block),
                }
            }
        }
        found.sort_unstable();
        found.into_iter().filter_map(|at| self.body.pieces.get(at)).collect()
    }

    fn statements_in(&self, block: usize) -> Vec<usize> {
        let statements = self.pieces_in(block).into_iter().filter_map(|piece| match &piece.kind {
            PieceKind::Statements(statements) => Some(statements),
            _ => None,
        });
        statements.flatten().copied().collect()
    }
}

fn has_unnamed_bits(statement: &Statement) -> bool {
    statement.declarators().iter().any(|member| member.shape == MemberShape::UnnamedBits)
}
