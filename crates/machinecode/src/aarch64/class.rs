//! Classes of instructions, and the bytes they move between registers and memory.
//!
//! Sizes as in the Arm Architecture Reference Manual, C4.1 "A64 instruction set encoding", loads and stores.

use crate::machine::AccessKind;
use yaxpeax_arm::armv8::a64::{Instruction as Decoded, Opcode, Operand, SIMDSizeCode, SizeCode};

/// The class of an instruction: the operands it reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Write no register and touch no memory.
    Nothing,
    /// Compute the first operand.
    Compute,
    /// Load the first operand.
    Load,
    /// Load the first two operands.
    LoadPair,
    /// Store the first operand.
    Store,
    /// Store the first two operands.
    StorePair,
    /// Store the second operand; the first gets whether they did.
    StoreExclusive,
    /// The same with the second and the third.
    StoreExclusivePair,
    /// Store vectors, or tags with zeroed memory.
    StoreVector,
    /// Zero a block of memory.
    Zero,
    /// Change memory by the first operand, and load what was there into the second (LSE).
    Update,
    /// Compare memory with the first operand, which gets what was there, and exchange it (LSE).
    Compare,
    /// Call the firmware.
    Firmware,
    /// Call the system.
    System,
}

/// The class of an instruction.
pub(super) fn classify(decoded: &Decoded) -> Class {
    use Opcode as O;
    match decoded.opcode {
        O::LDP | O::LDNP | O::LDPSW | O::LDXP | O::LDAXP => Class::LoadPair,
        O::STP | O::STNP => Class::StorePair,
        O::STXR | O::STXRB | O::STXRH | O::STLXR | O::STLXRB | O::STLXRH => Class::StoreExclusive,
        O::STXP | O::STLXP => Class::StoreExclusivePair,
        O::ST1 | O::ST2 | O::ST3 | O::ST4 | O::STZG | O::STZ2G => Class::StoreVector,
        O::CAS(_) | O::CASB(_) | O::CASH(_) | O::CASP(_) => Class::Compare,
        O::HVC | O::SMC => Class::Firmware,
        O::SVC => Class::System,
        O::SYS(_) if is_zeroing(decoded) => Class::Zero,
        opcode if is_load(opcode) => Class::Load,
        opcode if store_width(opcode).is_some() => Class::Store,
        opcode if update_width(opcode).is_some() => Class::Update,
        opcode if writes_nothing(opcode) => Class::Nothing,
        _ => Class::Compute,
    }
}

/// `dc zva` and `dc gzva` (Arm ARM, C5.3): system operations 3, c7, c4, 1 and 4.
fn is_zeroing(decoded: &Decoded) -> bool {
    let Opcode::SYS(operation) = decoded.opcode else { return false };
    let [_, first, second, _] = &decoded.operands;
    let is_cache = (first, second) == (&Operand::ControlReg(7), &Operand::ControlReg(4));
    is_cache && operation.op1() == 3 && matches!(operation.op2(), 1 | 4)
}

fn is_load(opcode: Opcode) -> bool {
    use Opcode as O;
    load_width(opcode).is_some()
        || matches!(opcode, O::LD1 | O::LD2 | O::LD3 | O::LD4 | O::LD1R | O::LD2R | O::LD3R | O::LD4R)
}

/// Bytes that a load of one register reads; `Some(None)`: as many as the register has.
fn load_width(opcode: Opcode) -> Option<Option<u16>> {
    use Opcode as O;
    Some(match opcode {
        O::LDR | O::LDUR | O::LDTR | O::LDAR | O::LDLAR | O::LDXR | O::LDAXR | O::LDAPR | O::LDAPUR => None,
        O::LDRAA | O::LDRAB => Some(8),
        O::LDRSW | O::LDURSW | O::LDTRSW | O::LDAPURSW => Some(4),
        O::LDRH | O::LDURH | O::LDTRH | O::LDRSH | O::LDURSH | O::LDTRSH => Some(2),
        O::LDARH | O::LDLARH | O::LDAXRH | O::LDXRH | O::LDAPRH | O::LDAPURH | O::LDAPURSH => Some(2),
        O::LDRB | O::LDURB | O::LDTRB | O::LDRSB | O::LDURSB | O::LDTRSB => Some(1),
        O::LDARB | O::LDLARB | O::LDAXRB | O::LDXRB | O::LDAPRB | O::LDAPURB | O::LDAPURSB => Some(1),
        _ => return None,
    })
}

/// Bytes that a store of one register writes, as above.
fn store_width(opcode: Opcode) -> Option<Option<u16>> {
    use Opcode as O;
    Some(match opcode {
        O::STR | O::STUR | O::STTR | O::STLR | O::STLLR | O::STLUR => None,
        O::STRW => Some(4),
        O::STRH | O::STURH | O::STTRH | O::STLRH | O::STLLRH | O::STLURH => Some(2),
        O::STRB | O::STURB | O::STTRB | O::STLRB | O::STLLRB | O::STLURB => Some(1),
        _ => return None,
    })
}

/// Bytes that an atomic operation (FEAT_LSE) changes, as above.
fn update_width(opcode: Opcode) -> Option<Option<u16>> {
    use Opcode as O;
    Some(match opcode {
        O::SWP(_) | O::LDADD(_) | O::LDCLR(_) | O::LDEOR(_) | O::LDSET(_) => None,
        O::LDSMAX(_) | O::LDSMIN(_) | O::LDUMAX(_) | O::LDUMIN(_) => None,
        O::SWPH(_) | O::LDADDH(_) | O::LDCLRH(_) | O::LDEORH(_) | O::LDSETH(_) => Some(2),
        O::LDSMAXH(_) | O::LDSMINH(_) | O::LDUMAXH(_) | O::LDUMINH(_) => Some(2),
        O::SWPB(_) | O::LDADDB(_) | O::LDCLRB(_) | O::LDEORB(_) | O::LDSETB(_) => Some(1),
        O::LDSMAXB(_) | O::LDSMINB(_) | O::LDUMAXB(_) | O::LDUMINB(_) => Some(1),
        _ => return None,
    })
}

/// Whether an instruction writes no register and touches no memory. Tags of memory (FEAT_MTE) and prefetches don't
/// count.
fn writes_nothing(opcode: Opcode) -> bool {
    use Opcode as O;
    matches!(opcode, O::B | O::Bcc(_) | O::CBZ | O::CBNZ | O::TBZ | O::TBNZ | O::BR | O::BLR | O::RET)
        || matches!(opcode, O::BRAA | O::BRAB | O::BRAAZ | O::BRABZ | O::BLRAA | O::BLRAB | O::BLRAAZ)
        || matches!(opcode, O::BLRABZ | O::ERET | O::CCMP | O::CCMN | O::MSR | O::SYS(_) | O::HINT | O::ISB)
        || matches!(opcode, O::DSB(_) | O::DMB(_) | O::BRK | O::HLT | O::UDF | O::PRFM | O::PRFUM)
        || matches!(opcode, O::STG | O::ST2G | O::STGM | O::STZGM)
}

/// The access of an instruction to memory, and its bytes; `None` of these if they depend on the processor.
pub(super) fn memory_access(decoded: &Decoded, class: Class) -> Option<(AccessKind, Option<u16>)> {
    let opcode = decoded.opcode;
    let twice = |operand| Some(2 * operand_width(decoded, operand)?);
    // The mnemonic names the bytes, or the operand has as many.
    let named_or_operand = |named: Option<u16>| named.or_else(|| operand_width(decoded, 0));
    let (access, size) = match class {
        Class::Nothing | Class::Compute | Class::Firmware | Class::System => return None,
        Class::Load => match load_width(opcode) {
            Some(named) => (AccessKind::Read, named_or_operand(named)),
            None => (AccessKind::Read, vector_list_width(decoded)),
        },
        Class::LoadPair if opcode == Opcode::LDPSW => (AccessKind::Read, Some(8)),
        Class::LoadPair => (AccessKind::Read, twice(0)),
        Class::Store => (AccessKind::Write, named_or_operand(store_width(opcode)?)),
        Class::StorePair => (AccessKind::Write, twice(0)),
        Class::StoreExclusive => (AccessKind::Write, mnemonic_or_operand_width(decoded, 1)),
        Class::StoreExclusivePair => (AccessKind::Write, twice(1)),
        Class::StoreVector => (AccessKind::Write, vector_list_width(decoded)),
        Class::Zero => (AccessKind::Write, None),
        Class::Update => (AccessKind::ReadWrite, named_or_operand(update_width(opcode)?)),
        Class::Compare => (AccessKind::ReadWrite, mnemonic_or_operand_width(decoded, 0)),
    };
    Some((access, size))
}

/// Bytes stored exclusively or compared: as many as the mnemonic names, or as an operand has.
fn mnemonic_or_operand_width(decoded: &Decoded, operand: usize) -> Option<u16> {
    match decoded.opcode {
        Opcode::STXRB | Opcode::STLXRB | Opcode::CASB(_) => Some(1),
        Opcode::STXRH | Opcode::STLXRH | Opcode::CASH(_) => Some(2),
        _ => operand_width(decoded, operand),
    }
}

/// Bytes of an operand, both registers of a pair.
fn operand_width(decoded: &Decoded, operand: usize) -> Option<u16> {
    let register_width = |size: SizeCode| if size == SizeCode::X { 8 } else { 4 };
    Some(match decoded.operands.get(operand)? {
        Operand::Register(size, _) | Operand::RegisterOrSP(size, _) => register_width(*size),
        Operand::RegisterPair(size, _) => 2 * register_width(*size),
        Operand::SIMDRegister(size, _) => vector_width(*size),
        _ => return None,
    })
}

fn vector_width(size: SIMDSizeCode) -> u16 {
    match size {
        SIMDSizeCode::B => 1,
        SIMDSizeCode::H => 2,
        SIMDSizeCode::S => 4,
        SIMDSizeCode::D => 8,
        SIMDSizeCode::Q => 16,
    }
}

/// Bytes a load or store of several vectors moves, or one that zeroes memory with its tags (16 bytes each).
fn vector_list_width(decoded: &Decoded) -> Option<u16> {
    use Opcode as O;
    let is_replicated = matches!(decoded.opcode, O::LD1R | O::LD2R | O::LD3R | O::LD4R);
    Some(match (decoded.opcode, decoded.operands.first()?) {
        (O::STZG, _) => 16,
        (O::STZ2G, _) => 32,
        (_, Operand::SIMDRegisterGroup(size, _, element, count)) => {
            vector_width(if is_replicated { *element } else { *size }) * u16::from(*count)
        }
        (_, Operand::SIMDRegisterGroupLane(_, element, count, _)) => {
            vector_width(*element) * u16::from(*count)
        }
        _ => return None,
    })
}
