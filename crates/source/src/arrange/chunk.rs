//! A joined body as chunks of whole lines.

use crate::body::{Body, Declares, FixedPlace, MemberShape, Node, PieceKind};
use crate::join::Join;
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
                    let nodes =
                        join.body.arms(block).first().into_iter().flat_map(|arm| arm.nodes.iter().rev());
                    work.extend(nodes.map(|node| Work::Node(*node)));
                }
                Work::Node(Node::Block(block)) => cutter.closed_block(block),
            }
        }
        let mut chunks = Self { list: cutter.chunks };
        if join.body.is_inline {
            chunks.fix_all();
        }
        chunks.attach_followers();
        chunks.number_zones();
        chunks
    }

    pub(super) fn get(&self, index: usize) -> Option<&Chunk> {
        self.list.get(index)
    }

    pub(super) fn of_member(&self, member: usize) -> Option<usize> {
        self.list.iter().position(|chunk| chunk.members.contains(&member))
    }

    /// Units in declared order, by chunk index.
    pub(super) fn units(&self) -> impl Iterator<Item = (usize, &Chunk)> {
        let all = self.list.iter().enumerate();
        all.filter(|(_, chunk)| chunk.role == Role::Unit)
    }

    fn fix_all(&mut self) {
        for chunk in &mut self.list {
            let line = Body::number(chunk.lines.start);
            chunk.fixed.get_or_insert(FixedPlace {
                line,
                reason: "a declaration shares a line with a brace".to_owned(),
            });
        }
    }

    /// An inactive block directly below a unit belongs to it.
    fn attach_followers(&mut self) {
        for index in 1..self.list.len() {
            let (before, rest) = self.list.split_at_mut(index);
            let (Some(last), Some(chunk)) = (before.last(), rest.first_mut()) else { continue };
            if chunk.role != Role::Idle || chunk.blank_before > 0 || chunk.path != last.path {
                continue;
            }
            match last.role {
                Role::Unit => chunk.role = Role::Follow(index - 1),
                Role::Follow(unit) => chunk.role = Role::Follow(unit),
                _ => {}
            }
        }
    }

    fn number_zones(&mut self) {
        let mut zone = 0;
        for chunk in &mut self.list {
            let alone = u32::from(chunk.fixed.is_some());
            zone += alone;
            chunk.zone = zone;
            zone += alone;
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
    fn push(
        &mut self,
        role: Role,
        lines: Range<usize>,
        lead: usize,
        blank_before: usize,
        members: Range<usize>,
    ) {
        self.next_member = self.next_member.max(members.end);
        self.chunks.push(Chunk {
            role,
            lines,
            lead,
            blank_before,
            path: self.path.clone(),
            members,
            zone: 0,
            together: Together::Declaration,
            fixed: None,
        });
    }

    fn fix(&mut self, found: Option<FixedPlace>, together: Together) {
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.fixed = found;
            chunk.together = together;
        }
    }

    fn piece(&mut self, index: usize) {
        let Some(piece) = self.body.pieces.get(index) else { return };
        let (lines, blank) = (piece.lines.clone(), piece.blank_before);
        let none = self.next_member..self.next_member;
        match &piece.kind {
            PieceKind::Comment => self.push(Role::Stay, lines, 0, blank, none),
            PieceKind::Layout => self.push(Role::Layout, lines, 0, blank, none),
            PieceKind::Directive(token) => {
                self.push(Role::Barrier, lines, 0, blank, none);
                self.fix(Some(self.at_directive(*token)), Together::Line);
            }
            PieceKind::Statements(statements) => {
                let members = self.members(statements);
                let fixed = self.fixed(statements, &members);
                let role = match (members.is_empty(), &fixed) {
                    (false, _) => Role::Unit,
                    (true, Some(_)) => Role::Barrier,
                    (true, None) => Role::Stay,
                };
                let lead = self.lead(statements, &lines);
                self.push(role, lines, lead, blank, members);
                self.fix(fixed, if statements.len() > 1 { Together::Line } else { Together::Declaration });
            }
        }
    }

    fn lead(&self, statements: &[usize], lines: &Range<usize>) -> usize {
        let first = statements.first().and_then(|at| self.body.statements.get(*at));
        let line = first.map_or(0, |first| self.body.source.lines().index(first.range.start));
        line.saturating_sub(lines.start)
    }

    /// Members that statements declare: a run, since they are taken in order.
    fn members(&self, statements: &[usize]) -> Range<usize> {
        let runs = statements.iter().map(|at| self.join.members_of(*at));
        let runs = runs.filter(|run| !run.is_empty());
        runs.reduce(|one, next| one.start..next.end).unwrap_or(self.next_member..self.next_member)
    }

    /// Why these statements stay where they are, if so.
    fn fixed(&self, statements: &[usize], members: &Range<usize>) -> Option<FixedPlace> {
        let mut found = statements.iter().filter_map(|at| {
            let statement = self.body.statements.get(*at)?;
            let reason = self.reason(*at, members.is_empty())?;
            let line = statement.pin.as_ref().map_or(statement.line, |pin| pin.line);
            Some(FixedPlace { line, reason })
        });
        found.next()
    }

    fn reason(&self, index: usize, is_without_members: bool) -> Option<String> {
        let statement = self.body.statements.get(index)?;
        if let Some(pin) = &statement.pin {
            return Some(pin.reason.clone());
        }
        if statement.is_tangled {
            return Some("preprocessor lines run through the declaration".to_owned());
        }
        let mut declarators = statement.declarators().iter();
        if declarators.any(|member| member.shape == MemberShape::UnnamedBits) {
            return Some("an unnamed bit-field stands there".to_owned());
        }
        let reason = match statement.declares {
            Declares::Nothing
                if statement.tokens.len() == 1 && self.body.source.text(statement.tokens.start) == b";" =>
            {
                return None;
            }
            Declares::Nothing => "it declares something other than a member",
            Declares::Unknown if !self.join.is_understood(index) => "it is a macro that isn't understood",
            Declares::Members(_) if is_without_members => "it may declare a member in other configurations",
            Declares::Unknown | Declares::Members(_) => return None,
        };
        Some(reason.to_owned())
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
        let lines = first.lines.start..last.lines.end;
        let blank = first.blank_before;
        let statements = self.statements_in(block);
        let members = self.members(&statements);
        let fixed = self.fixed_in_block(block, &statements, &members);
        let role = match (members.is_empty(), &fixed) {
            (false, _) => Role::Unit,
            (true, Some(_)) => Role::Barrier,
            (true, None) => Role::Idle,
        };
        let lead = self.body.directive_line(first).saturating_sub(lines.start);
        self.push(role, lines, lead, blank, members);
        self.fix(fixed, Together::Block);
    }

    fn fixed_in_block(
        &self,
        block: usize,
        statements: &[usize],
        members: &Range<usize>,
    ) -> Option<FixedPlace> {
        let directive = self.pieces_in(block).into_iter().find_map(|at| {
            let piece = self.body.pieces.get(at)?;
            let PieceKind::Directive(token) = piece.kind else { return None };
            Some(self.at_directive(token))
        });
        directive.or_else(|| {
            let statements = statements.iter().filter_map(|at| {
                let is_idle = self.join.members_of(*at).is_empty();
                let fixed = self.fixed(&[*at], members)?;
                let statement = self.body.statements.get(*at)?;
                // In an inactive arm a declaration of members we understand is no barrier.
                let is_plain = matches!(statement.declares, Declares::Members(_))
                    && statement.pin.is_none()
                    && !statement.is_tangled
                    && !statement.declarators().iter().any(|member| member.shape == MemberShape::UnnamedBits);
                (!(is_idle && is_plain)).then_some(fixed)
            });
            statements.into_iter().next()
        })
    }

    /// Pieces of all arms and nested blocks, their own preprocessor lines of conditions apart.
    fn pieces_in(&self, block: usize) -> Vec<usize> {
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
        found
    }

    fn statements_in(&self, block: usize) -> Vec<usize> {
        let pieces = self.pieces_in(block).into_iter();
        let kinds = pieces.filter_map(|at| self.body.pieces.get(at).map(|piece| &piece.kind));
        let statements = kinds.filter_map(|kind| match kind {
            PieceKind::Statements(statements) => Some(statements),
            _ => None,
        });
        statements.flatten().copied().collect()
    }
}
