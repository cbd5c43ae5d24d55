//! A body as a program that takes members: statements in order, with a choice at each `#if`.

use super::facts::ConditionFacts;
use crate::body::{BodyNode, PieceKind, StructBody};
use crate::scan::ConditionLiteral;

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
pub(super) struct BranchProgram {
    pub(super) steps: Vec<Step>,
}

/// A node to compile, or what follows a block's arm.
#[derive(Clone, Copy)]
enum Work {
    Node(BodyNode),
    /// Remember a jump to the block's end.
    Leave(usize),
    /// Begin an arm.
    Arm(usize, usize),
    /// All arms are compiled.
    End(usize),
}

impl BranchProgram {
    /// Compiles a body without arms known to fail; a block can be passed over only if nothing forces an arm.
    pub(super) fn compile(body: &StructBody, facts: &ConditionFacts) -> Self {
        let mut compiler = ProgramCompiler {
            body,
            facts,
            program: Self::default(),
            jumps: vec![Vec::new(); body.blocks.len()],
            entry: vec![0; body.blocks.len()],
        };
        // An own stack: nesting depth is the input's choice.
        let mut work: Vec<_> = body.root.iter().rev().map(|node| Work::Node(*node)).collect();
        while let Some(next) = work.pop() {
            compiler.compile_work(next, &mut work);
        }
        compiler.program
    }
}

struct ProgramCompiler<'b, 's, 't> {
    body: &'b StructBody<'s, 't>,
    facts: &'b ConditionFacts,
    program: BranchProgram,
    /// For each block the steps that jump to its end.
    jumps: Vec<Vec<usize>>,
    /// For each block its choice.
    entry: Vec<usize>,
}

impl ProgramCompiler<'_, '_, '_> {
    fn next_step(&self) -> usize {
        self.program.steps.len()
    }

    /// Adds a choice whose targets are still to come.
    fn push_choice(&mut self) -> usize {
        self.program.steps.push(Step::Choose(Vec::new()));
        self.next_step() - 1
    }

    /// Lets a choice go on at the next step.
    fn add_target(&mut self, choice: usize) {
        let here = self.next_step();
        if let Some(Step::Choose(targets)) = self.program.steps.get_mut(choice) {
            targets.push(here);
        }
    }

    fn compile_work(&mut self, next: Work, work: &mut Vec<Work>) {
        match next {
            Work::Node(BodyNode::Piece(piece)) => {
                if let PieceKind::Statements(statements) = &self.body.pieces[piece].kind {
                    self.program.steps.extend(statements.iter().copied().map(Step::Take));
                }
            }
            Work::Node(BodyNode::Block(block)) => {
                self.entry[block] = self.push_choice();
                work.push(Work::End(block));
                let arms = self.body.arms(block).iter().enumerate().rev();
                let fails = |literal: &ConditionLiteral| self.facts.proves(&literal.negated());
                let allowed = arms.filter(|(_, arm)| !arm.literals.iter().any(fails));
                work.extend(allowed.map(|(arm, _)| Work::Arm(block, arm)));
            }
            Work::Arm(block, arm) => {
                self.add_target(self.entry[block]);
                work.push(Work::Leave(block));
                let nodes = self.body.arms(block)[arm].nodes.iter().rev();
                work.extend(nodes.map(|node| Work::Node(*node)));
            }
            Work::Leave(block) => {
                let here = self.push_choice();
                self.jumps[block].push(here);
            }
            Work::End(block) => {
                let mut jumps = std::mem::take(&mut self.jumps[block]);
                // An `#else` has only the negated conditions of the arms before it.
                let arms = self.body.arms(block);
                let has_else = matches!(arms, [.., up, last] if last.literals.len() == up.literals.len());
                // All arms can be inactive at once.
                if !has_else && !arms.iter().any(|arm| self.facts.prove_all(&arm.literals)) {
                    jumps.push(self.entry[block]);
                }
                jumps.into_iter().for_each(|jump| self.add_target(jump));
            }
        }
    }
}
