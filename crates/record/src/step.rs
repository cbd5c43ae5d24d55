//! Stepping a program.
//!
//! * `launch`: starts it.
//! * `tracer`: bursts of steps, and their accesses; `stops`: reports of its threads.
//! * `threads`: the threads that are traced; `history`: the branches they took last.
//! * `operands`, `address`: memory operands of an instruction, and their addresses.

mod address;
mod history;
pub(crate) mod launch;
mod operands;
mod threads;
pub(crate) mod tracer;
