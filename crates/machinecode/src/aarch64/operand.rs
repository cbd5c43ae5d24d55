//! Operands of the decoder as registers, values and addresses.

use crate::machine::{Address, Register, ValueSource};
use yaxpeax_arm::armv8::a64::{Instruction as Decoded, Operand, ShiftStyle, SizeCode};

/// The address of an operand in memory, and the writeback of its base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OperandAddress {
    pub(super) address: Address,
    /// The base, if a number of bytes is added to it.
    pub(super) writeback: Option<(Register, i64)>,
    /// The base, if it gets a value that is not followed.
    pub(super) clobbered_base: Option<Register>,
}

impl OperandAddress {
    /// An address whose base keeps its value.
    fn new(address: Address) -> Self {
        Self { address, writeback: None, clobbered_base: None }
    }
}

/// A general-purpose register, of 8 or 4 bytes; number 31 is the zero register, which is none.
fn register_or_zero(number: u16) -> Option<Register> {
    Register::new(usize::from(number)).filter(|register| *register != Register::SP)
}

/// A general-purpose register, where number 31 is the stack pointer.
fn register_or_sp(number: u16) -> Option<Register> {
    Register::new(usize::from(number))
}

/// A general-purpose register of 8 bytes.
pub(super) fn wide_register(decoded: &Decoded, operand: usize) -> Option<Register> {
    register(decoded, operand).filter(|_| is_wide(decoded, operand))
}

/// The general-purpose register that an operand is, shifted or not.
pub(super) fn register(decoded: &Decoded, operand: usize) -> Option<Register> {
    match decoded.operands.get(operand)? {
        Operand::Register(_, number) | Operand::RegShift(_, _, _, number) => register_or_zero(*number),
        Operand::RegisterOrSP(_, number) => register_or_sp(*number),
        _ => None,
    }
}

/// Whether an operand is a register of 8 bytes.
pub(super) fn is_wide(decoded: &Decoded, operand: usize) -> bool {
    use Operand as O;
    match decoded.operands.get(operand) {
        Some(O::Register(size, _) | O::RegisterOrSP(size, _) | O::RegShift(_, _, size, _)) => {
            *size == SizeCode::X
        }
        _ => false,
    }
}

/// Whether an operand is a register that is not shifted.
pub(super) fn is_unshifted(decoded: &Decoded, operand: usize) -> bool {
    use Operand as O;
    let operand = decoded.operands.get(operand);
    matches!(operand, Some(O::Register(..) | O::RegisterOrSP(..) | O::RegShift(ShiftStyle::LSL, 0, _, _)))
}

/// The number that an operand is.
pub(super) fn immediate(decoded: &Decoded, operand: usize) -> Option<i64> {
    Some(match decoded.operands.get(operand)? {
        Operand::Immediate(number) => i64::from(*number),
        Operand::Imm64(number) => *number as i64,
        Operand::Imm16(number) => i64::from(*number),
        Operand::ImmShift(number, shift) => i64::from(*number).checked_shl(u32::from(*shift))?,
        Operand::PCOffset(distance) => *distance,
        _ => return None,
    })
}

/// The distance in bytes of a branch target or address from the program counter.
pub(super) fn pc_offset(decoded: &Decoded) -> Option<i64> {
    decoded.operands.iter().find_map(|operand| match operand {
        Operand::PCOffset(distance) => Some(*distance),
        _ => None,
    })
}

/// The value of an operand that is a register of 8 bytes, not shifted.
pub(super) fn value_source(decoded: &Decoded, operand: usize) -> Option<ValueSource> {
    let is_whole = is_wide(decoded, operand) && is_unshifted(decoded, operand);
    is_whole.then(|| register(decoded, operand).map_or(ValueSource::Number(0), ValueSource::Register))
}

/// A register that is added with a shift, and the factor it is multiplied with (see [`Address::scale`]).
pub(super) fn index_register(decoded: &Decoded, operand: usize) -> Option<(Register, Option<u8>)> {
    let Operand::RegShift(style, amount, size, number) = decoded.operands.get(operand)? else { return None };
    Some((register_or_zero(*number)?, scale(*style, *amount, *size)))
}

fn scale(style: ShiftStyle, amount: u8, size: SizeCode) -> Option<u8> {
    let is_whole =
        size == SizeCode::X && matches!(style, ShiftStyle::LSL | ShiftStyle::UXTX | ShiftStyle::SXTX);
    1u8.checked_shl(u32::from(amount)).filter(|_| is_whole)
}

/// The address of the operand in memory, if the instruction has one.
pub(super) fn operand_address(decoded: &Decoded, at: u64) -> Option<OperandAddress> {
    let mut operands = decoded.operands.iter();
    operands.find_map(|operand| parse_operand_address(operand, at)).or_else(|| zeroed_address(decoded))
}

fn parse_operand_address(operand: &Operand, at: u64) -> Option<OperandAddress> {
    let based = |base, displacement| OperandAddress::new(Address::flat(register_or_sp(base), displacement));
    let writeback = |base, distance: i32| register_or_sp(base).map(|base| (base, i64::from(distance)));
    Some(match *operand {
        Operand::RegPreIndex(base, distance, false) => based(base, i64::from(distance)),
        Operand::RegPreIndex(base, distance, true) => {
            OperandAddress { writeback: writeback(base, distance), ..based(base, i64::from(distance)) }
        }
        Operand::RegPostIndex(base, distance) => {
            OperandAddress { writeback: writeback(base, distance), ..based(base, 0) }
        }
        Operand::RegPostIndexReg(base, _) => {
            OperandAddress { clobbered_base: register_or_sp(base), ..based(base, 0) }
        }
        Operand::RegRegOffset(base, index, size, style, amount) => {
            let index = register_or_zero(index);
            let scale = index.map_or(Some(1), |_| scale(style, amount, size));
            OperandAddress::new(Address { index, scale, ..Address::flat(register_or_sp(base), 0) })
        }
        Operand::PCOffset(distance) => {
            OperandAddress::new(Address::flat(None, at.wrapping_add_signed(distance) as i64))
        }
        _ => return None,
    })
}

/// `dc zva` names the register with the address.
fn zeroed_address(decoded: &Decoded) -> Option<OperandAddress> {
    Some(OperandAddress::new(Address::flat(Some(register(decoded, 0)?), 0)))
}
