//! Places, values and operands in words.

use crate::flow::{FactSubject, Value};
use crate::operands::target::Target;
use crate::types::{Place, Ty, TypeSpace};
use fieldline_machinecode::architecture::Architecture;
use fieldline_machinecode::machine::{Address, AddressSegment, Memory};
use std::fmt::Write;

pub(super) fn holds(what: &str, value: &str) -> String {
    format!("{what} = {value}")
}

pub(super) fn place(types: &TypeSpace<'_, '_>, place: Place) -> String {
    match place.offset {
        0 => format!("-> {}", types.spelled(place.ty)),
        offset => format!("-> {} {offset:+}", types.spelled(place.ty)),
    }
}

pub(super) fn subject(architecture: Architecture, subject: FactSubject) -> String {
    match subject {
        FactSubject::Register(register) => architecture.name(register).to_owned(),
        FactSubject::Memory(register, offset) => format!("{offset:#x}({})", architecture.name(register)),
        FactSubject::Frame(offset) => format!("{offset:+}(cfa)"),
    }
}

pub(super) fn value(types: &TypeSpace<'_, '_>, value: Value) -> String {
    match value {
        Value::Word(_) => "unknown".to_owned(),
        Value::Number(number) => format!("{number:#x}"),
        Value::Null => "null, or an error code".to_owned(),
        Value::Stack(offset) => format!("cfa{offset:+}"),
        Value::Frame => "somewhere on the stack".to_owned(),
        Value::PerCpuOffset => "offset of a CPU's data".to_owned(),
        Value::Pointer(pointer) => match pointer.place() {
            Some(at) => place(types, at),
            None => format!("-> somewhere in {}", types.spelled(pointer.ty)),
        },
    }
}

/// An operand as disassemblers write it.
pub(super) fn address(architecture: Architecture, memory: &Memory) -> String {
    match architecture {
        Architecture::X86_64 => at_and_t(&memory.address),
        Architecture::AArch64 => bracketed(&memory.address),
    }
}

/// As Arm's syntax writes it, but for what part of an index counts, and the base's moving on.
fn bracketed(address: &Address) -> String {
    let name = |register| Architecture::AArch64.name(register);
    let Some(base) = address.base else {
        return format!("{:#x}", address.displacement);
    };
    let behind = match (address.index, address.displacement) {
        (Some(index), _) if address.scale == 0 => format!(", part of {}", name(index)),
        (Some(index), _) if address.scale == 1 => format!(", {}", name(index)),
        (Some(index), _) => format!(", {}, lsl #{}", name(index), address.scale.trailing_zeros()),
        (None, 0) => String::new(),
        (None, displacement) if displacement < 0 => format!(", #-{:#x}", displacement.unsigned_abs()),
        (None, displacement) => format!(", #{displacement:#x}"),
    };
    format!("[{}{behind}]", name(base))
}

/// As AT&T syntax writes it.
fn at_and_t(address: &Address) -> String {
    let name = |register| Architecture::X86_64.name(register);
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
        Some(index) => format!("({base},%{},{})", name(index), address.scale),
        None if !base.is_empty() => format!("({base})"),
        None => String::new(),
    };
    text + &inner
}

pub(super) fn target(types: &TypeSpace<'_, '_>, target: Target<Ty>) -> String {
    match target {
        Target::Place { ty, offset } => format!("{} +{offset}", types.spelled(ty)),
        Target::Within { ty } => format!("unknown_offset in {}", types.spelled(ty)),
        Target::Element { ty, offset, stride, .. } => {
            format!("unknown_index in {} +{offset} + i*{stride}", types.spelled(ty))
        }
        Target::Unknown(reason) => reason.word().to_owned(),
    }
}
