//! Types and offsets of operands in memory, as far as the code shows them.
//!
//! * `target`: type and offset of an operand in memory.
//! * `reason`: why an operand has no target.
//! * `typing`: targets of all instructions of a function.
//! * `sampled_instructions`: instructions that were sampled.
//! * `fixpoint`: functions analysed until their arguments are known.
//! * `program_operands`: operands of sampled instructions, functions in parallel.
//! * `returned`: types of the objects that calls return.
//! * `explain`: how the target of an instruction was found.

pub mod explain;
mod fixpoint;
pub mod program_operands;
pub mod reason;
pub mod returned;
pub mod sampled_instructions;
pub mod target;
mod typing;

pub use program_operands::ProgramOperands;
pub use reason::Reason;
pub use sampled_instructions::SampledInstructions;
pub use target::{Operand, Target, TypeEntry, TypeIndex};
pub use typing::{TypedFunction, TypedInstruction};
