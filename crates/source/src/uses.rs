//! Uses of a struct elsewhere in the tree that depend on where its members stand.
//!
//! Most code names members and follows wherever they move. What doesn't: ranges of bytes that end at a member
//! (`memset(p, 0, offsetof(struct s, m))`, `memset_after`), assertions about offsets, casts between a struct and its
//! first member, initialisers without member names. A file's text is searched for the struct's name first, and cut
//! into tokens only if a hit looks like one of these.
//!
//! What one file's text can't show is not found: an object whose type is neither declared in the same function nor a
//! parameter of it, an offset that goes through a variable of another file. Only values that a macro of another file gives
//! are followed there: the file tells what it awaits.

mod cast;
mod given;
mod hint;
mod initial;
mod macros;
mod object;
mod offset;

use crate::scan::{SourceText, TokenKind};

pub use given::{Awaited, Definition, Gives, MACROS, definitions};

/// A struct whose uses are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Its tag.
    pub tag: String,
    /// Names that code can use for its members, each with the number of the declared member: of unnamed structs and
    /// unions the names inside.
    pub members: Vec<(String, usize)>,
    /// Tags of the structs that begin where it begins: its first member, that one's first member and so on.
    pub leads: Vec<String>,
}

/// What a use demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// The members end a range of bytes: what stands before them stays before, what stands behind stays behind.
    Boundary,
    /// The members keep their offsets.
    Offset,
    /// The first member stays first.
    First,
    /// So many members from the first on keep their order and places.
    Positions(usize),
    /// Assembler code reads the members at offsets that the build generates anew: nothing.
    Assembler,
    /// The struct takes no more room than an assertion allows.
    Size,
    /// Nothing that can be held, but worth knowing.
    Remark,
}

/// A place in the tree that depends on a struct's order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// 1-based line.
    pub line: u32,
    /// What it demands.
    pub demand: Demand,
    /// The members it names, each as in [`Subject::members`].
    pub members: Vec<String>,
    /// What it does, as the end of a sentence.
    pub what: String,
}

/// What one file tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Uses, by line.
    pub uses: Vec<Use>,
    /// Variables of the struct whose values macros of other files give, by line.
    pub awaited: Vec<Awaited>,
}

/// The uses in one file. `path` is relative to the top of the tree.
pub fn uses(path: &str, text: &[u8], subject: &Subject) -> Findings {
    let is_assembler = is_assembler(path);
    if !hint::may_use(text, subject, is_assembler) {
        return Findings::default();
    }
    let source = SourceText::new(text);
    let (mut found, mut awaited) = (Vec::new(), Vec::new());
    if is_assembler {
        offset::assembler(&source, subject, &mut found);
    } else {
        offset::find(&source, subject, &mut found);
        object::find(&source, subject, &mut found);
        cast::find(&source, subject, &mut found);
        initial::find(&source, subject, &mut found);
        macros::find(&source, subject, &mut found, &mut awaited);
    }
    found.sort();
    found.dedup();
    awaited.sort();
    awaited.dedup();
    Findings { uses: found, awaited }
}

/// Files that turn offsets into constants for assembler code when the kernel is built (Kbuild, `asm-offsets.h`).
fn is_assembler(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|file| file.contains("asm-offsets"))
}

impl Subject {
    /// The member that words name: `thread` of `thread.fpu.fpr`.
    fn member(&self, word: &[u8]) -> Option<&String> {
        self.members.iter().map(|(name, _)| name).find(|name| name.as_bytes() == word)
    }

    /// A name for a declared member.
    fn name(&self, number: usize) -> Option<&String> {
        self.members.iter().find(|member| member.1 == number).map(|(name, _)| name)
    }

    /// Number of the declared member that a word names or that holds what it names.
    fn number(&self, word: &[u8]) -> Option<usize> {
        self.members.iter().find(|(name, _)| name.as_bytes() == word).map(|(_, number)| *number)
    }
}

impl<'t> SourceText<'t> {
    /// Whether `struct tag` begins at a token.
    fn names_struct(&self, at: usize, tag: &str) -> bool {
        self.word(at) == Some(b"struct") && self.word(at + 1) == Some(tag.as_bytes())
    }

    /// Token ranges of a call's arguments, by the index of its opening bracket.
    fn arguments(&self, open: usize) -> Vec<std::ops::Range<usize>> {
        let Some(close) = self.partner(open).filter(|close| *close > open) else { return Vec::new() };
        let mut arguments = Vec::new();
        let (mut first, mut at) = (open + 1, open + 1);
        while at < close {
            if self.is_punct(at, b',') {
                arguments.push(first..at);
                first = at + 1;
            }
            at = self.past(at);
        }
        arguments.push(first..close);
        arguments
    }

    /// The token behind this one, or behind the bracket that this one opens.
    fn past(&self, at: usize) -> usize {
        self.partner(at).filter(|close| *close > at).unwrap_or(at) + 1
    }

    /// The first word of tokens.
    fn first_word(&self, tokens: std::ops::Range<usize>) -> Option<&'t [u8]> {
        tokens.into_iter().find_map(|at| self.word(at))
    }

    /// Opening brackets around a token up to its statement's ends, innermost first.
    fn around(&self, at: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut at = at;
        while let Some(before) = at.checked_sub(1) {
            at = match self.token(before).map(|token| token.kind) {
                Some(TokenKind::Punct(b')' | b']' | b'}')) => {
                    match self.partner(before).filter(|open| *open < before) {
                        Some(open) if !self.is_punct(before, b'}') => open,
                        _ => return found,
                    }
                }
                Some(TokenKind::Punct(b';' | b'{')) | None => return found,
                Some(TokenKind::Punct(b'(')) => {
                    found.push(before);
                    before
                }
                _ => before,
            };
        }
        found
    }

    /// The word a bracket's call names.
    fn called(&self, open: usize) -> Option<&'t [u8]> {
        self.word(open.checked_sub(1)?)
    }
}

/// Text for messages.
fn text(bytes: &[u8]) -> String {
    crate::definition::lossy(bytes)
}

#[cfg(test)]
mod tests;
