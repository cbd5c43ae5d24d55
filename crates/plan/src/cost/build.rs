//! How a compiler places the units of a struct.

use crate::visits::{Cell, Cells};
use fieldline_layout::Layout;
use fieldline_layout::abi::{self, Slot, Slots};
use fieldline_layout::constraint::Constraints;

/// The slots of all units as one compiler sees them.
#[derive(Clone, Debug)]
pub struct BuildSlots {
    /// Line size alignments follow, in bytes.
    pub line: u64,
    /// Size in bytes no order may exceed.
    pub size_limit: u64,
    slots: Vec<Vec<Slot>>,
    quick: Vec<Option<Quick>>,
    pub(crate) align: u64,
    /// Bits behind the last member that no rule explains.
    pub(crate) tail: u64,
    /// Where cells lie, if not where they lie in the recorded build.
    cells: Option<CellBits>,
}

/// By cell, its first bit from the start of its unit and the bit behind it; `None` for a cell that isn't there.
pub(crate) type CellBits = Vec<Option<(u64, u64)>>;

/// A unit of one member of whole bytes: one rounding places it.
#[derive(Clone, Copy, Debug)]
struct Quick {
    /// Bits of an offset that must be 0.
    mask: u64,
    bit_size: u64,
}

impl Quick {
    fn new(slots: &[Slot]) -> Option<Self> {
        let [slot] = slots else { return None };
        let align = slot.align.max(1);
        let is_plain = slot.bit_field_storage.is_none() && slot.skip == 0 && align.is_power_of_two();
        let fits = align < 1 << 32 && slot.bit_size < 1 << 48;
        (is_plain && fits).then_some(Self { mask: align * 8 - 1, bit_size: slot.bit_size })
    }
}

impl BuildSlots {
    /// The build for a line size. The declared size is the limit.
    pub fn new(layout: &Layout, constraints: &Constraints, build_line: u64, line: u64) -> Self {
        let (slots, _) = abi::line_slots(layout, build_line, line);
        let units = constraints.units.iter();
        let of_units: Vec<Vec<Slot>> =
            units.map(|unit| unit.members.iter().map(|member| slots.slots[*member]).collect()).collect();
        Self::of(&slots, of_units, line, None)
    }

    /// The recorded machine's build first, then those of other line sizes.
    pub(crate) fn of_lines(
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

    /// A build whose slots are told apart by unit; `cells` if it is of another machine or configuration.
    pub(crate) fn of(slots: &Slots, of_units: Vec<Vec<Slot>>, line: u64, cells: Option<CellBits>) -> Self {
        Self {
            line,
            size_limit: slots.place().size,
            align: slots.align(),
            tail: slots.tail,
            quick: of_units.iter().map(|slots| Quick::new(slots)).collect(),
            slots: of_units,
            cells,
        }
    }

    pub(crate) fn align_of(&self, unit: usize) -> u64 {
        self.slots[unit].iter().map(|slot| slot.align).max().unwrap_or(1)
    }

    /// Bits a unit takes wherever it stands.
    pub(crate) fn least_bits(&self, unit: usize) -> u64 {
        let bits = self.slots[unit].iter().map(|slot| slot.bit_size.saturating_add(slot.skip));
        bits.fold(0, u64::saturating_add)
    }

    /// Where a cell lies: its first bit from the start of its unit and the bit behind it. `None` if it isn't there.
    pub(crate) fn cell_bits(&self, number: usize, cell: &Cell) -> Option<(u64, u64)> {
        match &self.cells {
            Some(cells) => cells.get(number).copied().flatten().filter(|bits| bits.0 < bits.1),
            None => Some((cell.start * 8, (cell.start + cell.size) * 8)),
        }
    }

    /// Whether it is the recorded one, for whatever line size, so that units are inside as declared.
    pub(crate) fn is_recorded(&self) -> bool {
        self.cells.is_none()
    }

    /// Whether two builds have lines of one size, place every order alike and have cells at the same places.
    pub(crate) fn is_like(&self, other: &Self, cells: &Cells) -> bool {
        let mut numbered = cells.iter().enumerate();
        let same =
            |(number, cell): (usize, &Cell)| self.cell_bits(number, cell) == other.cell_bits(number, cell);
        (self.line, self.align, self.tail) == (other.line, other.align, other.tail)
            && self.slots == other.slots
            && numbered.all(same)
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

    pub(crate) fn unit_slots(&self, unit: usize) -> &[Slot] {
        self.slots.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Places a unit behind bit `end`: its first bit and the bit behind it.
    #[inline]
    pub(crate) fn place(&self, unit: usize, end: u64) -> (u64, u64) {
        match self.quick[unit] {
            Some(quick) if end < 1 << 60 => {
                let start = (end + quick.mask) & !quick.mask;
                (start, start + quick.bit_size)
            }
            _ => self.place_slots(unit, end),
        }
    }

    fn place_slots(&self, unit: usize, end: u64) -> (u64, u64) {
        let slots = &self.slots[unit];
        let start = slots.first().map_or(end, |slot| abi::next_offset(slot, end));
        (start, slots.iter().fold(end, |end, slot| abi::next_offset(slot, end) + slot.bit_size))
    }

    pub(crate) fn bits(&self, unit: usize) -> u64 {
        self.slots[unit].iter().map(|slot| slot.bit_size).sum()
    }

    /// Those of all units.
    pub(crate) fn all_bits(&self) -> u64 {
        (0..self.slots.len()).map(|unit| self.bits(unit)).sum()
    }

    /// Bits of which a unit of one member begins at a multiple.
    pub(crate) fn granule(&self, unit: usize) -> Option<u64> {
        self.quick[unit].map(|quick| quick.mask + 1)
    }

    /// Size in bytes of a struct whose last bit lies before `end`.
    pub(crate) fn size(&self, end: u64) -> u64 {
        abi::size_of(end + self.tail, self.align)
    }
}
