//! The parts of a struct that are touched at all.
//!
//! A cell is up to eight bytes of a unit, counted from the unit's start, so that a large member that lies over several
//! cachelines costs only those it is touched on.

use fieldline_access::access::Access;
use fieldline_layout::constraint::Constraints;
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
    /// First byte in the declared layout.
    pub offset: u64,
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
    pub fn new(layout: &Layout, constraints: &Constraints, accesses: &[Access]) -> Self {
        let spans = constraints.units.iter().enumerate().filter_map(|(unit, of)| {
            let members = || of.members.iter().filter_map(|member| layout.members.get(*member));
            let start = members().map(Member::offset).min()?;
            let end = members().map(|member| member.bit_end().div_ceil(8)).max()?;
            (end > start).then_some(Span { start, end, unit })
        });
        let mut found = Self { spans: spans.collect(), ..Self::default() };
        found.spans.sort_unstable_by_key(|span| (span.start, span.unit));
        let mut cells: BTreeMap<(usize, u64), Cell> = BTreeMap::new();
        for access in accesses {
            for (span, granule) in found.places(access.offset, access.size) {
                let (unit, start) = (span.unit, granule * CELL);
                let size = (span.end - span.start).saturating_sub(start).clamp(1, CELL);
                cells.insert((unit, granule), Cell { unit, start, size, offset: span.start + start });
            }
        }
        found.by_place = cells.keys().copied().zip(0..).collect();
        found.cells = cells.into_values().collect();
        found
    }

    /// Units and granules that bytes touch.
    fn places(&self, offset: u64, size: u64) -> impl Iterator<Item = (&Span, u64)> {
        let end = offset.saturating_add(size.max(1));
        let touched = self.spans.iter().filter(move |span| span.start < end && offset < span.end);
        touched.flat_map(move |span| {
            let first = (offset.max(span.start) - span.start) / CELL;
            let last = (end.min(span.end) - 1 - span.start) / CELL;
            (first..=last).map(move |granule| (span, granule))
        })
    }

    /// The cells that bytes touch.
    pub fn touched(&self, offset: u64, size: u64) -> Vec<usize> {
        let places = self.places(offset, size);
        places.filter_map(|(span, granule)| self.by_place.get(&(span.unit, granule)).copied()).collect()
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
