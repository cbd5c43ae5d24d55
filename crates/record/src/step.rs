//! Stepping a program.
//!
//! * `launch`: starts it.
//! * `tracer`: bursts of steps, and their accesses; `stops`: reports of its threads.
//! * `threads`: the threads that are traced; `history`: the branches they took last.
//! * `allocations`: memory that it allocates and frees, where all is stepped; `allocators`: the functions that do.
//! * `operands`, `address`: memory operands of an instruction, and their addresses.

mod address;
mod allocations;
mod allocators;
mod history;
pub(crate) mod launch;
mod operands;
mod threads;
pub(crate) mod tracer;
