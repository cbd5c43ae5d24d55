//! Why a struct's text is left alone.

use crate::edits::Overlap;
use std::fmt;

/// Why a struct's text can't be read or changed: an answer, not a fault. Every message is a sentence with line numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No definition of that name.
    #[error("no definition of `{name}` in this file")]
    NotFound {
        /// The name asked for.
        name: String,
    },
    /// No definition at that line.
    #[error("no struct or union is defined at line {line}")]
    NothingAtLine {
        /// 1-based line.
        line: u32,
    },
    /// Several definitions fit.
    #[error("`{name}` has {count} definitions, at lines {lines}", count = lines.0.len())]
    Ambiguous {
        /// The name asked for.
        name: String,
        /// Where they stand.
        lines: LineList,
    },
    /// Brackets or `#if` lines don't pair up.
    #[error("the brackets or #if lines of the body don't pair up at line {line}")]
    Unbalanced {
        /// 1-based line.
        line: u32,
    },
    /// Absurd nesting.
    #[error("the #if lines are nested or chained too deep at line {line}")]
    TooDeep {
        /// 1-based line.
        line: u32,
    },
    /// A preprocessor line shares a line with other text.
    #[error("line {line} holds a preprocessor line and other text at once")]
    Entangled {
        /// 1-based line.
        line: u32,
    },
    /// The text has no declaration for a member.
    #[error("debug info has member {member}, which lines {from}-{to} don't declare")]
    NotDeclared {
        /// The member, quoted.
        member: String,
        /// The definition's first line.
        from: u32,
        /// The definition's last line.
        to: u32,
    },
    /// The text declares something debug info doesn't have.
    #[error("line {line} declares {found}, where debug info has {wanted}")]
    Differs {
        /// 1-based line.
        line: u32,
        /// What the line declares, quoted.
        found: String,
        /// The member debug info has there, quoted, or `no more members`.
        wanted: String,
    },
    /// No choice of `#if` branches declares the members.
    #[error(
        "no choice of #if branches declares the members of debug info in their order; {member} is where it ends"
    )]
    NoBranches {
        /// The first member that can't be placed, quoted.
        member: String,
    },
    /// Several choices of `#if` branches declare the members.
    #[error(
        "{member} could come from line {one} or line {other}, and nothing tells which #if branch is active"
    )]
    AmbiguousBranches {
        /// The first member with two places, quoted.
        member: String,
        /// 1-based line.
        one: u32,
        /// 1-based line.
        other: u32,
    },
    /// A condition would have to hold and not hold.
    #[error(
        "the members of debug info need `{condition}` to hold at line {holds} and not to hold at line {fails}"
    )]
    Contradiction {
        /// The condition.
        condition: String,
        /// 1-based line that needs it.
        holds: u32,
        /// 1-based line that excludes it.
        fails: u32,
    },
    /// The order isn't one.
    #[error("the order has {given} entries that aren't each of the {members} members once")]
    NotAPermutation {
        /// Entries given.
        given: usize,
        /// Members there are.
        members: usize,
    },
    /// Members of one declaration would be torn apart.
    #[error("{members} at line {line} move together ({reason}), and the order takes them apart")]
    SplitsUnit {
        /// The members, quoted.
        members: String,
        /// 1-based line.
        line: u32,
        /// Why they belong together.
        reason: String,
    },
    /// A member would cross what doesn't move.
    #[error("the order takes {member} (line {line}) past line {barrier}, where nothing may pass: {reason}")]
    CrossesBarrier {
        /// The member, quoted.
        member: String,
        /// 1-based line of its declaration.
        line: u32,
        /// 1-based line of the barrier.
        barrier: u32,
        /// Why nothing may pass.
        reason: String,
    },
    /// The edited text was read back and isn't what was meant.
    #[error("the edited text doesn't read back as intended: {what}")]
    ReadBack {
        /// What differs.
        what: String,
    },
}

impl From<Overlap> for Refusal {
    fn from(overlap: Overlap) -> Self {
        Self::ReadBack { what: overlap.to_string() }
    }
}

/// Line numbers printed as `4 and 9` or `4, 9 and 12`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineList(pub Vec<u32>);

impl fmt::Display for LineList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, line) in self.0.iter().enumerate() {
            let separator = match index {
                0 => "",
                _ if index + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            write!(f, "{separator}{line}")?;
        }
        Ok(())
    }
}
