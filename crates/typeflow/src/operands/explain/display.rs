//! Text of offsets, values and operands.

use crate::flow::{FactSubject, Value};
use crate::operands::target::Target;
use crate::types::{Ty, TypeOffset, TypeSpace};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::machine::{Address, AddressSegment, MemoryOperand};
use std::fmt::Write;

pub(super) fn assignment(what: &str, value: &str) -> String {
    format!("{what} = {value}")
}

pub(super) fn type_offset(types: &TypeSpace<'_, '_>, place: TypeOffset) -> String {
    match place.offset {
        0 => format!("-> {}", types.format_type(place.ty)),
        offset => format!("-> {} {offset:+}", types.format_type(place.ty)),
    }
}

pub(super) fn fact_subject(architecture: Architecture, subject: FactSubject) -> String {
    match subject {
        FactSubject::Register(register) => architecture.register_name(register).to_owned(),
        FactSubject::Memory(register, offset) => {
            format!("{offset:#x}({})", architecture.register_name(register))
        }
        FactSubject::Frame(offset) => format!("{offset:+}(cfa)"),
    }
}

pub(super) fn abstract_value(types: &TypeSpace<'_, '_>, value: Value) -> String {
    match value {
        Value::Word(_) => "unknown".to_owned(),
        Value::Number(number) => format!("{number:#x}"),
        Value::Multiple(factor) => format!("a multiple of {factor}"),
        Value::Null => "null, or an error code".to_owned(),
        Value::Stack(offset) => format!("cfa{offset:+}"),
        Value::Frame => "somewhere on the stack".to_owned(),
        Value::PerCpuOffset => "offset of a CPU's data".to_owned(),
        Value::Pointer(pointer) => match pointer.location() {
            Some(location) => type_offset(types, location),
            None => format!("-> somewhere in {}", types.format_type(pointer.ty)),
        },
    }
}

/// An operand as disassemblers write it.
pub(super) fn memory_operand(architecture: Architecture, memory: &MemoryOperand) -> String {
    match architecture {
        Architecture::X86_64 => att_syntax(&memory.address),
        Architecture::AArch64 => arm_syntax(&memory.address),
    }
}

/// In Arm's syntax, without index extension and base update.
fn arm_syntax(address: &Address) -> String {
    let name = |register| Architecture::AArch64.register_name(register);
    let Some(base) = address.base else {
        return format!("{:#x}", address.displacement);
    };
    let behind = match (address.index.map(name), address.scale, address.displacement) {
        (Some(index), None, _) => format!(", part of {index}"),
        (Some(index), Some(1), _) => format!(", {index}"),
        (Some(index), Some(scale), _) => format!(", {index}, lsl #{}", scale.trailing_zeros()),
        (None, _, 0) => String::new(),
        (None, _, displacement) if displacement < 0 => format!(", #-{:#x}", displacement.unsigned_abs()),
        (None, _, displacement) => format!(", #{displacement:#x}"),
    };
    format!("[{}{behind}]", name(base))
}

/// As AT&T syntax writes it.
fn att_syntax(address: &Address) -> String {
    let name = |register| Architecture::X86_64.register_name(register);
    let mut text = match address.segment {
        AddressSegment::Flat => String::new(),
        AddressSegment::Fs => "%fs:".to_owned(),
        AddressSegment::Gs => "%gs:".to_owned(),
    };
    if address.displacement != 0 || (address.base.is_none() && address.index.is_none()) {
        let sign = if address.displacement < 0 { "-" } else { "" };
        let _ = write!(text, "{sign}{:#x}", address.displacement.unsigned_abs());
    }
    let base = address.base.map(|base| format!("%{}", name(base))).unwrap_or_default();
    let inner = match address.index {
        Some(index) => format!("({base},%{},{})", name(index), address.scale.unwrap_or(0)),
        None if !base.is_empty() => format!("({base})"),
        None => String::new(),
    };
    text + &inner
}

pub(super) fn operand_target(types: &TypeSpace<'_, '_>, target: Target<Ty>) -> String {
    match target {
        Target::Exact { ty, offset } => format!("{} +{offset}", types.format_type(ty)),
        Target::Within { ty } => format!("unknown_offset in {}", types.format_type(ty)),
        Target::Element { ty, offset, stride, .. } => {
            format!("unknown_index in {} +{offset} + i*{stride}", types.format_type(ty))
        }
        Target::Unknown(reason) => reason.id().to_owned(),
    }
}
