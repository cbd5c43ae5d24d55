//! Where the code of a DIE is.

use crate::dwarf::bytes::sections::R;
use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Unit};
use std::ops::Range;

/// The ranges of code of a DIE (DWARF 5 section 2.17): those that aren't empty.
///
/// # Errors
/// If its addresses or its list of ranges can't be read.
pub(super) fn code_ranges<'d>(
    dwarf: &Dwarf<R<'d>>,
    unit: &Unit<R<'d>>,
    entry: &DebuggingInformationEntry<R<'d>>,
) -> gimli::Result<Vec<Range<u64>>> {
    let mut ranges = Vec::new();
    if is_past_the_end(dwarf, unit, entry)? {
        return Ok(ranges);
    }
    let mut list = dwarf.die_ranges(unit, entry)?;
    while let Some(range) = list.next()? {
        if range.begin < range.end {
            ranges.push(range.begin..range.end);
        }
    }
    Ok(ranges)
}

/// Whether begin and size together lie beyond all addresses, which gimli adds up unchecked.
fn is_past_the_end<'d>(
    dwarf: &Dwarf<R<'d>>,
    unit: &Unit<R<'d>>,
    entry: &DebuggingInformationEntry<R<'d>>,
) -> gimli::Result<bool> {
    let Some(AttributeValue::Udata(size)) = entry.attr_value(gimli::DW_AT_high_pc) else { return Ok(false) };
    let Some(begin) = entry.attr_value(gimli::DW_AT_low_pc) else { return Ok(false) };
    let begin = dwarf.attr_address(unit, begin)?;
    Ok(begin.is_some_and(|begin| begin.checked_add(size).is_none()))
}
