//! Effects of instructions on registers, as far as addresses may be concerned.

use crate::aarch64::class::Class;
use crate::aarch64::operand::{immediate, index_register, is_unshifted, is_wide};
use crate::aarch64::operand::{register, value_source, wide_register};
use crate::machine::{Address, Effect, Instruction, SystemRegister, ValueSource};
use yaxpeax_arm::armv8::a64::{Instruction as Decoded, Opcode, Operand};

/// Bytes of a page, whose address `adrp` computes.
const PAGE: u64 = 4096;

/// The effect of an instruction, of which all but the effect is known.
pub(super) fn instruction_effect(decoded: &Decoded, class: Class, instruction: &Instruction) -> Effect {
    let known = match class {
        Class::Compute => compute_effect(decoded, instruction.address),
        Class::Load => load_effect(decoded, instruction),
        Class::LoadPair => load_pair_effect(decoded, instruction),
        Class::Store | Class::StoreVector | Class::Zero => Some(store_effect(decoded, 0)),
        Class::StoreExclusive => Some(store_effect(decoded, 1)),
        Class::StorePair => store_pair_effect(decoded, 0),
        Class::StoreExclusivePair => store_pair_effect(decoded, 1),
        Class::Update => update_effect(decoded),
        Class::Compare => compare_effect(decoded),
        Class::Nothing | Class::Firmware | Class::System => None,
    };
    known.unwrap_or(Effect::Other)
}

fn load_effect(decoded: &Decoded, instruction: &Instruction) -> Option<Effect> {
    let is_whole = instruction.explicit_operand()?.size == Some(8);
    let to = wide_register(decoded, 0).filter(|_| is_whole)?;
    Some(Effect::Move { to, from: ValueSource::Memory, is_narrow: false })
}

fn load_pair_effect(decoded: &Decoded, instruction: &Instruction) -> Option<Effect> {
    let is_whole = instruction.explicit_operand()?.size == Some(16) && is_wide(decoded, 0);
    is_whole.then(|| Effect::LoadPair { first: register(decoded, 0), second: register(decoded, 1) })
}

/// A store of fewer bytes only overwrites the value there, and so needs no source.
fn store_effect(decoded: &Decoded, operand: usize) -> Effect {
    Effect::Store { from: value_source(decoded, operand).unwrap_or(ValueSource::Memory) }
}

fn store_pair_effect(decoded: &Decoded, operand: usize) -> Option<Effect> {
    let (first, second) = (value_source(decoded, operand)?, value_source(decoded, operand + 1)?);
    Some(Effect::StorePair { first, second })
}

fn update_effect(decoded: &Decoded) -> Option<Effect> {
    let register = wide_register(decoded, 1)?;
    let is_swap = matches!(decoded.opcode, Opcode::SWP(_));
    let is_plain = is_swap && value_source(decoded, 0) == Some(ValueSource::Register(register));
    Some(Effect::Exchange { register, is_plain })
}

/// The first operand gets the value in memory, whether or not it was exchanged.
fn compare_effect(decoded: &Decoded) -> Option<Effect> {
    Some(Effect::Exchange { register: wide_register(decoded, 0)?, is_plain: false })
}

fn compute_effect(decoded: &Decoded, address: u64) -> Option<Effect> {
    match decoded.opcode {
        Opcode::ADD | Opcode::ADDS => add_effect(decoded),
        Opcode::SUB | Opcode::SUBS => sub_effect(decoded),
        Opcode::AND | Opcode::ANDS => and_effect(decoded),
        Opcode::ORR => orr_effect(decoded),
        Opcode::MOVZ | Opcode::MOVN => move_wide_effect(decoded),
        Opcode::MOVK => insert_effect(decoded),
        Opcode::ADR => address_effect(decoded, address),
        Opcode::ADRP => address_effect(decoded, address & !(PAGE - 1)),
        Opcode::CSEL => conditional_select_effect(decoded),
        Opcode::MRS => system_register_effect(decoded),
        _ => None,
    }
}

fn add_effect(decoded: &Decoded) -> Option<Effect> {
    let (to, base) = (wide_register(decoded, 0)?, register(decoded, 1)?);
    Some(match (immediate(decoded, 2).map(ValueSource::Number), index_register(decoded, 2)) {
        (Some(from), _) => Effect::Add { to, left: base, from, subtract: false },
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
    let (to, source) = (wide_register(decoded, 0)?, register(decoded, 1)?);
    Some(Effect::And { to, source, mask: immediate(decoded, 2)? })
}

/// `mov` is `orr` with the zero register.
fn orr_effect(decoded: &Decoded) -> Option<Effect> {
    let to = register(decoded, 0)?;
    let is_move = matches!(decoded.operands.get(1), Some(Operand::Register(_, 31)));
    let from = match immediate(decoded, 2) {
        Some(number) => ValueSource::Number(number),
        None if is_unshifted(decoded, 2) => {
            register(decoded, 2).map_or(ValueSource::Number(0), ValueSource::Register)
        }
        None => return None,
    };
    is_move.then_some(Effect::Move { to, from, is_narrow: !is_wide(decoded, 0) })
}

fn move_wide_effect(decoded: &Decoded) -> Option<Effect> {
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
    let (either, or) = (value_source(decoded, 1)?, value_source(decoded, 2)?);
    Some(Effect::Choose { to: wide_register(decoded, 0)?, either, or })
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
