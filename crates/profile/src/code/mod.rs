//! Machine code: what instructions do to registers and memory.
//!
//! * `machine`: instructions as data flow needs them.
//! * `insn`: bytes to instructions, and to what people read.

pub mod insn;
pub mod machine;
