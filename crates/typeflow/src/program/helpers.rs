//! Assembly that compilers call in place of instructions, by the names kernels give it
//! (arch/x86/lib/retpoline.S, arch/x86/kernel/ftrace_64.S).

use super::symbols::Symbols;
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::machine::{
    AccessKind, Address, AddressSegment, Callee, Flow, Instruction, MemoryOperand, Register,
};
use rustc_hash::FxHashMap;

/// The effect of a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// Returns to the caller's caller.
    Return,
    /// Calls or jumps where a register points to.
    Indirect(Register),
    /// Nothing the program can see: tracing.
    Nothing,
}

/// The memory a return reads. Kernels patch jumps to a helper that returns to be returns.
const RETURN_ADDRESS: MemoryOperand = MemoryOperand {
    address: Address {
        base: Some(Register::RSP),
        index: None,
        scale: Some(1),
        displacement: 0,
        segment: AddressSegment::Flat,
    },
    size: Some(8),
    access: AccessKind::Read,
    is_implicit: true,
    is_repeated: false,
};

/// Helpers by address.
#[derive(Clone, Debug, Default)]
pub struct Helpers(FxHashMap<u64, Helper>);

impl Helpers {
    /// Finds helpers among a program's symbols.
    pub fn new(symbols: &Symbols<'_>) -> Self {
        let found = symbols.iter().filter_map(|symbol| Some((symbol.address, helper_by_name(symbol.name)?)));
        Self(found.collect())
    }

    /// The instruction with a helper's effect in place of the call of it.
    pub fn apply_helper(&self, mut instruction: Instruction) -> Instruction {
        let (target, is_call) = match instruction.flow {
            Flow::Call(Callee::Direct(target)) => (target, true),
            Flow::Jump(target) => (target, false),
            _ => return instruction,
        };
        instruction.flow = match (self.0.get(&target), is_call) {
            (Some(Helper::Return), false) => {
                instruction.add_memory_operand(RETURN_ADDRESS);
                Flow::Return
            }
            (Some(Helper::Indirect(register)), true) => Flow::Call(Callee::Register(*register)),
            (Some(Helper::Indirect(register)), false) => Flow::IndirectJump(Callee::Register(*register)),
            (Some(Helper::Nothing), true) => Flow::Next,
            _ => return instruction,
        };
        instruction
    }
}

fn helper_by_name(name: &str) -> Option<Helper> {
    match name {
        "__x86_return_thunk" => Some(Helper::Return),
        "__fentry__" | "mcount" => Some(Helper::Nothing),
        _ => {
            let register = name.strip_prefix("__x86_indirect_thunk_")?;
            let mut registers = (0..Register::COUNT).filter_map(Register::new);
            registers
                .find(|known| Architecture::X86_64.register_name(*known) == register)
                .map(Helper::Indirect)
        }
    }
}
