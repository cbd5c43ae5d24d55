//! What instructions touch, decoded once.

use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::insn::InstructionReader;
use fieldline_machinecode::machine::{Flow, Memory};
use rustc_hash::FxHashMap;

/// Longest instruction (Intel SDM volume 2, section 2.3.11).
pub(crate) const LONGEST: usize = 15;

/// Operands of an instruction in memory whose addresses general-purpose registers tell.
pub(crate) type Touches = [Option<Memory>; 2];

/// What a step over an instruction does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) touches: Touches,
    /// It calls the kernel, and may sleep there.
    pub(crate) is_call: bool,
    /// Its bytes.
    pub(crate) length: u8,
    /// It may lead elsewhere than behind it.
    pub(crate) is_branch: bool,
}

pub(crate) struct Code {
    reader: InstructionReader,
    known: FxHashMap<u64, Step>,
}

impl Default for Code {
    fn default() -> Self {
        Self { reader: InstructionReader::new(Architecture::X86_64), known: FxHashMap::default() }
    }
}

impl Code {
    /// Forgets everything: other code may stand at the same addresses.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
    }

    /// Whether the instruction at an address was decoded.
    pub(crate) fn known(&self, ip: u64) -> Option<Step> {
        self.known.get(&ip).copied()
    }

    pub(crate) fn learn(&mut self, ip: u64, code: &[u8]) -> Step {
        let step = step(&mut self.reader, ip, code);
        self.known.insert(ip, step);
        step
    }
}

/// Bytes that are no instruction may do anything.
fn step(reader: &mut InstructionReader, ip: u64, code: &[u8]) -> Step {
    let Some(instruction) = reader.read(ip, code) else { return Step { is_call: true, ..Step::default() } };
    let mut step = Step {
        is_call: instruction.flow == Flow::Trap,
        length: instruction.length,
        is_branch: !matches!(instruction.flow, Flow::Next | Flow::Trap),
        ..Step::default()
    };
    if !is_addressed_otherwise(code) {
        for (to, memory) in step.touches.iter_mut().zip(instruction.memory()) {
            *to = Some(*memory);
        }
    }
    step
}

/// Whether vector registers index memory (gathers and scatters, Intel SDM volume 2, appendix A, table A-4: opcodes 90 to 93
/// and A0 to A3 of map 2), or addresses have 32 bits (prefix 67). General-purpose registers don't tell such addresses.
fn is_addressed_otherwise(code: &[u8]) -> bool {
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
        step(&mut InstructionReader::new(Architecture::X86_64), 0x1000, code).touches.iter().flatten().count()
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
    fn what_general_registers_do_not_tell_is_left_out() {
        assert_eq!(count(&[0xc4, 0xe2, 0x75, 0x92, 0x04, 0x87]), 0, "vgatherdps ymm0, [rdi+ymm0*4], ymm1");
        assert_eq!(count(&[0x67, 0x8b, 0x07]), 0, "mov eax, [edi]");
        assert_eq!(count(&[0xc5, 0xfc, 0x28, 0x07]), 1, "vmovaps ymm0, [rdi]");
    }

    #[test]
    fn calls_of_the_kernel_may_take_long() {
        let is_call =
            |code: &[u8]| step(&mut InstructionReader::new(Architecture::X86_64), 0x1000, code).is_call;
        assert!(is_call(&[0x0f, 0x05]), "syscall");
        assert!(is_call(&[]), "nothing known");
        assert!(!is_call(&[0xff, 0x50, 0x18]) && !is_call(&[0xc3]), "call, ret");
    }

    #[test]
    fn what_was_decoded_is_known_until_it_is_cleared() {
        let mut code = Code::default();
        assert!(code.known(0x1000).is_none());
        code.learn(0x1000, &[0x55]);
        assert!(code.known(0x1000).is_some());
        code.clear();
        assert!(code.known(0x1000).is_none());
    }
}
