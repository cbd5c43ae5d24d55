//! The bytes of a struct that are touched at all.
//!
//! A touched range is up to eight bytes of a unit, aligned to the unit's start, so that a large member costs
//! only the cachelines it is touched on.

use fieldline_access::access::Access;
use fieldline_layout::constraint::Constraints;
use fieldline_layout::{Layout, Member};
use std::collections::BTreeMap;

/// Size of a range in bytes, that of most scalars: accesses to one rarely begin inside another.
const GRANULE: u64 = 8;

/// A touched field range of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TouchedRange {
    /// Index in [`Constraints::units`].
    pub unit: usize,
    /// First byte, from the start of the unit.
    pub start: u64,
    /// Bytes, at least 1.
    pub size: u64,
    /// First byte in the declared layout.
    pub offset: u64,
}

/// The touched ranges of one struct.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedRanges {
    ranges: Vec<TouchedRange>,
    by_granule: BTreeMap<(usize, u64), usize>,
    spans: Vec<UnitSpan>,
}

/// Bytes of a unit in the declared layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UnitSpan {
    start: u64,
    end: u64,
    unit: usize,
}

impl TouchedRanges {
    /// The ranges that accesses touch. Accesses that touch no member (padding) have none.
    pub fn new(layout: &Layout, constraints: &Constraints, accesses: &[Access]) -> Self {
        let spans = constraints.units.iter().enumerate().filter_map(|(unit, unit_members)| {
            let members = || unit_members.members.iter().filter_map(|member| layout.members.get(*member));
            let start = members().map(Member::offset).min()?;
            let end = members().map(|member| member.bit_end().div_ceil(8)).max()?;
            (end > start).then_some(UnitSpan { start, end, unit })
        });
        let mut result = Self { spans: spans.collect(), ..Self::default() };
        result.spans.sort_unstable_by_key(|span| (span.start, span.unit));
        let mut ranges: BTreeMap<(usize, u64), TouchedRange> = BTreeMap::new();
        for access in accesses {
            for (span, granule) in result.granules(access.offset, access.size) {
                let (unit, start) = (span.unit, granule * GRANULE);
                let size = (span.end - span.start).saturating_sub(start).clamp(1, GRANULE);
                let offset = span.start + start;
                ranges.insert((unit, granule), TouchedRange { unit, start, size, offset });
            }
        }
        result.by_granule = ranges.keys().copied().zip(0..).collect();
        result.ranges = ranges.into_values().collect();
        result
    }

    /// Units and granules that bytes touch.
    fn granules(&self, offset: u64, size: u64) -> impl Iterator<Item = (&UnitSpan, u64)> {
        let end = offset.saturating_add(size.max(1));
        let touched = self.spans.iter().filter(move |span| span.start < end && offset < span.end);
        touched.flat_map(move |span| {
            let first = (offset.max(span.start) - span.start) / GRANULE;
            let last = (end.min(span.end) - 1 - span.start) / GRANULE;
            (first..=last).map(move |granule| (span, granule))
        })
    }

    /// The ranges that bytes touch.
    pub fn touched(&self, offset: u64, size: u64) -> Vec<usize> {
        let granules = self.granules(offset, size);
        granules.filter_map(|(span, granule)| self.by_granule.get(&(span.unit, granule)).copied()).collect()
    }

    /// The ranges, in order of unit and offset.
    pub fn iter(&self) -> impl Iterator<Item = &TouchedRange> {
        self.ranges.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether nothing is touched.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}
