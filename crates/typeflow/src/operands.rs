//! Which type and which byte of it an operand in memory is, as far as the code tells.
//!
//! * `target`: what an operand in memory is.
//! * `reason`: why there is no answer.
//! * `typing`: targets of all instructions of a function.
//! * `sampled`: which instructions were sampled.
//! * `rounds`: functions analysed until what they pass to each other is known.
//! * `answers`: targets of sampled instructions, functions in parallel.
//! * `explain`: how an instruction came to its answer.

pub mod answers;
pub mod explain;
pub mod reason;
mod rounds;
pub mod sampled;
pub mod target;
mod typing;

pub use answers::Answers;
pub use reason::Reason;
pub use sampled::Sampled;
pub use target::{Operand, Target, TypeEntry, TypeIndex};
pub use typing::{Typed, TypedFunction};
