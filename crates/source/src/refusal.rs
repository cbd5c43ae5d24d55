//! Why a struct's text is left alone.

use crate::edits::EditOverlap;

/// A result, or why the text is left alone.
pub(crate) type Result<T, E = SourceRefusal> = std::result::Result<T, E>;

/// Why a struct's text can't be read or changed: an answer, not a fault. Every message is a sentence with
/// 1-based line numbers, names of members in it are quoted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceRefusal {
    /// No definition of that name.
    #[error("no definition of `{0}` in this file")]
    NotFound(String),
    /// No definition at that line.
    #[error("no struct or union is defined at line {0}")]
    NothingAtLine(u32),
    /// Several definitions of the name fit, at these lines.
    #[error("`{0}` has {count} definitions, at lines {lines}", count = .1.len(), lines = format_lines(.1))]
    Ambiguous(String, Vec<u32>),
    /// Brackets or `#if` lines don't pair up.
    #[error("the brackets or #if lines of the body don't pair up at line {0}")]
    Unbalanced(u32),
    /// Absurd nesting.
    #[error("the #if lines are nested or chained too deep at line {0}")]
    TooDeep(u32),
    /// A preprocessor line shares a line with other text.
    #[error("line {0} holds a preprocessor line and other text at once")]
    Entangled(u32),
    /// The text has no declaration for a member: its name, the definition's first and last line.
    #[error("debug info has member {0}, which lines {1}-{2} don't declare")]
    NotDeclared(String, u32, u32),
    /// The text declares something debug info doesn't have: the line, what it declares, and the member that
    /// is wanted there (or `no more members`).
    #[error("line {0} declares {1}, where debug info has {2}")]
    Differs(u32, String, String),
    /// No choice of `#if` branches declares the members. The first member that can't be placed.
    #[error(
        "no choice of #if branches declares the members of debug info in their order; {0} is where it ends"
    )]
    NoBranches(String),
    /// Several choices of `#if` branches declare the members. The first member with two places, and these.
    #[error("{0} could come from line {1} or line {2}, and nothing tells which #if branch is active")]
    AmbiguousBranches(String, u32, u32),
    /// A condition would have to hold and not hold.
    #[error(
        "the members of debug info need `{condition}` to hold at line {holds} and not to hold at line {fails}"
    )]
    Contradiction {
        /// The condition.
        condition: String,
        /// The line that needs it.
        holds: u32,
        /// The line that excludes it.
        fails: u32,
    },
    /// The order isn't one: entries given, and members there are.
    #[error("the order has {0} entries that aren't each of the {1} members once")]
    NotAPermutation(usize, usize),
    /// Members of one declaration would be torn apart: which, at which line, and why they are one unit.
    #[error("{0} at line {1} move together ({2}), and the order takes them apart")]
    SplitsUnit(String, u32, &'static str),
    /// A member would cross what doesn't move.
    #[error("the order takes {member} (line {line}) past line {barrier}, where nothing may pass: {reason}")]
    CrossesBarrier {
        /// The member.
        member: String,
        /// Where it is declared.
        line: u32,
        /// The barrier's line.
        barrier: u32,
        /// Why nothing may pass.
        reason: String,
    },
    /// The edited text was read back and isn't what was meant: what differs.
    #[error("the edited text doesn't read back as intended: {0}")]
    ReadBack(String),
}

impl From<EditOverlap> for SourceRefusal {
    fn from(overlap: EditOverlap) -> Self {
        Self::ReadBack(overlap.to_string())
    }
}

/// `4 and 9` or `4, 9 and 12`.
fn format_lines(lines: &[u32]) -> String {
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    match lines.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => lines.concat(),
    }
}
