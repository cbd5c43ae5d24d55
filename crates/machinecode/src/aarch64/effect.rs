//! What instructions do to registers, as far as addresses may be concerned.

use crate::aarch64::class::Class;
use crate::aarch64::operand::{index, is_plain, is_wide, number, register, source, wide};
use crate::machine::{Address, Effect, Instruction, System, ValueSource};
use yaxpeax_arm::armv8::a64::{Instruction as Decoded, Opcode, Operand};

/// Bytes of a page of which `adrp` makes the address.
const PAGE: u64 = 4096;

pub(super) fn of(decoded: &Decoded, class: Class, instruction: &Instruction) -> Effect {
    let known = match class {
        Class::Compute => computed(decoded, instruction.address),
        Class::Load => of_load(decoded, instruction),
        Class::LoadPair => of_load_pair(decoded, instruction),
        Class::Store | Class::StoreVector | Class::Zero => Some(of_store(decoded, 0)),
        Class::StoreExclusive => Some(of_store(decoded, 1)),
        Class::StorePair => of_store_pair(decoded, 0),
        Class::StoreExclusivePair => of_store_pair(decoded, 1),
        Class::Update => of_update(decoded),
        Class::Compare => of_compare(decoded),
        Class::Nothing | Class::Firmware | Class::System => None,
    };
    known.unwrap_or(Effect::Other)
}

fn of_load(decoded: &Decoded, instruction: &Instruction) -> Option<Effect> {
    let to = wide(decoded, 0).filter(|_| instruction.operand().is_some_and(|operand| operand.size == 8))?;
    Some(Effect::Move { to, from: ValueSource::Memory, is_narrow: false })
}

fn of_load_pair(decoded: &Decoded, instruction: &Instruction) -> Option<Effect> {
    let is_whole = instruction.operand()?.size == 16 && is_wide(decoded, 0);
    let pair = Effect::LoadPair { first: register(decoded, 0), second: register(decoded, 1) };
    is_whole.then_some(pair)
}

/// A store of fewer bytes spoils what was there, and so needs no source.
fn of_store(decoded: &Decoded, place: usize) -> Effect {
    Effect::Store { from: source(decoded, place).unwrap_or(ValueSource::Memory) }
}

fn of_store_pair(decoded: &Decoded, place: usize) -> Option<Effect> {
    Some(Effect::StorePair { first: source(decoded, place)?, second: source(decoded, place + 1)? })
}

fn of_update(decoded: &Decoded) -> Option<Effect> {
    let register = wide(decoded, 1)?;
    let is_swap = matches!(decoded.opcode, Opcode::SWP(_));
    let is_plain = is_swap && source(decoded, 0) == Some(ValueSource::Register(register));
    Some(Effect::Exchange { register, is_plain })
}

/// What was in memory is in the first operand afterwards, whether or not it was exchanged.
fn of_compare(decoded: &Decoded) -> Option<Effect> {
    Some(Effect::Exchange { register: wide(decoded, 0)?, is_plain: false })
}

fn computed(decoded: &Decoded, at: u64) -> Option<Effect> {
    match decoded.opcode {
        Opcode::ADD | Opcode::ADDS => of_add(decoded),
        Opcode::SUB | Opcode::SUBS => of_sub(decoded),
        Opcode::AND | Opcode::ANDS => of_and(decoded),
        Opcode::ORR => of_orr(decoded),
        Opcode::MOVZ | Opcode::MOVN => of_wide_move(decoded),
        Opcode::MOVK => of_insert(decoded),
        Opcode::ADR => of_address(decoded, at),
        Opcode::ADRP => of_address(decoded, at & !(PAGE - 1)),
        Opcode::CSEL => of_choice(decoded),
        Opcode::MRS => of_system(decoded),
        _ => None,
    }
}

fn of_add(decoded: &Decoded) -> Option<Effect> {
    let (to, of) = (wide(decoded, 0)?, register(decoded, 1)?);
    Some(match (number(decoded, 2), index(decoded, 2)) {
        (Some(number), _) => Effect::Add { to, of, from: ValueSource::Number(number), subtract: false },
        (None, None) => Effect::Move { to, from: ValueSource::Register(of), is_narrow: false },
        (None, Some((index, scale))) => {
            Effect::Lea { to, address: Address { index: Some(index), scale, ..Address::flat(Some(of), 0) } }
        }
    })
}

fn of_sub(decoded: &Decoded) -> Option<Effect> {
    let (to, of) = (wide(decoded, 0)?, register(decoded, 1)?);
    let from = number(decoded, 2).map(ValueSource::Number).or_else(|| source(decoded, 2))?;
    Some(Effect::Add { to, of, from, subtract: true })
}

fn of_and(decoded: &Decoded) -> Option<Effect> {
    Some(Effect::And { to: wide(decoded, 0)?, of: register(decoded, 1)?, mask: number(decoded, 2)? })
}

/// `mov` is `orr` with the zero register.
fn of_orr(decoded: &Decoded) -> Option<Effect> {
    let to = register(decoded, 0)?;
    let is_move = matches!(decoded.operands.get(1), Some(Operand::Register(_, 31)));
    let is_narrow = !is_wide(decoded, 0);
    let from = match number(decoded, 2) {
        Some(number) => ValueSource::Number(number),
        None if is_plain(decoded, 2) => {
            register(decoded, 2).map_or(ValueSource::Number(0), ValueSource::Register)
        }
        None => return None,
    };
    is_move.then_some(Effect::Move { to, from, is_narrow })
}

fn of_wide_move(decoded: &Decoded) -> Option<Effect> {
    let to = register(decoded, 0)?;
    let number = number(decoded, 1)?;
    let number = if decoded.opcode == Opcode::MOVN { !number } else { number };
    let from = ValueSource::Number(if is_wide(decoded, 0) { number } else { number & 0xffff_ffff });
    Some(Effect::Move { to, from, is_narrow: false })
}

fn of_insert(decoded: &Decoded) -> Option<Effect> {
    let to = register(decoded, 0)?;
    let Some(Operand::ImmShift(bits, shift)) = decoded.operands.get(1) else { return None };
    let shifted = |bits: u64| bits.checked_shl(u32::from(*shift));
    let whole = if is_wide(decoded, 0) { u64::MAX } else { 0xffff_ffff };
    Some(Effect::Insert { to, mask: !shifted(0xffff)? & whole, bits: shifted(u64::from(*bits))? })
}

fn of_address(decoded: &Decoded, from: u64) -> Option<Effect> {
    let number = from.wrapping_add_signed(number(decoded, 1)?) as i64;
    Some(Effect::Move { to: register(decoded, 0)?, from: ValueSource::Number(number), is_narrow: false })
}

fn of_choice(decoded: &Decoded) -> Option<Effect> {
    Some(Effect::Choose { to: wide(decoded, 0)?, either: source(decoded, 1)?, or: source(decoded, 2)? })
}

fn of_system(decoded: &Decoded) -> Option<Effect> {
    let Some(Operand::SystemReg(number)) = decoded.operands.get(1) else { return None };
    let system = system(*number)?;
    Some(Effect::Move { to: register(decoded, 0)?, from: ValueSource::System(system), is_narrow: false })
}

/// A register of the system by its number in `mrs`: o0, op1, CRn, CRm, op2 (Arm ARM, C5.1.3 and D23).
fn system(number: u16) -> Option<System> {
    const fn encoded(op1: u16, crn: u16, crm: u16, op2: u16) -> u16 {
        1 << 14 | op1 << 11 | crn << 7 | crm << 3 | op2
    }
    const SP_EL0: u16 = encoded(0, 4, 1, 0);
    const TPIDR_EL0: u16 = encoded(3, 13, 0, 2);
    const TPIDR_EL1: u16 = encoded(0, 13, 0, 4);
    const TPIDR_EL2: u16 = encoded(4, 13, 0, 2);
    match number {
        SP_EL0 => Some(System::CurrentTask),
        TPIDR_EL0 => Some(System::Thread),
        TPIDR_EL1 | TPIDR_EL2 => Some(System::CpuOffset),
        _ => None,
    }
}
