//! Memory operands of instructions, decoded once.

use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Flow, MemoryOperand};
use rustc_hash::FxHashMap;

/// Longest instruction (Intel SDM volume 2, section 2.3.11).
pub(crate) const MAX_INSTRUCTION_BYTES: usize = 15;

/// Memory operands of an instruction whose addresses follow from general-purpose registers.
pub(crate) type MemoryOperands = [Option<MemoryOperand>; 2];

/// A decoded instruction, as far as stepping over it needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepInstruction {
    pub(crate) operands: MemoryOperands,
    /// It calls the kernel, and may sleep there.
    pub(crate) is_call: bool,
    /// Its bytes.
    pub(crate) length: u8,
    /// It may lead elsewhere than behind it.
    pub(crate) is_branch: bool,
}

pub(crate) struct DecodedCode {
    reader: InstructionReader,
    by_address: FxHashMap<u64, StepInstruction>,
}

impl Default for DecodedCode {
    fn default() -> Self {
        Self { reader: InstructionReader::new(Architecture::X86_64), by_address: FxHashMap::default() }
    }
}

impl DecodedCode {
    /// Drops all decoded instructions: other code may be at the same addresses.
    pub(crate) fn clear(&mut self) {
        self.by_address.clear();
    }

    /// Whether the instruction at an address was decoded.
    pub(crate) fn get(&self, ip: u64) -> Option<StepInstruction> {
        self.by_address.get(&ip).copied()
    }

    pub(crate) fn decode(&mut self, ip: u64, code: &[u8]) -> StepInstruction {
        let decoded = decode_instruction(&mut self.reader, ip, code);
        self.by_address.insert(ip, decoded);
        decoded
    }
}

/// Bytes that are no instruction may do anything.
fn decode_instruction(reader: &mut InstructionReader, ip: u64, code: &[u8]) -> StepInstruction {
    let Some(instruction) = reader.read(ip, code) else {
        return StepInstruction { is_call: true, ..StepInstruction::default() };
    };
    let mut decoded = StepInstruction {
        is_call: instruction.flow == Flow::Trap,
        length: instruction.length,
        is_branch: !matches!(instruction.flow, Flow::Next | Flow::Trap),
        ..StepInstruction::default()
    };
    if !has_other_addressing(code) {
        for (to, memory) in decoded.operands.iter_mut().zip(instruction.memory_operands()) {
            *to = Some(*memory);
        }
    }
    decoded
}

/// Whether vector registers index memory (gathers and scatters, Intel SDM volume 2, appendix A, table A-4:
/// opcodes 90 to 93 and A0 to A3 of map 2), or addresses have 32 bits (prefix 67). General-purpose registers
/// don't give such addresses.
fn has_other_addressing(code: &[u8]) -> bool {
    let is_prefix = |byte: u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3);
    let prefixes = code.iter().take_while(|byte| is_prefix(**byte)).count();
    let (prefixes, rest) = code.split_at_checked(prefixes).unwrap_or_default();
    let is_vector = match rest {
        [0xc4, map, _, opcode, ..] => map & 0x1f == 2 && matches!(opcode, 0x90..=0x93),
        [0x62, map, _, _, opcode, ..] => map & 7 == 2 && matches!(opcode, 0x90..=0x93 | 0xa0..=0xa3),
        _ => false,
    };
    is_vector || prefixes.contains(&0x67)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(code: &[u8]) -> usize {
        decode_instruction(&mut InstructionReader::new(Architecture::X86_64), 0x1000, code)
            .operands
            .iter()
            .flatten()
            .count()
    }

    #[test]
    fn loads_stores_and_pushes_are_touches() {
        assert_eq!(count(&[0x48, 0x8b, 0x07]), 1, "mov rax, [rdi]");
        assert_eq!(count(&[0x55]), 1, "push rbp");
        assert_eq!(count(&[0xff, 0x50, 0x18]), 2, "call [rax+0x18] reads it and pushes");
        assert_eq!(count(&[0x48, 0x89, 0xc3]), 0, "mov rbx, rax");
        assert_eq!(count(&[0x48, 0x8d, 0x07]), 0, "lea rax, [rdi]");
        assert_eq!(count(&[0x06]), 0, "no instruction");
        assert_eq!(count(&[]), 0);
    }

    #[test]
    fn operands_without_general_register_addresses_are_left_out() {
        assert_eq!(count(&[0xc4, 0xe2, 0x75, 0x92, 0x04, 0x87]), 0, "vgatherdps ymm0, [rdi+ymm0*4], ymm1");
        assert_eq!(count(&[0x67, 0x8b, 0x07]), 0, "mov eax, [edi]");
        assert_eq!(count(&[0xc5, 0xfc, 0x28, 0x07]), 1, "vmovaps ymm0, [rdi]");
    }

    #[test]
    fn calls_of_the_kernel_may_take_long() {
        let is_call = |code: &[u8]| {
            decode_instruction(&mut InstructionReader::new(Architecture::X86_64), 0x1000, code).is_call
        };
        assert!(is_call(&[0x0f, 0x05]), "syscall");
        assert!(is_call(&[]), "nothing known");
        assert!(!is_call(&[0xff, 0x50, 0x18]) && !is_call(&[0xc3]), "call, ret");
    }

    #[test]
    fn decoded_instructions_are_kept_until_cleared() {
        let mut code = DecodedCode::default();
        assert!(code.get(0x1000).is_none());
        code.decode(0x1000, &[0x55]);
        assert!(code.get(0x1000).is_some());
        code.clear();
        assert!(code.get(0x1000).is_none());
    }
}
