//! Machine code: the effects of instructions on registers and memory.
//!
//! * `machine`: instructions as data flow needs them.
//! * `architecture`: registers and calling conventions of a kind of processor.
//! * `insn`: bytes to instructions, and to text.
//!
//! ```
//! use fieldline_machinecode::architecture::Architecture;
//! use fieldline_machinecode::insn::InstructionReader;
//! use fieldline_machinecode::machine::{AccessKind, Register};
//!
//! // mov rax, [rdi+0x138]
//! let code = [0x48, 0x8b, 0x87, 0x38, 0x01, 0, 0];
//! let instructions = InstructionReader::new(Architecture::X86_64).read_all(0x1000, &code);
//! let operand = instructions[0].explicit_operand().unwrap();
//! assert_eq!((operand.address.base, operand.address.displacement), (Some(Register::RDI), 0x138));
//! assert_eq!((operand.access, operand.size), (AccessKind::Read, Some(8)));
//! ```

pub mod architecture;
pub mod insn;
pub mod machine;

mod aarch64;
mod x86;
