//! Samples to accesses: which struct, which byte of it, which object.
//!
//! * `explain`: how an instruction came to its answer.
//! * `evidence`: what sampled addresses show of objects.
//! * `objects`: instances of structs in memory.
//! * `slides`: addresses of several processes.
//! * `decide`: what a sample touched, by code and address together.
//! * `reason`: why a sample has no answer.
//! * `target`: what an operand in memory is, as far as the code tells.
//! * `typing`: targets of all instructions of a function.
//! * `sampled`: which instructions were sampled.
//! * `rounds`: functions analysed until what they pass to each other is known.
//! * `answers`: targets of sampled instructions, functions in parallel.

pub mod answers;
pub mod decide;
pub mod evidence;
pub mod explain;
pub mod objects;
pub mod reason;
pub mod rounds;
pub mod sampled;
pub mod slides;
pub mod target;
pub mod typing;
