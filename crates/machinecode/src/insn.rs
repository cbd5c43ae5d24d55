//! Machine code to [`Instruction`]s, and to text, of all architectures.

use crate::architecture::Architecture;
use crate::machine::{Instruction, SymbolName};
use crate::{aarch64, x86};

/// Decodes instructions; keeps state of the decoders between calls.
pub struct InstructionReader(ArchitectureDecoder);

enum ArchitectureDecoder {
    X86(Box<x86::X86Reader>),
    AArch64(aarch64::AArch64Reader),
}

impl InstructionReader {
    /// A reader of an architecture's code.
    pub fn new(architecture: Architecture) -> Self {
        Self(match architecture {
            Architecture::X86_64 => ArchitectureDecoder::X86(Box::new(x86::X86Reader::new())),
            Architecture::AArch64 => ArchitectureDecoder::AArch64(aarch64::AArch64Reader::default()),
        })
    }

    /// All instructions of some code, one after the other. Bytes that are no instruction become a
    /// [`crate::machine::Flow::Stop`] of one byte (x86) or four, and reading goes on behind.
    pub fn read_all(&mut self, address: u64, code: &[u8]) -> Vec<Instruction> {
        match &mut self.0 {
            ArchitectureDecoder::X86(reader) => reader.read_all(address, code),
            ArchitectureDecoder::AArch64(reader) => reader.read_all(address, code),
        }
    }

    /// The instruction at the beginning of some code; `None` if there is none.
    pub fn read(&mut self, address: u64, code: &[u8]) -> Option<Instruction> {
        match &mut self.0 {
            ArchitectureDecoder::X86(reader) => reader.read(address, code),
            ArchitectureDecoder::AArch64(reader) => reader.read(address, code),
        }
    }
}

/// The instruction at the beginning of some code, which is linked at an address, as objdump and perf print it; `None` if
/// there is none. `name_of` gives the names of addresses in the instruction.
pub fn format_instruction(
    architecture: Architecture,
    name_of: &SymbolName<'_>,
    address: u64,
    code: &[u8],
) -> Option<String> {
    match architecture {
        Architecture::X86_64 => x86::text::format_instruction(name_of, address, code),
        Architecture::AArch64 => aarch64::text::format_instruction(name_of, address, code),
    }
}
