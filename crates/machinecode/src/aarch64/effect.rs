//! What instructions do to registers, as far as addresses may be concerned.

use crate::aarch64::class::InstructionClass;
use crate::aarch64::operand::{
    immediate, index_register, is_plain, is_wide, register, value_source, wide_register,
};
use crate::machine::{Address, Effect, Instruction, SystemRegister, ValueSource};
use yaxpeax_arm::armv8::a64::{Instruction as Decoded, Opcode, Operand};

/// Bytes of a page of which `adrp` makes the address.
const PAGE: u64 = 4096;

pub(super) fn instruction_effect(
    decoded: &Decoded,
    class: InstructionClass,
    instruction: &Instruction,
) -> Effect {
    let known = match class {
        InstructionClass::Compute => computed_effect(decoded, instruction.address),
        InstructionClass::Load => load_effect(decoded, instruction),
        InstructionClass::LoadPair => load_pair_effect(decoded, instruction),
        InstructionClass::Store | InstructionClass::StoreVector | InstructionClass::Zero => {
            Some(store_effect(decoded, 0))
        }
        InstructionClass::StoreExclusive => Some(store_effect(decoded, 1)),
        InstructionClass::StorePair => store_pair_effect(decoded, 0),
        InstructionClass::StoreExclusivePair => store_pair_effect(decoded, 1),
        InstructionClass::Update => update_effect(decoded),
        InstructionClass::Compare => compare_effect(decoded),
        InstructionClass::Nothing | InstructionClass::Firmware | InstructionClass::System => None,
    };
    known.unwrap_or(Effect::Other)
}

fn load_effect(decoded: &Decoded, instruction: &Instruction) -> Option<Effect> {
    let to = wide_register(decoded, 0)
        .filter(|_| instruction.explicit_operand().is_some_and(|operand| operand.size == 8))?;
    Some(Effect::Move { to, from: ValueSource::Memory, is_narrow: false })
}

fn load_pair_effect(decoded: &Decoded, instruction: &Instruction) -> Option<Effect> {
    let is_whole = instruction.explicit_operand()?.size == 16 && is_wide(decoded, 0);
    let pair = Effect::LoadPair { first: register(decoded, 0), second: register(decoded, 1) };
    is_whole.then_some(pair)
}

/// A store of fewer bytes spoils what was there, and so needs no source.
fn store_effect(decoded: &Decoded, place: usize) -> Effect {
    Effect::Store { from: value_source(decoded, place).unwrap_or(ValueSource::Memory) }
}

fn store_pair_effect(decoded: &Decoded, place: usize) -> Option<Effect> {
    Some(Effect::StorePair {
        first: value_source(decoded, place)?,
        second: value_source(decoded, place + 1)?,
    })
}

fn update_effect(decoded: &Decoded) -> Option<Effect> {
    let register = wide_register(decoded, 1)?;
    let is_swap = matches!(decoded.opcode, Opcode::SWP(_));
    let is_plain = is_swap && value_source(decoded, 0) == Some(ValueSource::Register(register));
    Some(Effect::Exchange { register, is_plain })
}

/// What was in memory is in the first operand afterwards, whether or not it was exchanged.
fn compare_effect(decoded: &Decoded) -> Option<Effect> {
    Some(Effect::Exchange { register: wide_register(decoded, 0)?, is_plain: false })
}

fn computed_effect(decoded: &Decoded, at: u64) -> Option<Effect> {
    match decoded.opcode {
        Opcode::ADD | Opcode::ADDS => add_effect(decoded),
        Opcode::SUB | Opcode::SUBS => sub_effect(decoded),
        Opcode::AND | Opcode::ANDS => and_effect(decoded),
        Opcode::ORR => orr_effect(decoded),
        Opcode::MOVZ | Opcode::MOVN => wide_move_effect(decoded),
        Opcode::MOVK => insert_effect(decoded),
        Opcode::ADR => address_effect(decoded, at),
        Opcode::ADRP => address_effect(decoded, at & !(PAGE - 1)),
        Opcode::CSEL => conditional_select_effect(decoded),
        Opcode::MRS => system_register_effect(decoded),
        _ => None,
    }
}

fn add_effect(decoded: &Decoded) -> Option<Effect> {
    let (to, base) = (wide_register(decoded, 0)?, register(decoded, 1)?);
    Some(match (immediate(decoded, 2), index_register(decoded, 2)) {
        (Some(number), _) => {
            Effect::Add { to, left: base, from: ValueSource::Number(number), subtract: false }
        }
        (None, None) => Effect::Move { to, from: ValueSource::Register(base), is_narrow: false },
        (None, Some((index, scale))) => {
            Effect::Lea { to, address: Address { index: Some(index), scale, ..Address::flat(Some(base), 0) } }
        }
    })
}

fn sub_effect(decoded: &Decoded) -> Option<Effect> {
    let (to, base) = (wide_register(decoded, 0)?, register(decoded, 1)?);
    let from = immediate(decoded, 2).map(ValueSource::Number).or_else(|| value_source(decoded, 2))?;
    Some(Effect::Add { to, left: base, from, subtract: true })
}

fn and_effect(decoded: &Decoded) -> Option<Effect> {
    Some(Effect::And {
        to: wide_register(decoded, 0)?,
        source: register(decoded, 1)?,
        mask: immediate(decoded, 2)?,
    })
}

/// `mov` is `orr` with the zero register.
fn orr_effect(decoded: &Decoded) -> Option<Effect> {
    let to = register(decoded, 0)?;
    let is_move = matches!(decoded.operands.get(1), Some(Operand::Register(_, 31)));
    let is_narrow = !is_wide(decoded, 0);
    let from = match immediate(decoded, 2) {
        Some(number) => ValueSource::Number(number),
        None if is_plain(decoded, 2) => {
            register(decoded, 2).map_or(ValueSource::Number(0), ValueSource::Register)
        }
        None => return None,
    };
    is_move.then_some(Effect::Move { to, from, is_narrow })
}

fn wide_move_effect(decoded: &Decoded) -> Option<Effect> {
    let to = register(decoded, 0)?;
    let number = immediate(decoded, 1)?;
    let number = if decoded.opcode == Opcode::MOVN { !number } else { number };
    let from = ValueSource::Number(if is_wide(decoded, 0) { number } else { number & 0xffff_ffff });
    Some(Effect::Move { to, from, is_narrow: false })
}

fn insert_effect(decoded: &Decoded) -> Option<Effect> {
    let to = register(decoded, 0)?;
    let Some(Operand::ImmShift(bits, shift)) = decoded.operands.get(1) else { return None };
    let shifted = |bits: u64| bits.checked_shl(u32::from(*shift));
    let whole = if is_wide(decoded, 0) { u64::MAX } else { 0xffff_ffff };
    Some(Effect::Insert { to, mask: !shifted(0xffff)? & whole, bits: shifted(u64::from(*bits))? })
}

fn address_effect(decoded: &Decoded, from: u64) -> Option<Effect> {
    let number = from.wrapping_add_signed(immediate(decoded, 1)?) as i64;
    Some(Effect::Move { to: register(decoded, 0)?, from: ValueSource::Number(number), is_narrow: false })
}

fn conditional_select_effect(decoded: &Decoded) -> Option<Effect> {
    Some(Effect::Choose {
        to: wide_register(decoded, 0)?,
        either: value_source(decoded, 1)?,
        or: value_source(decoded, 2)?,
    })
}

fn system_register_effect(decoded: &Decoded) -> Option<Effect> {
    let Some(Operand::SystemReg(number)) = decoded.operands.get(1) else { return None };
    let system = system_register(*number)?;
    Some(Effect::Move { to: register(decoded, 0)?, from: ValueSource::System(system), is_narrow: false })
}

/// A register of the system by its number in `mrs`: o0, op1, CRn, CRm, op2 (Arm ARM, C5.1.3 and D23).
fn system_register(number: u16) -> Option<SystemRegister> {
    const fn encoded(op1: u16, crn: u16, crm: u16, op2: u16) -> u16 {
        1 << 14 | op1 << 11 | crn << 7 | crm << 3 | op2
    }
    const SP_EL0: u16 = encoded(0, 4, 1, 0);
    const TPIDR_EL0: u16 = encoded(3, 13, 0, 2);
    const TPIDR_EL1: u16 = encoded(0, 13, 0, 4);
    const TPIDR_EL2: u16 = encoded(4, 13, 0, 2);
    match number {
        SP_EL0 => Some(SystemRegister::CurrentTask),
        TPIDR_EL0 => Some(SystemRegister::Thread),
        TPIDR_EL1 | TPIDR_EL2 => Some(SystemRegister::CpuOffset),
        _ => None,
    }
}
