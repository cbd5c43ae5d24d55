//! A body as a program that takes members: statements in order, with a choice at each `#if`.

use super::facts::Facts;
use crate::body::{Block, Body, Node, PieceKind};

/// One step. Targets lie ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Take what a statement declares.
    Take(usize),
    /// Go on at one of these steps.
    Choose(Vec<usize>),
}

/// The steps; the end is the step behind the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
}

/// A node to compile, or what follows a block's arm.
#[derive(Clone, Copy)]
enum Work<'b> {
    Node(&'b Node),
    /// Remember a jump to the block's end.
    Leave(usize),
    /// Begin an arm.
    Arm(usize, usize),
    /// All arms are compiled.
    End(usize),
}

impl Program {
    /// Compiles a body. Arms whose conditions are known to fail are left out; a block can be passed over only if
    /// nothing forces one of its arms.
    pub(super) fn compile(body: &Body, facts: &Facts) -> Self {
        let mut compiler = Compiler {
            body,
            facts,
            program: Self::default(),
            jumps: vec![Vec::new(); body.blocks.len()],
            entry: vec![0; body.blocks.len()],
        };
        // An own stack: nesting depth is the input's choice.
        let mut work: Vec<Work> = body.root.iter().rev().map(Work::Node).collect();
        while let Some(next) = work.pop() {
            compiler.step(next, &mut work);
        }
        compiler.program
    }
}

struct Compiler<'b, 's, 't> {
    body: &'b Body<'s, 't>,
    facts: &'b Facts,
    program: Program,
    /// For each block the steps that jump to its end.
    jumps: Vec<Vec<usize>>,
    /// For each block its choice.
    entry: Vec<usize>,
}

impl<'b> Compiler<'b, '_, '_> {
    fn here(&self) -> usize {
        self.program.steps.len()
    }

    fn step(&mut self, next: Work<'b>, work: &mut Vec<Work<'b>>) {
        match next {
            Work::Node(Node::Piece(piece)) => self.piece(*piece),
            Work::Node(Node::Block(block)) => self.enter(*block, work),
            Work::Arm(block, arm) => self.arm(block, arm, work),
            Work::Leave(block) => {
                let here = self.here();
                self.program.steps.push(Step::Choose(Vec::new()));
                if let Some(jumps) = self.jumps.get_mut(block) {
                    jumps.push(here);
                }
            }
            Work::End(block) => self.end(block),
        }
    }

    fn piece(&mut self, piece: usize) {
        if let Some(PieceKind::Statements(statements)) = self.body.pieces.get(piece).map(|piece| &piece.kind)
        {
            self.program.steps.extend(statements.iter().copied().map(Step::Take));
        }
    }

    fn enter(&mut self, block: usize, work: &mut Vec<Work<'b>>) {
        let here = self.here();
        self.program.steps.push(Step::Choose(Vec::new()));
        if let Some(entry) = self.entry.get_mut(block) {
            *entry = here;
        }
        work.push(Work::End(block));
        let arms = self.body.arms(block).len();
        let allowed = |arm: &usize| !self.facts.exclude(&self.body.arm_literals(block, *arm));
        work.extend((0..arms).filter(allowed).rev().map(|arm| Work::Arm(block, arm)));
    }

    fn arm(&mut self, block: usize, arm: usize, work: &mut Vec<Work<'b>>) {
        let here = self.here();
        let entry = self.entry.get(block).copied().unwrap_or(0);
        if let Some(Step::Choose(targets)) = self.program.steps.get_mut(entry) {
            targets.push(here);
        }
        work.push(Work::Leave(block));
        let arm = self.body.arms(block).get(arm);
        work.extend(arm.into_iter().flat_map(|arm| arm.nodes.iter().rev()).map(Work::Node));
    }

    fn end(&mut self, block: usize) {
        let here = self.here();
        let mut jumps = self.jumps.get_mut(block).map(std::mem::take).unwrap_or_default();
        if self.may_pass(block) {
            jumps.extend(self.entry.get(block));
        }
        for jump in jumps {
            if let Some(Step::Choose(targets)) = self.program.steps.get_mut(jump) {
                targets.push(here);
            }
        }
    }

    /// Whether all arms can be inactive at once.
    fn may_pass(&self, block: usize) -> bool {
        let Some(found) = self.body.blocks.get(block) else { return true };
        let forced = |arm: usize| self.facts.demand(&self.body.arm_literals(block, arm));
        !found.has_else() && !(0..found.arms.len()).any(forced)
    }
}

impl Block {
    /// Whether its last arm is an `#else`: its conditions are all negations of the arms before.
    pub(crate) fn has_else(&self) -> bool {
        let [.., before, last] = self.arms.as_slice() else { return false };
        last.literals.len() == before.literals.len()
    }
}
