//! Machine code: what instructions do to registers and memory.
//!
//! * `machine`: instructions as data flow needs them.
//! * `architecture`: registers and calling conventions of a kind of processor.
//! * `insn`: bytes to instructions, and to what people read.

pub mod architecture;
pub mod insn;
pub mod machine;

mod aarch64;
mod x86;
