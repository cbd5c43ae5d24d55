//! What an order costs: weighted distinct cachelines per visit, over all views of the struct.
//!
//! A view is a line size, a build (what the compiler was told the line size is) and a phase (where objects begin
//! within a line). Costs are integers, so that sums don't depend on their order.

use crate::cells::{Cell, Cells};
use crate::counter::Counter;
use crate::neighbours::Neighbours;
use crate::random::Random;
use crate::sharing::Sharing;
use crate::visits::Visits;
use crate::wish::Terms;
use fieldline_layout::Layout;
use fieldline_layout::abi::{self, Slot, Slots};
use fieldline_layout::constraint::Constraints;

/// Line size, build and phase under which lines are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Index in [`Problem::builds`].
    pub build: usize,
    /// Weight of a line touched.
    pub weight: u64,
    /// Whether its lines are pairs that one fetch brings, not lines of a machine.
    pub pairs: bool,
    /// Logarithm of the line size in bits.
    shift: u32,
    /// Where objects begin within a line, in bits.
    phase: u64,
}

impl View {
    /// A view on lines of `line` bytes, a power of two, of objects that begin `phase` bytes into a line.
    pub fn new(build: usize, line: u64, phase: u64, weight: u64) -> Self {
        Self { build, weight, pairs: false, shift: line.max(1).trailing_zeros() + 3, phase: phase * 8 }
    }

    /// A view on pairs of lines of `line` bytes that begin at multiples of two lines.
    pub fn on_pairs(build: usize, line: u64, phase: u64, weight: u64) -> Self {
        Self { pairs: true, ..Self::new(build, line.saturating_mul(2), phase, weight) }
    }

    /// Line size in bytes.
    pub fn line(&self) -> u64 {
        1 << (self.shift - 3)
    }

    /// The largest part of `granule` bits that begins at its multiples within lines, too.
    pub(crate) fn granule(&self, granule: u64) -> u64 {
        let whole = granule.min(1 << self.shift);
        let phase = self.phase & (whole - 1);
        if phase == 0 { whole } else { 1 << phase.trailing_zeros() }
    }

    /// The line of a bit.
    #[inline]
    pub fn line_of(&self, bit: u64) -> usize {
        ((bit + self.phase) >> self.shift) as usize
    }

    /// First and last line of the bits `start..end`.
    #[inline]
    pub fn lines_of(&self, start: u64, end: u64) -> (usize, usize) {
        (self.line_of(start), self.line_of(end - 1))
    }
}

/// The slots of all units as one compiler sees them.
#[derive(Clone, Debug)]
pub struct Build {
    /// Line size alignments follow, in bytes.
    pub line: u64,
    /// Size in bytes no order may exceed.
    pub size_limit: u64,
    slots: Vec<Vec<Slot>>,
    quick: Vec<Option<Quick>>,
    align: u64,
    tail: u64,
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

impl Build {
    /// The build for a line size. The declared size is the limit.
    pub fn new(layout: &Layout, constraints: &Constraints, build_line: u64, line: u64) -> Self {
        let (slots, _) = abi::line_slots(layout, build_line, line);
        let units = constraints.units.iter();
        let of_units: Vec<Vec<Slot>> =
            units.map(|unit| unit.members.iter().map(|member| slots.slots[*member]).collect()).collect();
        Self::of(&slots, of_units, line, None)
    }

    /// A build of another machine or configuration, whose slots are told apart by unit.
    pub(crate) fn elsewhere(slots: &Slots, of_units: Vec<Vec<Slot>>, line: u64, cells: CellBits) -> Self {
        Self::of(slots, of_units, line, Some(cells))
    }

    fn of(slots: &Slots, of_units: Vec<Vec<Slot>>, line: u64, cells: Option<CellBits>) -> Self {
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

    /// Alignment in bytes of a unit.
    pub(crate) fn align_of(&self, unit: usize) -> u64 {
        self.slots[unit].iter().map(|slot| slot.align).max().unwrap_or(1)
    }

    /// Bits a unit takes wherever it stands.
    pub(crate) fn least_bits(&self, unit: usize) -> u64 {
        self.slots[unit]
            .iter()
            .map(|slot| slot.bit_size.saturating_add(slot.skip))
            .fold(0, u64::saturating_add)
    }

    /// Whether two builds place every order alike.
    pub fn places_like(&self, other: &Self) -> bool {
        (self.align, self.tail) == (other.align, other.tail) && self.slots == other.slots
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
        self.line == other.line && self.places_like(other) && numbered.all(same)
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

    /// The slots of a unit.
    pub(crate) fn unit_slots(&self, unit: usize) -> &[Slot] {
        self.slots.get(unit).map_or(&[], Vec::as_slice)
    }

    /// Alignment of the struct in bytes.
    pub(crate) fn align(&self) -> u64 {
        self.align
    }

    /// Bits behind the last member that no rule explains.
    pub(crate) fn tail(&self) -> u64 {
        self.tail
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
        let mut end = start;
        for (index, slot) in slots.iter().enumerate() {
            if index > 0 {
                end = abi::next_offset(slot, end);
            }
            end += slot.bit_size;
        }
        (start, end)
    }

    /// Bits of a unit's members.
    pub(crate) fn bits(&self, unit: usize) -> u64 {
        self.slots[unit].iter().map(|slot| slot.bit_size).sum()
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

/// A cell as the search sees it, in bits from the start of its unit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) cell: u32,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Random number that stands for the cell (Zobrist, 1970).
    pub(crate) key: u64,
}

/// What a unit's parts are together.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Whole {
    /// First touched bit from the start of the unit, and the bit behind the last; equal if none is.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Exclusive or of all keys.
    pub(crate) key: u64,
}

impl Whole {
    fn new(parts: &[Part]) -> Self {
        Self {
            start: parts.iter().map(|part| part.start).min().unwrap_or(0),
            end: parts.iter().map(|part| part.end).max().unwrap_or(0),
            key: parts.iter().fold(0, |key, part| key ^ part.key),
        }
    }
}

/// Cost of a line of struct size, as a share of one line more touched in every visit: enough to prefer the smaller of
/// two equally good structs, and of two nearly so.
const SIZE_SHARE: u64 = 200;
/// Cost of a line above the size limit, likewise.
const OVER_SHARE: u64 = 8;
/// Everything that doesn't change during a search.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// Limits.
    pub constraints: &'a Constraints,
    /// Compilers' views of the units.
    pub builds: Vec<Build>,
    /// What is counted.
    pub views: Vec<View>,
    /// Visits.
    pub visits: &'a Visits,
    /// How CPUs take lines from each other.
    pub sharing: &'a Sharing,
    /// What may stand next to what.
    pub(crate) neighbours: Neighbours,
    /// Cost of a line of struct size.
    pub size_weight: u64,
    /// Cost of a line of struct size above the limit. No result exceeds it, but a way to one may.
    pub over_weight: u64,
    counter: Counter,
    terms: Terms,
    /// By build and unit.
    parts: Vec<Vec<Vec<Part>>>,
    wholes: Vec<Vec<Whole>>,
    kept: Vec<(usize, u64)>,
}

impl<'a> Problem<'a> {
    /// A problem.
    pub fn new(
        constraints: &'a Constraints,
        cells: &Cells,
        visits: &'a Visits,
        sharing: &'a Sharing,
        builds: Vec<Build>,
        views: Vec<View>,
    ) -> Self {
        let mut parts = vec![vec![Vec::new(); constraints.units.len()]; builds.len()];
        let mut random = Random::new(cells.len() as u64);
        let counter = Counter::new(visits);
        let touched = (0..).zip(cells.iter()).filter(|(number, _)| counter.is_touched(*number as usize));
        for (number, cell) in touched {
            let key = random.bits();
            for (build, parts) in builds.iter().zip(&mut parts) {
                let bits = build.cell_bits(number as usize, cell);
                parts[cell.unit].extend(bits.map(|(start, end)| Part { cell: number, start, end, key }));
            }
        }
        let mut wished = vec![Vec::new(); constraints.units.len()];
        let terms = Terms::new(constraints, cells.len(), visits.total(), &mut wished, &mut random);
        for parts in builds.iter().zip(&mut parts).filter(|(build, _)| build.is_recorded()).map(|of| of.1) {
            for (parts, wished) in parts.iter_mut().zip(&wished) {
                parts.extend_from_slice(wished);
            }
        }
        let units = constraints.units.iter().enumerate();
        let kept = units.filter_map(|(index, unit)| Some((index, unit.kept_offset()?))).collect();
        let views_weight: u64 = views.iter().map(|view| view.weight).sum();
        let scale = visits.total().saturating_mul(views_weight);
        Self {
            constraints,
            builds,
            views,
            visits,
            sharing,
            neighbours: Neighbours::new(constraints, scale),
            size_weight: scale / SIZE_SHARE,
            over_weight: scale / OVER_SHARE,
            counter,
            terms,
            wholes: parts.iter().map(|units| units.iter().map(|parts| Whole::new(parts)).collect()).collect(),
            parts,
            kept,
        }
    }

    /// Cost of one line more touched in every visit, in all views.
    pub fn scale(&self) -> u64 {
        let weights: u64 = self.views.iter().map(|view| view.weight).sum();
        self.visits.total().saturating_mul(weights)
    }

    /// What a line with these cells costs in a view of weight 1.
    pub(crate) fn line_cost(&self, cells: &[u32]) -> u64 {
        if self.terms.is_empty() {
            return self.counter.touching(cells) + self.sharing.excess(cells);
        }
        let visited = self.terms.visited(cells);
        self.counter.touching(&visited) + self.sharing.excess(&visited) + self.terms.cost(cells)
    }

    /// Weight of visits that touch any of the cells.
    pub(crate) fn touching(&self, cells: &[u32]) -> u64 {
        match self.terms.is_empty() {
            true => self.counter.touching(cells),
            false => self.counter.touching(&self.terms.visited(cells)),
        }
    }

    /// Cost of what CPUs lose to each other because these cells share a line.
    pub(crate) fn excess(&self, cells: &[u32]) -> u64 {
        match self.terms.is_empty() {
            true => self.sharing.excess(cells),
            false => self.sharing.excess(&self.terms.visited(cells)),
        }
    }

    /// What a unit's parts are together in a build.
    #[inline]
    pub(crate) fn whole_in(&self, build: usize, unit: usize) -> Whole {
        self.wholes[build][unit]
    }

    /// The touched parts of a unit in the first build.
    #[inline]
    pub(crate) fn parts(&self, unit: usize) -> &[Part] {
        self.parts.first().map_or(&[], |units| &units[unit])
    }

    /// The touched parts of a unit in a build.
    #[inline]
    pub(crate) fn parts_in(&self, build: usize, unit: usize) -> &[Part] {
        &self.parts[build][unit]
    }

    /// Size in bits of a unit's members in the first build.
    pub fn unit_bits(&self, unit: usize) -> u64 {
        let slots = self.builds.first().map(|build| build.slots[unit].iter());
        slots.into_iter().flatten().map(|slot| slot.bit_size).sum()
    }

    /// What compilers are asked for a unit, in numbers: units with equal ones can exchange their places.
    pub(crate) fn slots_of(&self, unit: usize) -> Vec<(u64, u64, u64, Option<u64>)> {
        let numbers = |slot: &Slot| (slot.bit_size, slot.align, slot.skip, slot.bit_field_storage);
        // A slot no member has, so that a member that one build lacks isn't taken for one that another lacks.
        let end = || std::iter::once((u64::MAX, 0, 0, None));
        self.builds.iter().flat_map(|build| build.slots[unit].iter().map(numbers).chain(end())).collect()
    }

    /// Alignment in bytes of a unit in the first build.
    pub fn unit_align(&self, unit: usize) -> u64 {
        self.builds.first().map_or(1, |build| build.align_of(unit))
    }

    /// Units that must keep an offset, with that offset in bytes.
    pub(crate) fn kept(&self) -> &[(usize, u64)] {
        &self.kept
    }

    /// Whether an order leaves all kept units at their offsets.
    pub(crate) fn keeps_all(&self, order: &[usize]) -> bool {
        let Some(build) = self.builds.first() else { return true };
        let mut end = 0;
        order.iter().all(|unit| {
            let (start, stop) = build.place(*unit, end);
            end = stop;
            let kept = self.kept.iter().find(|kept| kept.0 == *unit);
            kept.is_none_or(|kept| start / 8 == kept.1)
        })
    }

    pub(crate) fn size_cost(&self, build: &Build, size: u64) -> u64 {
        let over = size.saturating_sub(build.size_limit).div_ceil(build.line);
        size.div_ceil(build.line) * self.size_weight + over * self.over_weight
    }
}
