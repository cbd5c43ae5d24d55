//! A body as a program that takes members: statements in order, with a choice at each `#if`.

use super::facts::Facts;
use crate::body::{Body, Node, PieceKind};
use crate::scan::Literal;

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
enum Work {
    Node(Node),
    /// Remember a jump to the block's end.
    Leave(usize),
    /// Begin an arm.
    Arm(usize, usize),
    /// All arms are compiled.
    End(usize),
}

impl Program {
    /// Compiles a body without arms known to fail; a block can be passed over only if nothing forces an arm.
    pub(super) fn compile(body: &Body, facts: &Facts) -> Self {
        let mut compiler = Compiler {
            body,
            facts,
            program: Self::default(),
            jumps: vec![Vec::new(); body.blocks.len()],
            entry: vec![0; body.blocks.len()],
        };
        // An own stack: nesting depth is the input's choice.
        let mut work: Vec<Work> = body.root.iter().rev().map(|node| Work::Node(*node)).collect();
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

impl Compiler<'_, '_, '_> {
    fn here(&self) -> usize {
        self.program.steps.len()
    }

    /// Adds a choice whose targets are still to come.
    fn choice(&mut self) -> usize {
        self.program.steps.push(Step::Choose(Vec::new()));
        self.here() - 1
    }

    /// Lets a choice go on at the next step.
    fn target(&mut self, choice: usize) {
        let here = self.here();
        if let Some(Step::Choose(targets)) = self.program.steps.get_mut(choice) {
            targets.push(here);
        }
    }

    fn step(&mut self, next: Work, work: &mut Vec<Work>) {
        match next {
            Work::Node(Node::Piece(piece)) => {
                if let PieceKind::Statements(statements) = &self.body.pieces[piece].kind {
                    self.program.steps.extend(statements.iter().copied().map(Step::Take));
                }
            }
            Work::Node(Node::Block(block)) => {
                self.entry[block] = self.choice();
                work.push(Work::End(block));
                let arms = self.body.arms(block).iter().enumerate().rev();
                let fails = |literal: &Literal| self.facts.proves(&literal.negated());
                let allowed = arms.filter(|(_, arm)| !arm.literals.iter().any(fails));
                work.extend(allowed.map(|(arm, _)| Work::Arm(block, arm)));
            }
            Work::Arm(block, arm) => {
                self.target(self.entry[block]);
                work.push(Work::Leave(block));
                work.extend(self.body.arms(block)[arm].nodes.iter().rev().map(|node| Work::Node(*node)));
            }
            Work::Leave(block) => {
                let here = self.choice();
                self.jumps[block].push(here);
            }
            Work::End(block) => {
                let mut jumps = std::mem::take(&mut self.jumps[block]);
                // An `#else` has only the negated conditions of the arms before it.
                let arms = self.body.arms(block);
                let has_else =
                    matches!(arms, [.., before, last] if last.literals.len() == before.literals.len());
                // All arms can be inactive at once.
                if !has_else && !arms.iter().any(|arm| self.facts.demand(&arm.literals)) {
                    jumps.push(self.entry[block]);
                }
                jumps.into_iter().for_each(|jump| self.target(jump));
            }
        }
    }
}
