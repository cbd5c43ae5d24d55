//! How a compiler places the units of a struct.

use crate::visits::{TouchedRange, TouchedRanges};
use fieldline_layout::Layout;
use fieldline_layout::abi::{self, AbiMember, AbiStruct};
use fieldline_layout::constraint::{Constraints, Unit};

/// The placement rules of all units in one build.
#[derive(Clone, Debug)]
pub struct BuildPlacement {
    /// Line size alignments follow, in bytes.
    pub line: u64,
    /// Size in bytes no order may exceed.
    pub size_limit: u64,
    slots: Vec<Vec<AbiMember>>,
    single_slot_units: Vec<Option<SingleSlotUnit>>,
    pub(crate) align: u64,
    /// Bits behind the last member that no rule explains.
    pub(crate) tail: u64,
    /// Whether only its size is judged, and only against the limit: nothing else is known of it.
    pub(crate) is_limit_only: bool,
    /// Bits of the touched ranges, if not those of the recorded build.
    ranges: Option<RangeLocations>,
}

/// By touched range, its first bit from the start of its unit and the bit behind it; `None` for one that
/// isn't there.
pub(crate) type RangeLocations = Vec<Option<(u64, u64)>>;

/// A unit of one member of whole bytes: one rounding places it.
#[derive(Clone, Copy, Debug)]
struct SingleSlotUnit {
    /// Bits of an offset that must be 0.
    mask: u64,
    bit_size: u64,
}

impl SingleSlotUnit {
    fn new(slots: &[AbiMember]) -> Option<Self> {
        let [slot] = slots else { return None };
        let align = slot.align.max(1);
        let is_plain = slot.bit_field_storage.is_none() && slot.skip == 0 && align.is_power_of_two();
        let fits = align < 1 << 32 && slot.bit_size < 1 << 48;
        (is_plain && fits).then_some(Self { mask: align * 8 - 1, bit_size: slot.bit_size })
    }
}

impl BuildPlacement {
    /// The build for a line size. The declared size is the limit.
    pub fn new(layout: &Layout, constraints: &Constraints, build_line: u64, line: u64) -> Self {
        let (slots, _) = abi::adapt_to_line(layout, build_line, line);
        let units = constraints.units.iter();
        let by_unit = units.map(|unit| unit.members.iter().map(|member| slots.members[*member]).collect());
        Self::from_slots(&slots, by_unit.collect(), line, None)
    }

    /// The recorded machine's build first, then those of other line sizes.
    pub(crate) fn for_lines(
        layout: &Layout,
        constraints: &Constraints,
        build_line: u64,
        lines: &[u64],
    ) -> Vec<Self> {
        let mut builds = vec![Self::new(layout, constraints, build_line, build_line)];
        for line in lines {
            if builds.iter().all(|build| build.line != *line) {
                builds.push(Self::new(layout, constraints, build_line, *line));
            }
        }
        builds
    }

    /// The recorded build without some members. No visit touches anything in it: only its size is of interest.
    pub(crate) fn without(layout: &Layout, constraints: &Constraints, absent: &[usize], line: u64) -> Self {
        let mut slots = abi::infer_abi(layout);
        let is_there = |index: &&usize| !absent.contains(index);
        let members =
            |unit: &Unit| unit.members.iter().filter(is_there).map(|index| slots.members[*index]).collect();
        let by_unit: Vec<Vec<AbiMember>> = constraints.units.iter().map(members).collect();
        slots.members = by_unit.concat();
        Self { is_limit_only: true, ..Self::from_slots(&slots, by_unit, line, Some(RangeLocations::new())) }
    }

    /// A build from its slots by unit; `ranges` if it is of another machine or configuration.
    pub(crate) fn from_slots(
        slots: &AbiStruct,
        by_unit: Vec<Vec<AbiMember>>,
        line: u64,
        ranges: Option<RangeLocations>,
    ) -> Self {
        Self {
            line,
            size_limit: slots.place().size,
            align: slots.align(),
            tail: slots.tail_bits,
            single_slot_units: by_unit.iter().map(|slots| SingleSlotUnit::new(slots)).collect(),
            slots: by_unit,
            is_limit_only: false,
            ranges,
        }
    }

    pub(crate) fn unit_align(&self, unit: usize) -> u64 {
        self.slots[unit].iter().map(|slot| slot.align).max().unwrap_or(1)
    }

    /// Bits a unit takes at any offset.
    pub(crate) fn least_bits(&self, unit: usize) -> u64 {
        let bits = self.slots[unit].iter().map(|slot| slot.bit_size.saturating_add(slot.skip));
        bits.fold(0, u64::saturating_add)
    }

    /// The bits of a touched range: its first bit from the start of its unit and the bit behind it. `None` if
    /// it isn't there.
    pub(crate) fn range_bits(&self, number: usize, range: &TouchedRange) -> Option<(u64, u64)> {
        match &self.ranges {
            Some(ranges) => ranges.get(number).copied().flatten().filter(|bits| bits.0 < bits.1),
            None => Some((range.start * 8, (range.start + range.size) * 8)),
        }
    }

    /// Whether it is the recorded one, for whatever line size, so that units are inside as declared.
    pub(crate) fn is_recorded(&self) -> bool {
        self.ranges.is_none()
    }

    /// Whether two builds have the same line size and place every order and touched range equally.
    pub(crate) fn is_equivalent(&self, other: &Self, ranges: &TouchedRanges) -> bool {
        let mut numbered = ranges.iter().enumerate();
        let bits = |build: &Self, number, range| build.range_bits(number, range);
        let is_same = |(number, range)| bits(self, number, range) == bits(other, number, range);
        (self.line, self.align, self.tail) == (other.line, other.align, other.tail)
            && self.slots == other.slots
            && numbered.all(is_same)
    }

    /// First bit of each unit in an order, and the bit behind it.
    pub(crate) fn spans(&self, order: &[usize]) -> Vec<(u64, u64)> {
        let spans = order.iter().scan(0, |end, unit| {
            let span = self.place(*unit, *end);
            *end = span.1;
            Some(span)
        });
        spans.collect()
    }

    pub(crate) fn unit_slots(&self, unit: usize) -> &[AbiMember] {
        self.slots.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Places a unit behind bit `end`: its first bit and the bit behind it.
    #[inline]
    pub(crate) fn place(&self, unit: usize, end: u64) -> (u64, u64) {
        match self.single_slot_units[unit] {
            Some(single) if end < 1 << 60 => {
                let start = (end + single.mask) & !single.mask;
                (start, start + single.bit_size)
            }
            _ => self.place_slots(unit, end),
        }
    }

    fn place_slots(&self, unit: usize, end: u64) -> (u64, u64) {
        let slots = &self.slots[unit];
        let start = slots.first().map_or(end, |slot| abi::next_offset(slot, end));
        (start, slots.iter().fold(end, |end, slot| abi::next_offset(slot, end) + slot.bit_size))
    }

    pub(crate) fn unit_bits(&self, unit: usize) -> u64 {
        self.slots[unit].iter().map(|slot| slot.bit_size).sum()
    }

    /// Bits of all units.
    pub(crate) fn all_bits(&self) -> u64 {
        (0..self.slots.len()).map(|unit| self.unit_bits(unit)).sum()
    }

    /// Bits of which a unit of one member begins at a multiple.
    pub(crate) fn granule(&self, unit: usize) -> Option<u64> {
        self.single_slot_units[unit].map(|single| single.mask + 1)
    }

    /// Size in bytes of a struct whose last bit lies before `end`.
    pub(crate) fn size(&self, end: u64) -> u64 {
        abi::round_size(end + self.tail, self.align)
    }
}
