//! The program whose code was sampled: its machine code, symbols, units and what a running kernel patches.
//!
//! * `helpers`: assembly that compilers call in place of instructions.
//! * `symbols`: names of addresses, and the machine code there.
//! * `patches`: code that the kernel changes when it boots.
//! * `binary`: the program with all of these.

pub mod binary;
pub mod helpers;
pub mod patches;
pub mod symbols;

pub use binary::Program;
