//! Where code is, and where a variable is while the program is at some instruction.

use crate::dwarf::bytes::sections::R;
use crate::dwarf::bytes::units::{Dwarf, UnitSection};
use crate::dwarf::bytes::values::Die;
use gimli::{AttributeValue as Value, Expression, Operation, Unit};
use std::ops::Range;

/// Where a variable is, or what its value is (DWARF 5 section 2.6). Registers have DWARF numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the words of each variant say what its fields are")]
pub enum VariableLocation {
    /// Its value is a register's plus a constant (DW_OP_regN; DW_OP_bregN c, DW_OP_stack_value).
    Value { register: u16, offset: i64 },
    /// It lies in memory at a register's value plus a constant (DW_OP_bregN c).
    Memory { register: u16, offset: i64 },
    /// It lies in memory at a distance from the canonical frame address (DWARF 5 section 6.4).
    Frame { offset: i64 },
    /// Its value is an address in the frame.
    FrameValue,
    /// It lies in memory at a fixed address, as linked.
    Static { address: u64 },
    /// Its value is a constant.
    Constant,
}

/// A location and the instructions at which it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocationRange {
    /// First instruction address.
    pub begin: u64,
    /// First address behind.
    pub end: u64,
    /// The location.
    pub location: VariableLocation,
}

/// The base that DW_OP_fbreg counts from (DW_AT_frame_base).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameBase {
    /// DW_OP_call_frame_cfa, as gcc has it.
    Cfa,
    /// A register, as clang has it.
    Register(u16),
    Unknown,
}

impl FrameBase {
    pub(crate) fn from_attr(value: Option<Value<R<'_>>>, unit: &Unit<R<'_>>) -> Self {
        let Some(Value::Exprloc(expression)) = value else { return Self::Unknown };
        let mut operations = expression.operations(unit.encoding());
        match operations.next() {
            Ok(Some(Operation::CallFrameCFA)) => Self::Cfa,
            Ok(Some(Operation::Register { register })) => Self::Register(register.0),
            _ => Self::Unknown,
        }
    }
}

/// Longest chain of operations that is followed; compilers write at most four for the locations that are read here.
const MAX_OPERATIONS: usize = 8;

/// The base of the sum that an expression computes.
#[derive(Clone, Copy)]
enum LocationBase {
    Register(u16),
    Cfa,
    Address,
}

/// Reads an expression that is a sum of one base and constants; `None` for any other, so also for a variable in
/// pieces (DW_OP_piece) and one that is worth more than a lookup (DW_OP_deref, DW_OP_entry_value).
pub(crate) fn parse_location(
    expression: Expression<R<'_>>,
    unit: &Unit<R<'_>>,
    frame: FrameBase,
) -> Option<VariableLocation> {
    let mut operations = expression.operations(unit.encoding());
    let (mut sum, mut offset): (Option<LocationBase>, i64) = (None, 0);
    let mut pending: Option<i64> = None;
    for _ in 0..MAX_OPERATIONS {
        let Some(operation) = operations.next().ok()? else {
            return sum.filter(|_| pending.is_none()).map(|base| memory_location(base, offset));
        };
        match operation {
            Operation::Register { register } if sum.is_none() => {
                let whole = operations.next().ok()?.is_none();
                return whole.then_some(VariableLocation::Value { register: register.0, offset: 0 });
            }
            Operation::RegisterOffset { register, offset: distance, .. } if sum.is_none() => {
                (sum, offset) = (Some(LocationBase::Register(register.0)), distance);
            }
            Operation::FrameOffset { offset: distance } if sum.is_none() => {
                let base = match frame {
                    FrameBase::Cfa => LocationBase::Cfa,
                    FrameBase::Register(register) => LocationBase::Register(register),
                    FrameBase::Unknown => return None,
                };
                (sum, offset) = (Some(base), distance);
            }
            Operation::CallFrameCFA if sum.is_none() => sum = Some(LocationBase::Cfa),
            Operation::Address { address } if sum.is_none() => {
                (sum, offset) = (Some(LocationBase::Address), address as i64);
            }
            Operation::PlusConstant { value } => offset = offset.wrapping_add(value as i64),
            Operation::UnsignedConstant { value } if sum.is_some() => pending = Some(value as i64),
            Operation::SignedConstant { value } if sum.is_some() => pending = Some(value),
            Operation::Plus => offset = offset.wrapping_add(pending.take()?),
            Operation::Minus => offset = offset.wrapping_sub(pending.take()?),
            Operation::Nop => {}
            Operation::StackValue if pending.is_none() => {
                let whole = operations.next().ok()?.is_none();
                return sum.filter(|_| whole).map(|base| value_location(base, offset));
            }
            _ => return None,
        }
    }
    None
}

fn memory_location(base: LocationBase, offset: i64) -> VariableLocation {
    match base {
        LocationBase::Register(register) => VariableLocation::Memory { register, offset },
        LocationBase::Cfa => VariableLocation::Frame { offset },
        LocationBase::Address => VariableLocation::Static { address: offset as u64 },
    }
}

fn value_location(base: LocationBase, offset: i64) -> VariableLocation {
    match base {
        LocationBase::Register(register) => VariableLocation::Value { register, offset },
        LocationBase::Cfa => VariableLocation::FrameValue,
        LocationBase::Address => VariableLocation::Constant,
    }
}

impl<'s> Dwarf<'s> {
    /// The ranges of code of a DIE (DWARF 5 section 2.17) that aren't empty. Fails if they can't be read.
    pub(super) fn code_ranges(
        &self,
        unit: u32,
        parsed: &Unit<R<'s>>,
        entry: &Die<'s>,
    ) -> gimli::Result<Vec<Range<u64>>> {
        let dwarf = self.dwarf_of(self.entry(unit).map_or(UnitSection::Info, |entry| entry.section));
        let mut ranges = Vec::new();
        // Begin and size together may lie beyond all addresses, and gimli adds them up unchecked.
        if let Some(Value::Udata(size)) = entry.attr_value(gimli::DW_AT_high_pc)
            && let Some(begin) = entry.attr_value(gimli::DW_AT_low_pc)
            && dwarf.attr_address(parsed, begin)?.is_some_and(|begin| begin.checked_add(size).is_none())
        {
            return Ok(ranges);
        }
        let mut list = dwarf.die_ranges(parsed, entry)?;
        while let Some(range) = list.next()? {
            ranges.extend((range.begin < range.end).then_some(range.begin..range.end));
        }
        Ok(ranges)
    }

    /// The locations of a DW_AT_location. An expression holds everywhere its variable is in scope. A list that is
    /// broken ends where it breaks: a location more or less changes how much is known, not whether it is true.
    pub(crate) fn read_locations(
        &self,
        unit: u32,
        parsed: &Unit<R<'s>>,
        location: Value<R<'s>>,
        frame: FrameBase,
    ) -> Vec<LocationRange> {
        if let Value::Exprloc(expression) = location {
            let everywhere = |location| LocationRange { begin: 0, end: u64::MAX, location };
            return parse_location(expression, parsed, frame).map(everywhere).into_iter().collect();
        }
        let mut found = Vec::new();
        let section = self.entry(unit).map_or(UnitSection::Info, |entry| entry.section);
        let Ok(Some(mut list)) = self.dwarf_of(section).attr_locations(parsed, location) else {
            return found;
        };
        while let Ok(Some(entry)) = list.next() {
            let (begin, end) = (entry.range.begin, entry.range.end);
            if let Some(location) = parse_location(entry.data, parsed, frame).filter(|_| begin < end) {
                found.push(LocationRange { begin, end, location });
            }
        }
        found
    }
}
