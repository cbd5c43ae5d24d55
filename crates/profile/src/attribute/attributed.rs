//! What a sample touched.

use fieldline_typeflow::operands::{Reason, Target, TypeIndex};

/// What a sample touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attributed {
    /// The instruction's address as linked, if it is of the program.
    pub ip: Option<u64>,
    /// Its function, an index of the functions of its `Answers`.
    pub function: Option<u32>,
    /// What it touched: the outermost type that code and address show.
    pub target: Target<TypeIndex>,
    /// What the code alone tells that it touched.
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
    /// Of a sample that is in none of the programs no single one tells why.
    pub(crate) fn of_none(self) -> Self {
        match self.target {
            Target::Unknown(Reason::UserSpace) if self.ip.is_none() => {
                let target = Target::Unknown(Reason::OtherProgram);
                Self { target, by_code: target, ..self }
            }
            _ => self,
        }
    }
}
