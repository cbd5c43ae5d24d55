//! Offsets of members and the gaps between them, in pahole's terms: whole bytes and, between bit-fields,
//! bits.
//!
//! [`fieldline_layout::layout`] tiles a struct bit by bit. pahole instead walks the members in declaration
//! order and counts a bit-field's storage unit as its bytes, which decides between hole and bit hole.

use fieldline_layout::types::{Aggregate, AggregateKind};

/// A member where pahole sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Placed {
    /// Its first bit.
    pub(super) bit_offset: u64,
    /// The byte it begins at; of a bit-field, the byte its storage unit begins at.
    pub(super) offset: u64,
    /// Size of its type in bytes.
    pub(super) size: u64,
    /// First bit within the storage unit.
    pub(super) bit_in_unit: u64,
    /// Width in bits of a bit-field, else 0.
    pub(super) bits: u64,
    /// Alignment in bytes that is stated or inferred and not natural.
    pub(super) align: Option<u64>,
    /// The gap before the next member.
    pub(super) after: Gap,
}

/// Unused bytes and bits between two members.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gap {
    pub(super) bytes: i64,
    pub(super) bits: i64,
}

/// A struct's or union's members and gaps.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) members: Vec<Placed>,
    /// Before the first member.
    pub(super) before: Gap,
    pub(super) holes: u64,
    pub(super) bit_holes: u64,
    pub(super) padding: i64,
    pub(super) bit_padding: i64,
    /// Alignment in bytes that is stated or inferred and not natural.
    pub(super) align: Option<u64>,
}

/// Whether members overlap.
pub(super) fn is_union(aggregate: &Aggregate) -> bool {
    aggregate.kind == AggregateKind::Union
}

/// Number of members that take space, bases included.
pub(super) fn data_members(aggregate: &Aggregate) -> u64 {
    aggregate.members.iter().filter(|member| !member.is_static).count() as u64
}

/// State of the search for gaps: the bits used so far.
struct GapFinder {
    /// End of the storage unit the current bit-fields share, in bits.
    unit_end: i64,
    unit_size: i64,
    in_bit_field: bool,
    /// End of the last member, in bits.
    end: i64,
}

/// Finds holes, bit holes and padding.
pub(super) fn find_gaps(facts: &mut Facts, aggregate: &Aggregate) {
    let size = bits_of(aggregate.size);
    let mut finder = GapFinder { unit_end: size, unit_size: 0, in_bit_field: false, end: 0 };
    let mut last: Option<usize> = None;
    for (index, member) in aggregate.members.iter().enumerate() {
        let Some(placed) = facts.members.get(index).copied() else { continue };
        if member.is_static || (member.is_base && placed.size == 0) {
            continue;
        }
        let gap = finder.advance(&placed);
        facts.bit_holes += u64::from(gap.bits != 0);
        facts.holes += u64::from(gap.bytes > 0);
        match last.and_then(|last| facts.members.get_mut(last)) {
            Some(last) => last.after = gap,
            None => facts.before = gap,
        }
        last = Some(index);
    }
    if finder.in_bit_field {
        let end = size.min(finder.unit_end);
        facts.bit_padding = end - finder.end;
        finder.end = end;
    }
    facts.padding = size / 8 - finder.end / 8;
}

impl GapFinder {
    /// Advances to the next member and returns the gap before it.
    fn advance(&mut self, member: &Placed) -> Gap {
        let start = clamp(member.bit_offset);
        let mut gap = Gap::default();
        if self.in_bit_field {
            // Bits that the unit before still had.
            let end = start.min(self.unit_end);
            gap.bits = end - self.end;
            self.end = end;
        }
        if member.bits == 0 {
            gap.bytes = start / 8 - self.end / 8;
            self.end = start + bits_of(member.size);
            self.in_bit_field = false;
            self.unit_size = 0;
            self.unit_end = self.end;
            return gap;
        }
        let unit_start = bits_of(member.offset);
        if self.end < unit_start && unit_start <= start {
            gap.bytes = clamp(member.offset) - self.end / 8;
            self.end = unit_start;
        }
        gap.bits += start - self.end;
        self.end = start + clamp(member.bits);
        self.in_bit_field = true;
        self.enter_unit(member);
        gap
    }

    /// A bit-field that ends beyond the unit, or has a wider type, sets a new end.
    fn enter_unit(&mut self, member: &Placed) {
        let unit = bits_of(member.size);
        if self.end <= self.unit_end && unit <= self.unit_size {
            return;
        }
        self.unit_size = unit;
        self.unit_end = bits_of(member.offset) + unit;
        // One that began in the unit before it ends in the next.
        if self.end > self.unit_end {
            self.unit_end += unit;
        }
    }
}

/// Hostile sizes are cut to what sums of them can't overflow.
fn clamp(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX).min(1 << 56)
}

fn bits_of(bytes: u64) -> i64 {
    clamp(bytes.saturating_mul(8))
}
