//! The parts of a struct that are touched at all.
//!
//! A cell is up to eight bytes of a unit, counted from the unit's start, so that a large member that lies over several
//! cachelines costs only those it is touched on.

use fieldline_access::access::Access;
use fieldline_layout::constraint::{Constraints, Unit};
use fieldline_layout::{Layout, Member};
use std::collections::BTreeMap;

/// Size of a cell in bytes, that of most scalars: accesses to one rarely begin inside another.
const CELL: u64 = 8;

/// A touched part of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// Index in [`Constraints::units`].
    pub unit: usize,
    /// First byte, from the start of the unit.
    pub start: u64,
    /// Bytes, at least 1.
    pub size: u64,
}

/// The touched cells of one struct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    cells: Vec<Cell>,
    by_place: BTreeMap<(usize, u64), usize>,
    spans: Vec<Span>,
}

/// Bytes of a unit in the declared layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    start: u64,
    end: u64,
    unit: usize,
}

impl Cells {
    /// The cells that accesses touch. Accesses that touch no member (padding) have none.
    pub fn new<'a>(
        layout: &Layout,
        constraints: &Constraints,
        accesses: impl IntoIterator<Item = &'a Access>,
    ) -> Self {
        let mut found = Self { spans: spans(layout, constraints), ..Self::default() };
        for access in accesses {
            for place in found.places(access.offset, access.size) {
                found.by_place.insert(place, 0);
            }
        }
        found.number();
        found
    }

    fn number(&mut self) {
        for (number, ((unit, granule), slot)) in self.by_place.iter_mut().enumerate() {
            *slot = number;
            let start = granule * CELL;
            let span = self.spans.iter().find(|span| span.unit == *unit);
            let left = span.map_or(1, |span| (span.end - span.start).saturating_sub(start));
            self.cells.push(Cell { unit: *unit, start, size: left.clamp(1, CELL) });
        }
    }

    /// Units and granules that bytes touch.
    fn places(&self, offset: u64, size: u64) -> Vec<(usize, u64)> {
        let end = offset.saturating_add(size.max(1));
        let touched = self.spans.iter().filter(|span| span.start < end && offset < span.end);
        let granules = touched.flat_map(|span| {
            let first = (offset.max(span.start) - span.start) / CELL;
            let last = (end.min(span.end) - 1 - span.start) / CELL;
            (first..=last).map(|granule| (span.unit, granule))
        });
        granules.collect()
    }

    /// The cells that bytes touch.
    pub fn touched(&self, offset: u64, size: u64) -> Vec<usize> {
        let places = self.places(offset, size).into_iter();
        places.filter_map(|place| self.by_place.get(&place).copied()).collect()
    }

    /// The cells, in order of unit and place.
    pub fn iter(&self) -> impl Iterator<Item = &Cell> {
        self.cells.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether nothing is touched.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }
}

fn spans(layout: &Layout, constraints: &Constraints) -> Vec<Span> {
    let units = constraints.units.iter().enumerate();
    let mut spans: Vec<Span> = units.filter_map(|(index, unit)| span(layout, unit, index)).collect();
    spans.sort_unstable_by_key(|span| (span.start, span.unit));
    spans
}

fn span(layout: &Layout, unit: &Unit, index: usize) -> Option<Span> {
    let members = || unit.members.iter().filter_map(|member| layout.members.get(*member));
    let start = members().map(Member::offset).min()?;
    let end = members().map(|member| member.bit_end().div_ceil(8)).max()?;
    (end > start).then_some(Span { start, end, unit: index })
}
