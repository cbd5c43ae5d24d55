//! Operands of the decoder as registers, values and addresses.

use crate::machine::{Address, Register, ValueSource};
use yaxpeax_arm::armv8::a64::{Instruction as Decoded, Operand, ShiftStyle, SizeCode};

/// Where an operand in memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperandAddress {
    pub(super) address: Address,
    /// The base, if it moves on by a number.
    pub(super) writeback: Option<(Register, i64)>,
    /// The base, if it moves on by what nobody follows.
    pub(super) clobbered_base: Option<Register>,
}

/// A general-purpose register, whatever part of it; number 31 is the zero register, which is none.
fn register_or_zero(number: u16) -> Option<Register> {
    Register::new(usize::from(number)).filter(|register| *register != Register::SP)
}

/// The same where number 31 is the stack pointer.
fn register_or_sp(number: u16) -> Option<Register> {
    Register::new(usize::from(number))
}
/// A general-purpose register of 8 bytes.
pub(super) fn wide_register(decoded: &Decoded, place: usize) -> Option<Register> {
    register(decoded, place).filter(|_| is_wide(decoded, place))
}

pub(super) fn register(decoded: &Decoded, place: usize) -> Option<Register> {
    match decoded.operands.get(place)? {
        Operand::Register(_, number) | Operand::RegShift(_, _, _, number) => register_or_zero(*number),
        Operand::RegisterOrSP(_, number) => register_or_sp(*number),
        _ => None,
    }
}

/// Whether an operand is a register of 8 bytes.
pub(super) fn is_wide(decoded: &Decoded, place: usize) -> bool {
    use Operand as O;
    let size = match decoded.operands.get(place) {
        Some(O::Register(size, _) | O::RegisterOrSP(size, _) | O::RegShift(_, _, size, _)) => Some(*size),
        _ => None,
    };
    size == Some(SizeCode::X)
}

/// Whether an operand is a register that is not shifted.
pub(super) fn is_plain(decoded: &Decoded, place: usize) -> bool {
    matches!(
        decoded.operands.get(place),
        Some(Operand::Register(..) | Operand::RegisterOrSP(..) | Operand::RegShift(ShiftStyle::LSL, 0, _, _))
    )
}

pub(super) fn immediate(decoded: &Decoded, place: usize) -> Option<i64> {
    Some(match decoded.operands.get(place)? {
        Operand::Immediate(number) => i64::from(*number),
        Operand::Imm64(number) => *number as i64,
        Operand::Imm16(number) => i64::from(*number),
        Operand::ImmShift(number, shift) => i64::from(*number).checked_shl(u32::from(*shift))?,
        Operand::PCOffset(distance) => *distance,
        _ => return None,
    })
}

/// The value of an operand that is a register of 8 bytes, not shifted.
pub(super) fn value_source(decoded: &Decoded, place: usize) -> Option<ValueSource> {
    let is_it = is_wide(decoded, place) && is_plain(decoded, place);
    is_it.then(|| register(decoded, place).map_or(ValueSource::Number(0), ValueSource::Register))
}

/// A register that is added with a shift, and what it is multiplied with (see [`Address::scale`]).
pub(super) fn index_register(decoded: &Decoded, place: usize) -> Option<(Register, u8)> {
    let Operand::RegShift(style, amount, size, number) = decoded.operands.get(place)? else { return None };
    Some((register_or_zero(*number)?, scale(*style, *amount, *size)))
}

fn scale(style: ShiftStyle, amount: u8, size: SizeCode) -> u8 {
    let whole = size == SizeCode::X && matches!(style, ShiftStyle::LSL | ShiftStyle::UXTX | ShiftStyle::SXTX);
    if whole { 1u8.checked_shl(u32::from(amount)).unwrap_or(0) } else { 0 }
}

/// Where the operand in memory is, if the instruction has one.
pub(super) fn operand_address(decoded: &Decoded, at: u64) -> Option<OperandAddress> {
    decoded
        .operands
        .iter()
        .find_map(|operand| parse_operand_address(operand, at))
        .or_else(|| zeroed_address(decoded))
}

fn parse_operand_address(operand: &Operand, at: u64) -> Option<OperandAddress> {
    let based = |number: u16, displacement: i64| Address::flat(register_or_sp(number), displacement);
    let still = |address| OperandAddress { address, writeback: None, clobbered_base: None };
    Some(match *operand {
        Operand::RegPreIndex(base, distance, moves) => {
            let distance = i64::from(distance);
            let moves_on = register_or_sp(base).filter(|_| moves).map(|base| (base, distance));
            OperandAddress { writeback: moves_on, ..still(based(base, distance)) }
        }
        Operand::RegPostIndex(base, distance) => {
            let moves_on = register_or_sp(base).map(|base| (base, i64::from(distance)));
            OperandAddress { writeback: moves_on, ..still(based(base, 0)) }
        }
        Operand::RegPostIndexReg(base, _) => {
            OperandAddress { clobbered_base: register_or_sp(base), ..still(based(base, 0)) }
        }
        Operand::RegRegOffset(base, index, size, style, amount) => {
            let index = register_or_zero(index);
            let scale = if index.is_some() { scale(style, amount, size) } else { 1 };
            still(Address { index, scale, ..based(base, 0) })
        }
        Operand::PCOffset(distance) => still(Address::flat(None, at.wrapping_add_signed(distance) as i64)),
        _ => return None,
    })
}

/// `dc zva` names the register with the address.
fn zeroed_address(decoded: &Decoded) -> Option<OperandAddress> {
    let address = Address::flat(Some(register(decoded, 0)?), 0);
    Some(OperandAddress { address, writeback: None, clobbered_base: None })
}
