//! The members that debug info names, joined with the text's declarations.
//!
//! The text holds the declarations of every configuration; debug info has the members of one. [`Join::new`]
//! finds the choice of `#if` branches whose declarations are exactly those members in that order. If there is
//! none, or more than one, it refuses.

mod expected;
mod facts;
mod program;
mod solve;

use crate::body::{DeclaredMembers, Statement, StructBody};
use crate::edits::Edits;
use crate::refusal::{Result, SourceRefusal};
use crate::scan::SourceText;
pub use expected::ExpectedMember;
use facts::ConditionFacts;
use program::BranchProgram;
use solve::AssignmentSolver;
use std::ops::Range;

/// A body whose declarations are joined with the members of debug info.
#[derive(Clone, Debug)]
pub struct Join<'b, 's, 't> {
    pub(crate) body: &'b StructBody<'s, 't>,
    pub(crate) expected: Vec<ExpectedMember>,
    /// For each statement its run of members.
    runs: Vec<Range<usize>>,
    /// For each member its statement; none of what is inherited.
    owners: Vec<Option<usize>>,
    /// How many members come first that no declaration stands for.
    pub(crate) inherited: usize,
}

impl<'b, 's, 't> Join<'b, 's, 't> {
    /// Finds the branches that declare exactly these members in this order; what is inherited stands before them.
    /// Fails if no choice of branches or more than one does so.
    pub fn new(body: &'b StructBody<'s, 't>, expected: &[ExpectedMember]) -> Result<Self> {
        let inherited = expected.iter().take_while(|member| member.is_inherited).count();
        let declared = expected.get(inherited..).unwrap_or_default();
        let facts = ConditionFacts::derive(body, declared)?;
        let program = BranchProgram::compile(body, &facts);
        let assignment = AssignmentSolver::new(body, declared, &program, &facts).solve()?;
        let mut join = Self {
            body,
            expected: expected.to_vec(),
            runs: vec![0..0; body.statements().len()],
            owners: vec![None; expected.len()],
            inherited,
        };
        for (statement, members) in assignment {
            let members = members.start + inherited..members.end + inherited;
            join.owners[members.clone()].fill(Some(statement));
            join.runs[statement] = members;
        }
        Ok(join)
    }

    /// Reads the edited text again: what was meant must be there, and nothing else may have changed.
    pub(crate) fn reread<T>(&self, edits: &Edits, check: impl FnOnce(&StructBody) -> Result<T>) -> Result<T> {
        let text = edits.apply(self.body.source.bytes());
        let source = SourceText::new(&text);
        let gone = || SourceRefusal::ReadBack("the struct is gone".to_owned());
        let definition = self.body.find_again(&source).ok_or_else(gone)?;
        check(&StructBody::parse(&source, &definition)?)
    }

    /// The body it joins.
    pub fn body(&self) -> &'b StructBody<'s, 't> {
        self.body
    }

    /// Indices of the members a statement declares in this configuration: none if its branch is inactive.
    pub fn members_of(&self, statement: usize) -> Range<usize> {
        self.runs.get(statement).cloned().unwrap_or(0..0)
    }

    /// Index of the statement that declares a member.
    pub(crate) fn statement_index(&self, member: usize) -> Option<usize> {
        self.owners.get(member).copied().flatten()
    }

    /// The statement that declares a member.
    pub fn statement_of(&self, member: usize) -> Option<&'b Statement> {
        self.body.statements().get(self.statement_index(member)?)
    }

    /// Whether a statement's text is not understood beyond what debug info says of it.
    pub(crate) fn is_understood(&self, statement: usize) -> bool {
        let Some(found) = self.body.statements().get(statement) else { return false };
        let members = self.members_of(statement);
        match found.declared {
            DeclaredMembers::Members(_) => true,
            DeclaredMembers::Nothing => false,
            DeclaredMembers::Unknown if found.is_tangled || members.len() != 1 => false,
            DeclaredMembers::Unknown => {
                let name = self.expected.get(members.start).and_then(|member| member.name.as_deref());
                name.is_some_and(|name| solve::words(self.body, found).contains(name.as_bytes()))
            }
        }
    }
}
