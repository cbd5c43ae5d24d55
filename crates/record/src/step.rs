//! Stepping a program.
//!
//! * `launch`: starts it.
//! * `tracer`: bursts of steps, and what they touch; `stops`: what its threads report.
//! * `threads`: the threads that are traced; `history`: the branches they took last.
//! * `touches`, `address`: what an instruction touches, and where an operand is.

mod address;
mod history;
pub(crate) mod launch;
mod threads;
mod touches;
pub(crate) mod tracer;
