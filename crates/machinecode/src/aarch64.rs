//! AArch64 machine code to [`Instruction`]s, and to text. Nothing else knows the decoder library for it.
//!
//! * `class`: classes of instructions, and the bytes they move.
//! * `operand`: operands of the decoder as registers, values and addresses.
//! * `effect`: effects of instructions on registers.
//! * `text`: instructions as text.

mod class;
mod effect;
mod operand;
pub(crate) mod text;

use crate::machine::{Callee, Flow, Instruction, MemoryOperand, Register, Registers};
use class::Class;
use operand::{OperandAddress, immediate, is_unshifted, is_wide, operand_address, pc_offset, register};
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Instruction as Decoded, Opcode, Operand};

/// Bytes of every instruction.
const LENGTH: u8 = 4;
/// x0 to x30, which an unknown instruction may write.
const ALL_REGISTERS: Registers = Registers(0x7fff_ffff);
/// x0 to x17, which a call of the firmware may change (SMC Calling Convention, Arm DEN 0028, section 2.6).
const CLOBBERED_BY_FIRMWARE: Registers = Registers(0x3_ffff);
/// x0, in which a system call returns.
const CLOBBERED_BY_SYSTEM: Registers = Registers(1);

/// Decodes instructions.
#[derive(Default)]
pub(super) struct AArch64Reader(InstDecoder);

impl AArch64Reader {
    /// All instructions of some code; see [`crate::insn::InstructionReader::read_all`].
    pub(super) fn read_all(&mut self, address: u64, code: &[u8]) -> Vec<Instruction> {
        let addresses = (0..).map(|index: u64| address.wrapping_add(index.wrapping_mul(u64::from(LENGTH))));
        let words = addresses.zip(code.chunks(usize::from(LENGTH)));
        let read = |(at, word): (u64, &[u8])| {
            self.read(at, word).unwrap_or(Instruction::new(at, word.len() as u8, Flow::Stop))
        };
        words.map(read).collect()
    }

    /// The instruction at the beginning of some code; `None` if there is none.
    pub(super) fn read(&mut self, address: u64, code: &[u8]) -> Option<Instruction> {
        let word = code.get(..usize::from(LENGTH))?;
        if let Ok(decoded) = self.0.decode(&mut U8Reader::new(word)) {
            return Some(convert(&decoded, address));
        }
        // An extension the library does not know (SVE, SME, newer ones): the program goes on behind it.
        let mut unknown = Instruction::new(address, LENGTH, Flow::Next);
        unknown.written = ALL_REGISTERS;
        is_allocated(word).then_some(unknown)
    }
}

/// Whether an instruction may begin with a word: its major group is one of those there are (Arm ARM, C4.1).
fn is_allocated(word: &[u8]) -> bool {
    let last = word.get(3).copied().unwrap_or(0);
    match last >> 1 & 15 {
        0 => last & 0x80 != 0,
        1 | 3 => false,
        _ => true,
    }
}

fn convert(decoded: &Decoded, at: u64) -> Instruction {
    let class = class::classify(decoded);
    let mut instruction = Instruction::new(at, LENGTH, flow(decoded, at));
    instruction.written = written_registers(decoded, class);
    if let Some((access, size)) = class::memory_access(decoded, class)
        && let Some(OperandAddress { address, writeback, clobbered_base }) = operand_address(decoded, at)
    {
        instruction.add_memory_operand(MemoryOperand {
            address,
            size,
            access,
            is_implicit: false,
            is_repeated: false,
        });
        instruction.writeback = writeback;
        instruction.written.extend(clobbered_base);
    }
    instruction.effect = effect::instruction_effect(decoded, class, &instruction);
    instruction.tested_register = tested_register(decoded);
    instruction.taken_if_zero = match decoded.opcode {
        Opcode::CBZ | Opcode::Bcc(0) => Some(true),
        Opcode::CBNZ | Opcode::Bcc(1) => Some(false),
        _ => None,
    };
    instruction
}

fn flow(decoded: &Decoded, at: u64) -> Flow {
    use Opcode as O;
    let target = || at.wrapping_add_signed(pc_offset(decoded).unwrap_or(0));
    let callee = || register(decoded, 0).map_or(Callee::Memory, Callee::Register);
    match decoded.opcode {
        O::B => Flow::Jump(target()),
        O::Bcc(_) | O::CBZ | O::CBNZ | O::TBZ | O::TBNZ => Flow::Branch(target()),
        O::BL => Flow::Call(Callee::Direct(target())),
        O::BLR | O::BLRAA | O::BLRAB | O::BLRAAZ | O::BLRABZ => Flow::Call(callee()),
        O::BR | O::BRAA | O::BRAB | O::BRAAZ | O::BRABZ => Flow::IndirectJump(callee()),
        O::RET | O::RETAA | O::RETAB | O::ERET | O::ERETAA | O::ERETAB | O::DRPS => Flow::Return,
        O::RETAASPPC | O::RETABSPPC | O::RETAASPPCR | O::RETABSPPCR => Flow::Return,
        O::SVC | O::HVC | O::SMC => Flow::Trap,
        O::BRK | O::HLT | O::UDF => Flow::Stop,
        _ => Flow::Next,
    }
}

/// Registers that get values, without the base of a writeback.
fn written_registers(decoded: &Decoded, class: Class) -> Registers {
    let operands: &[usize] = match class {
        Class::Nothing | Class::Store | Class::StorePair | Class::StoreVector | Class::Zero => &[],
        Class::Load | Class::Compute | Class::Compare => &[0],
        Class::StoreExclusive | Class::StoreExclusivePair => &[0],
        Class::LoadPair => &[0, 1],
        Class::Update => &[1],
        Class::Firmware => return CLOBBERED_BY_FIRMWARE,
        Class::System => return CLOBBERED_BY_SYSTEM,
    };
    let mut registers = Registers::default();
    for operand in operands {
        registers.extend(register(decoded, *operand));
        // A pair is named by its first.
        if let Some(Operand::RegisterPair(_, first)) = decoded.operands.get(*operand) {
            let pair = [*first, *first + 1].map(usize::from);
            registers.extend(pair.into_iter().filter_map(Register::new));
        }
    }
    registers
}

/// The register that an instruction compares with zero.
fn tested_register(decoded: &Decoded) -> Option<Register> {
    let operand = match decoded.opcode {
        Opcode::CBZ | Opcode::CBNZ => 0,
        Opcode::SUBS if immediate(decoded, 2) == Some(0) => 1,
        Opcode::ANDS if is_unshifted(decoded, 2) && register(decoded, 1) == register(decoded, 2) => 1,
        _ => return None,
    };
    register(decoded, operand).filter(|_| is_wide(decoded, operand))
}

#[cfg(test)]
mod tests;
