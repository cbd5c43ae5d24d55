//! Uses, and the struct they are of.

use serde::{Deserialize, Serialize};

/// A struct whose uses are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedStruct {
    /// Its tag.
    pub tag: String,
    /// Names of members in code (of unnamed structs those inside), with the declared member's number.
    pub members: Vec<(String, usize)>,
    /// Tags of the structs that begin where it begins: its first member, that one's first member and so on.
    pub prefix_tags: Vec<String>,
}

/// Kinds of demand that a use makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UseDemand {
    /// The members end a range of bytes: what stands before (behind) them stays there.
    Boundary,
    /// The members keep their offsets.
    Offset,
    /// The first member stays first.
    First,
    /// So many members from the first on keep their order and places.
    Positions(usize),
    /// All members keep their places.
    Whole,
    /// The members stay the last ones.
    Last,
    /// Assembler code reads the members at offsets that the build generates anew: nothing.
    Assembler,
    /// The struct takes no more room than an assertion allows.
    Size,
    /// Nothing that can be a constraint, but worth a note.
    Note,
}

/// A place in the tree that depends on a struct's order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StructUse {
    /// 1-based line.
    pub line: u32,
    /// Its demand.
    pub demand: UseDemand,
    /// The members it names, each as in [`UsedStruct::members`].
    pub members: Vec<String>,
    /// Its description, as the end of a sentence.
    pub description: String,
}

pub(super) type Uses = Vec<StructUse>;

impl StructUse {
    pub(super) fn new(line: u32, demand: UseDemand, members: Vec<String>, description: String) -> Self {
        Self { line, demand, members, description }
    }
}

impl UsedStruct {
    /// The member that words name: `thread` of `thread.fpu.fpr`.
    pub(super) fn member(&self, word: &[u8]) -> Option<&String> {
        self.members.iter().map(|(name, _)| name).find(|name| name.as_bytes() == word)
    }

    /// A name for a declared member.
    pub(super) fn name(&self, number: usize) -> Option<&String> {
        self.members.iter().find(|member| member.1 == number).map(|(name, _)| name)
    }

    /// Number of the declared member that a word names or that holds what it names.
    pub(super) fn number(&self, word: &[u8]) -> Option<usize> {
        self.members.iter().find(|(name, _)| name.as_bytes() == word).map(|(_, number)| *number)
    }
}

/// Text for messages.
pub(super) use crate::definition::lossy as text;
