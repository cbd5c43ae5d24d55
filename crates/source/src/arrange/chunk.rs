//! A joined body as chunks of whole lines.

use crate::body::{Body, Declares, FixedPlace, MemberShape, Node, Piece, PieceKind, Statement};
use crate::join::Join;
use crate::scan::line_number;
use std::ops::Range;

/// Lines that stay together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) role: Role,
    /// 0-based lines.
    pub(super) lines: Range<usize>,
    /// Comment lines of its own above the declaration.
    pub(super) lead: usize,
    pub(super) blank_before: usize,
    /// Open blocks around it, outermost first; each has one arm, and that is active.
    pub(super) path: Vec<usize>,
    /// Members it declares, by declared index.
    pub(super) members: Range<usize>,
    /// Stretch between barriers; no unit leaves its zone.
    pub(super) zone: u32,
    /// What makes its members one unit.
    pub(super) together: Together,
    /// Why nothing passes it and it doesn't move.
    pub(super) fixed: Option<FixedPlace>,
}

/// What a chunk does when units are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Declares members; goes where the order says.
    Unit,
    /// Declares none; stays, and nothing passes it.
    Barrier,
    /// Stays beside the chunks that don't move.
    Stay,
    /// An inactive block that stays likewise.
    Idle,
    /// An inactive block that stays with this unit, by chunk index.
    Follow(usize),
    /// A comment about the layout between its two neighbours.
    Layout,
}

/// What makes several members one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// One declaration.
    Declaration,
    /// Declarations on one line.
    Line,
    /// An `#if` block with several arms.
    Block,
}

impl Together {
    /// The reason, as part of a sentence.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Declaration => "they are one declaration",
            Self::Line => "their declarations share a line",
            Self::Block => "they stand in an #if block with several branches",
        }
    }
}

/// All chunks of a body in the order of their lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Chunks {
    pub(super) list: Vec<Chunk>,
}

impl Chunks {
    pub(super) fn cut(join: &Join) -> Self {
        let mut cutter =
            Cutter { join, body: join.body, chunks: Vec::new(), path: Vec::new(), next_member: 0 };
        // An own stack: nesting depth is the input's choice.
        let mut work: Vec<Work> = join.body.root.iter().rev().map(|node| Work::Node(*node)).collect();
        while let Some(next) = work.pop() {
            match next {
                Work::Leave => {
                    cutter.path.pop();
                }
                Work::Node(Node::Piece(piece)) => cutter.piece(piece),
                Work::Node(Node::Block(block)) if cutter.is_open(block) => {
                    cutter.path.push(block);
                    work.push(Work::Leave);
                    let nodes = join.body.arms(block).iter().flat_map(|arm| arm.nodes.iter().rev());
                    work.extend(nodes.map(|node| Work::Node(*node)));
                }
                Work::Node(Node::Block(block)) => cutter.closed_block(block),
            }
        }
        let mut chunks = Self { list: cutter.chunks };
        for chunk in chunks.list.iter_mut().filter(|_| join.body.is_inline) {
            let reason = "a declaration shares a line with a brace".to_owned();
            chunk.fixed.get_or_insert(FixedPlace { line: line_number(chunk.lines.start), reason });
        }
        chunks.attach_followers();
        chunks.number_zones();
        chunks
    }

    pub(super) fn get(&self, index: usize) -> Option<&Chunk> {
        self.list.get(index)
    }

    pub(super) fn is_unit(&self, index: usize) -> bool {
        self.get(index).is_some_and(|chunk| chunk.role == Role::Unit)
    }

    /// Units in declared order, by chunk index.
    pub(super) fn units(&self) -> impl Iterator<Item = (usize, &Chunk)> {
        self.list.iter().enumerate().filter(|(_, chunk)| chunk.role == Role::Unit)
    }

    /// An inactive block directly below a unit belongs to it.
    fn attach_followers(&mut self) {
        for index in 1..self.list.len() {
            let (last, chunk) = (&self.list[index - 1], &self.list[index]);
            if chunk.role == Role::Idle && chunk.blank_before == 0 && chunk.path == last.path {
                match last.role {
                    Role::Unit => self.list[index].role = Role::Follow(index - 1),
                    Role::Follow(unit) => self.list[index].role = Role::Follow(unit),
                    _ => {}
                }
            }
        }
    }

    fn number_zones(&mut self) {
        let mut zone = 0;
        for chunk in &mut self.list {
            let alone = u32::from(chunk.fixed.is_some());
            chunk.zone = zone + alone;
            zone += 2 * alone;
        }
    }
}

enum Work {
    Node(Node),
    Leave,
}

struct Cutter<'j, 'b, 's, 't> {
    join: &'j Join<'b, 's, 't>,
    body: &'b Body<'s, 't>,
    chunks: Vec<Chunk>,
    path: Vec<usize>,
    /// The first member no chunk has yet.
    next_member: usize,
}

impl Cutter<'_, '_, '_, '_> {
    /// Lines from a piece on that stay where they are as far as is known.
    fn chunk(&self, first: &Piece, end: usize) -> Chunk {
        Chunk {
            role: Role::Stay,
            lines: first.lines.start..end,
            lead: 0,
            blank_before: first.blank_before,
            path: self.path.clone(),
            members: self.next_member..self.next_member,
            zone: 0,
            together: Together::Declaration,
            fixed: None,
        }
    }

    /// Adds a chunk of statements with what they declare; if that is nothing and they don't stay, it has the role `idle`.
    fn push(&mut self, chunk: Chunk, statements: &[usize], fixed: Option<FixedPlace>, idle: Role) {
        let members = self.members(statements);
        let role = match (members.is_empty(), &fixed) {
            (false, _) => Role::Unit,
            (true, Some(_)) => Role::Barrier,
            (true, None) => idle,
        };
        self.next_member = self.next_member.max(members.end);
        self.chunks.push(Chunk { role, members, fixed, ..chunk });
    }

    fn piece(&mut self, index: usize) {
        let Some(piece) = self.body.pieces.get(index) else { return };
        let chunk = self.chunk(piece, piece.lines.end);
        match &piece.kind {
            PieceKind::Comment => self.chunks.push(chunk),
            PieceKind::Layout => self.chunks.push(Chunk { role: Role::Layout, ..chunk }),
            PieceKind::Directive(token) => {
                let fixed = Some(self.at_directive(*token));
                self.chunks.push(Chunk { role: Role::Barrier, fixed, ..chunk });
            }
            PieceKind::Statements(statements) => {
                let is_idle = self.members(statements).is_empty();
                let mut all = statements.iter().filter_map(|at| self.body.statements.get(*at).zip(Some(*at)));
                let start = all.clone().next().map_or(0, |(first, _)| first.range.start);
                let lead = self.body.source.lines().index(start).saturating_sub(chunk.lines.start);
                let fixed = all.find_map(|(statement, at)| self.fixed(statement, at, is_idle));
                let together = if statements.len() > 1 { Together::Line } else { Together::Declaration };
                self.push(Chunk { lead, together, ..chunk }, statements, fixed, Role::Stay);
            }
        }
    }

    /// Members that statements declare: a run, since they are taken in order.
    fn members(&self, statements: &[usize]) -> Range<usize> {
        let runs = statements.iter().map(|at| self.join.members_of(*at)).filter(|run| !run.is_empty());
        runs.reduce(|one, next| one.start..next.end).unwrap_or(self.next_member..self.next_member)
    }

    /// Why a statement stays where it is, if so. `is_idle` tells that nothing beside it declares a member either.
    fn fixed(&self, statement: &Statement, index: usize, is_idle: bool) -> Option<FixedPlace> {
        if let Some(pin) = &statement.pin {
            return Some(pin.clone());
        }
        let is_lone =
            || statement.tokens.len() == 1 && self.body.source.is_punct(statement.tokens.start, b';');
        let reason = match statement.declares {
            _ if statement.is_tangled => "preprocessor lines run through the declaration",
            _ if has_unnamed_bits(statement) => "an unnamed bit-field stands there",
            Declares::Nothing if !is_lone() => "it declares something other than a member",
            Declares::Unknown if !self.join.is_understood(index) => "it is a macro that isn't understood",
            Declares::Members(_) if is_idle => "it may declare a member in other configurations",
            _ => return None,
        };
        Some(FixedPlace { line: statement.line, reason: reason.to_owned() })
    }

    fn at_directive(&self, token: usize) -> FixedPlace {
        let line = self.body.source.line_of(token);
        FixedPlace { line, reason: "a preprocessor line stands there".to_owned() }
    }

    /// Whether units can move in and out of a block: it has one arm, which is active.
    fn is_open(&self, block: usize) -> bool {
        self.body.arms(block).len() == 1
            && self.statements_in(block).iter().any(|at| !self.join.members_of(*at).is_empty())
    }

    /// A block that moves as a whole, or stays as a whole.
    fn closed_block(&mut self, block: usize) {
        let Some(found) = self.body.blocks.get(block) else { return };
        let first = found.arms.first().and_then(|arm| self.body.pieces.get(arm.piece));
        let (Some(first), Some(last)) = (first, self.body.pieces.get(found.end)) else { return };
        let statements = self.statements_in(block);
        let fixed = self.fixed_in_block(block, &statements);
        let chunk = self.chunk(first, last.lines.end);
        let lead = self.body.directive_line(first).saturating_sub(chunk.lines.start);
        self.push(Chunk { lead, together: Together::Block, ..chunk }, &statements, fixed, Role::Idle);
    }

    fn fixed_in_block(&self, block: usize, statements: &[usize]) -> Option<FixedPlace> {
        let directive = self.pieces_in(block).into_iter().find_map(|piece| match piece.kind {
            PieceKind::Directive(token) => Some(self.at_directive(token)),
            _ => None,
        });
        let is_idle = self.members(statements).is_empty();
        directive.or_else(|| {
            statements.iter().find_map(|at| {
                let statement = self.body.statements.get(*at)?;
                // In an inactive arm a declaration of members we understand is no barrier.
                let is_plain = matches!(statement.declares, Declares::Members(_))
                    && statement.pin.is_none()
                    && !statement.is_tangled
                    && !has_unnamed_bits(statement);
                let is_inactive = self.join.members_of(*at).is_empty();
                self.fixed(statement, *at, is_idle).filter(|_| !(is_inactive && is_plain))
            })
        })
    }

    /// Pieces of all arms and nested blocks, their own preprocessor lines of conditions apart.
    fn pieces_in(&self, block: usize) -> Vec<&Piece> {
        let mut found = Vec::new();
        let mut work = vec![block];
        while let Some(block) = work.pop() {
            for node in self.body.arms(block).iter().flat_map(|arm| &arm.nodes) {
                match node {
                    Node::Piece(piece) => found.push(*piece),
                    Node::Block(block) => work.push(*block),
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
