//! Why a sample is not attributed.

use std::fmt;

/// A reason. Every sample that is not attributed has exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The recording has no instruction address for it.
    NoInstructionAddress,
    /// The instruction is in user space and the program is a kernel.
    UserSpace,
    /// The instruction is in another program, library or module.
    OtherProgram,
    /// There is no function with debug info at the instruction.
    NoDebugInfo,
    /// The bytes there are no instruction, or the sample points into the middle of one.
    NoInstruction,
    /// The instruction does not touch memory.
    NoMemoryOperand,
    /// It touches the stack, and no struct there.
    Stack,
    /// Nothing leads to the instruction as far as the code shows.
    Unreachable,
    /// It is not known what the pointer points to.
    UnknownPointer,
    /// It is known which struct, but not which byte of it.
    UnknownOffset,
    /// It is an element of an array, and the index is not known.
    UnknownIndex,
    /// It lies before or behind the type the pointer points to.
    OutsideType,
    /// The type is declared but nowhere defined.
    NoDefinition,
    /// The sampled address contradicts what the code says.
    BadAddress,
    /// A sample that counts by its branch stack has fewer than two branches.
    NoRange,
    /// The branches around a straight-line range don't fit the code.
    BrokenRange,
}

impl Reason {
    /// Whether the instruction is of something else than the program.
    pub fn is_elsewhere(self) -> bool {
        matches!(self, Self::OtherProgram | Self::UserSpace | Self::NoInstructionAddress)
    }

    /// The identifier in files and tables.
    pub fn id(self) -> &'static str {
        self.id_and_meaning().0
    }

    /// Its meaning, in a sentence.
    pub fn meaning(self) -> &'static str {
        self.id_and_meaning().1
    }

    fn id_and_meaning(self) -> (&'static str, &'static str) {
        match self {
            Self::NoInstructionAddress => ("no_ip", "the sample has no instruction address"),
            Self::UserSpace => ("user_space", "the instruction is in user space, the program is a kernel"),
            Self::OtherProgram => {
                ("other_program", "the instruction is in another program, library or module")
            }
            Self::NoDebugInfo => ("no_debug_info", "no function with debug info covers the instruction"),
            Self::NoInstruction => ("no_instruction", "there is no instruction at the sampled address"),
            Self::NoMemoryOperand => ("no_memory_operand", "the instruction does not touch memory"),
            Self::Stack => ("stack", "the instruction touches the stack, and no struct there"),
            Self::Unreachable => ("unreachable", "nothing leads to the instruction as far as the code shows"),
            Self::UnknownPointer => ("unknown_pointer", "it is not known what the pointer points to"),
            Self::UnknownOffset => ("unknown_offset", "it is known which struct is touched, but not where"),
            Self::UnknownIndex => {
                ("unknown_index", "an element of an array is touched, and it is not known which")
            }
            Self::OutsideType => ("outside_type", "the access is outside the type the pointer points to"),
            Self::NoDefinition => ("no_definition", "the type the pointer points to is nowhere defined"),
            Self::BadAddress => ("bad_addr", "the sampled address contradicts what the code says"),
            Self::NoRange => ("no_run", "the branch stack has fewer than two branches"),
            Self::BrokenRange => {
                ("broken_run", "two branches that followed each other don't fit the code between them")
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.id())
    }
}
