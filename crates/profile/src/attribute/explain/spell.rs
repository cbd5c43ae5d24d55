//! Places, values and operands in words.

use crate::attribute::target::Target;
use crate::code::machine::{Address, Segment};
use crate::flow::facts::Subject;
use crate::flow::value::Value;
use crate::types::{Place, Ty, TypeSpace};
use std::fmt::Write;

/// What something holds.
pub(super) fn holds(what: &str, value: &str) -> String {
    format!("{what} = {value}")
}

/// A pointer's target.
pub(super) fn place(types: &TypeSpace<'_, '_>, place: Place) -> String {
    match place.offset {
        0 => format!("-> {}", types.spelled(place.ty)),
        offset => format!("-> {} {offset:+}", types.spelled(place.ty)),
    }
}

/// What a variable's place is.
pub(super) fn subject(subject: Subject) -> String {
    match subject {
        Subject::Register(register) => register.name().to_owned(),
        Subject::Memory(register, offset) => format!("{offset:#x}({})", register.name()),
        Subject::Frame(offset) => format!("{offset:+}(cfa)"),
    }
}

/// A register's value.
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

/// An operand as AT&T syntax writes it.
pub(super) fn address(address: &Address) -> String {
    let mut text = match address.segment {
        Segment::Flat => String::new(),
        Segment::Fs => "%fs:".to_owned(),
        Segment::Gs => "%gs:".to_owned(),
    };
    if address.displacement != 0 || (address.base.is_none() && address.index.is_none()) {
        let sign = if address.displacement < 0 { "-" } else { "" };
        let _ = write!(text, "{sign}{:#x}", address.displacement.unsigned_abs());
    }
    let base = address.base.map(|base| format!("%{}", base.name())).unwrap_or_default();
    match address.index {
        Some(index) => {
            let _ = write!(text, "({base},%{},{})", index.name(), address.scale);
        }
        None if !base.is_empty() => {
            let _ = write!(text, "({base})");
        }
        None => {}
    }
    text
}

/// What an operand is.
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
