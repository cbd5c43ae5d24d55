//! The type and offset a sample touched.

use fieldline_debuginfo::LinkedAddress;
use fieldline_typeflow::operands::{Reason, Target, TypeIndex};

/// The type and offset a sample touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attributed {
    /// The instruction's address, if it is of the program.
    pub ip: Option<LinkedAddress>,
    /// Its function, an index of the functions of its `ProgramOperands`.
    pub function: Option<u32>,
    /// The target: the outermost type that code and address show.
    pub target: Target<TypeIndex>,
    /// The target by code alone.
    pub by_code: Target<TypeIndex>,
    /// Bytes touched.
    pub size: u64,
    /// Whether it stored.
    pub is_store: bool,
}

impl Attributed {
    /// Of nothing that is known, for a reason.
    pub(crate) fn unknown(reason: Reason) -> Self {
        let target = Target::Unknown(reason);
        Self { ip: None, function: None, target, by_code: target, size: 0, is_store: false }
    }

    /// The reason for a sample that is in none of several programs.
    pub(crate) fn in_no_program(self) -> Self {
        match self.target {
            Target::Unknown(Reason::UserSpace) if self.ip.is_none() => {
                let target = Target::Unknown(Reason::OtherProgram);
                Self { target, by_code: target, ..self }
            }
            _ => self,
        }
    }
}
