//! Which unit holds the code at an address.

use crate::dwarf::bytes::units::{Dwarf, UnitSection, header_offset};
use crate::error::Result;
use rustc_hash::FxHashSet;

/// Code ranges of all units, sorted.
#[derive(Clone, Debug, Default)]
pub struct UnitMap {
    /// Begin, end and unit. Ranges of different units do not overlap in a linked file.
    ranges: UnitRanges,
}

type UnitRanges = Vec<(u64, u64, u32)>;

impl UnitMap {
    /// Reads .debug_aranges (DWARF 5 section 6.1.2), and the ranges of units that are not listed there: clang
    /// writes no such section. Fails if .debug_aranges or the root of a unit that is not listed there is broken.
    pub fn new(dwarf: &Dwarf<'_>) -> Result<Self> {
        let (mut ranges, listed) = read_aranges(dwarf)?;
        let missing: Vec<u32> = dwarf.unit_indices().filter(|unit| !listed.contains(unit)).collect();
        let rest = fieldline_parallel::map(&missing, |unit| ranges_of_root(dwarf, *unit));
        let rest = rest.into_iter().collect::<Result<Vec<_>>>()?;
        ranges.extend(rest.into_iter().flatten());
        ranges.retain(|(begin, end, _)| begin < end);
        ranges.sort_unstable();
        Ok(Self { ranges })
    }

    /// The unit whose code covers an address.
    pub fn unit_at(&self, address: u64) -> Option<u32> {
        let last = self.ranges.partition_point(|(begin, ..)| *begin <= address).checked_sub(1)?;
        let (_, end, unit) = self.ranges.get(last)?;
        (address < *end).then_some(*unit)
    }
}

/// Ranges in .debug_aranges, and the units that have an entry there.
fn read_aranges(dwarf: &Dwarf<'_>) -> Result<(UnitRanges, FxHashSet<u32>)> {
    let (mut ranges, mut units) = (Vec::new(), FxHashSet::default());
    let mut headers = dwarf.inner.debug_aranges.headers();
    let error = |error: gimli::Error| dwarf.error(".debug_aranges", 0, &error);
    while let Some(header) = headers.next().map_err(error)? {
        let Some(root) = dwarf.die_at(UnitSection::Info, header.debug_info_offset().0) else { continue };
        units.insert(root.unit);
        let mut entries = header.entries();
        while let Some(entry) = entries.next().map_err(error)? {
            let range = entry.range();
            ranges.push((range.begin, range.end, root.unit));
        }
    }
    Ok((ranges, units))
}

fn ranges_of_root(dwarf: &Dwarf<'_>, unit: u32) -> Result<UnitRanges> {
    let entry = dwarf.entry(unit)?;
    if entry.section != UnitSection::Info {
        return Ok(Vec::new());
    }
    let parsed = dwarf.unit(unit)?;
    let error = |error: gimli::Error| dwarf.error(".debug_info", header_offset(&entry.header), &error);
    let mut cursor = parsed.entries();
    cursor.next_dfs().map_err(error)?;
    let Some(root) = cursor.current() else { return Ok(Vec::new()) };
    let ranges = dwarf.code_ranges(unit, &parsed, root).map_err(error)?;
    Ok(ranges.into_iter().map(|range| (range.start, range.end, unit)).collect())
}
