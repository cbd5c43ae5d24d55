//! Machine code: what instructions do to registers and memory.
//!
//! * `machine`: instructions as data flow needs them.
//! * `insn`: bytes to instructions.

pub mod insn;
pub mod machine;
