//! Demands of code on an order of members.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A struct whose uses are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Its tag, or the name of a typedef.
    pub name: String,
    /// The file that defines it, where known: the end of its path is enough.
    pub file: Option<PathBuf>,
    /// The line of the definition, where known.
    pub line: Option<u32>,
    /// The declared members in order, each with the names that code has for it: its own, or of unnamed ones those
    /// inside.
    pub members: Vec<Vec<String>>,
}

/// A place between members.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Edge {
    /// The first byte.
    Begin,
    /// In front of a member.
    Before(String),
    /// Right behind a member.
    Behind(String),
    /// The end of the struct.
    End,
}

/// A property that an order of members must keep. Members are told by a name that code has for them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Demand {
    /// The first `count` members keep their order and stay in front.
    First {
        /// How many.
        count: usize,
    },
    /// These members follow one another in this order, nothing between them.
    Run {
        /// Their names.
        members: Vec<String>,
    },
    /// The members between the two places stay those they are, in any order.
    Range {
        /// Where the bytes begin.
        from: Edge,
        /// Where they end.
        to: Edge,
    },
    /// The member keeps its offset.
    Offset {
        /// Its name.
        member: String,
    },
    /// The member stays the last one.
    Last {
        /// Its name.
        member: String,
    },
    /// One member stays in front of another.
    Order {
        /// The one in front.
        first: String,
        /// The one behind.
        then: String,
    },
    /// All members stay where they are.
    Whole,
    /// The same, as nobody knows what is done with the object.
    Unclear,
    /// The size of the struct stays.
    Size,
    /// The struct becomes no larger.
    Room,
    /// Assembler code is given the member's offset, anew by each build: to be told, not to be held.
    Assembler {
        /// Its name.
        member: String,
    },
}

impl Demand {
    /// Whether no member may move.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Whole | Self::Unclear)
    }
}

/// A macro's definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MacroPlace {
    /// The macro.
    pub name: String,
    /// The file that defines it.
    pub file: PathBuf,
    /// The line in it where the use is written.
    pub line: u32,
}

/// A use that depends on the order of a struct's members.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CodeUse {
    /// Which of the subjects.
    pub subject: usize,
    /// The file where the compiler meets it, absolute.
    pub file: PathBuf,
    /// The line there.
    pub line: u32,
    /// The macro it was written in, if any.
    pub macro_definition: Option<MacroPlace>,
    /// The property it relies on.
    pub demand: Demand,
    /// The reason, as the end of a sentence that begins with the struct or the member.
    pub why: String,
}
