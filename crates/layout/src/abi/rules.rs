//! The placement rules of the C ABI.
//!
//! Rules: System V ABI (x86-64 psABI section 3.1.2 and the i386 one), AAPCS64 section 5.9, Power ELFv2
//! section 2.1.2. They agree: each member goes to the next offset its alignment allows, a bit-field to the
//! next bit unless it would cross a boundary of its declared type, and the struct's size is rounded up to its
//! alignment.

/// Size and alignment of a member, as the ABI places it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbiMember {
    /// Size in bits; 0 for flexible arrays and markers.
    pub bit_size: u64,
    /// Alignment in bytes, at least 1.
    pub align: u64,
    /// Bits of the declared type if it is a bit-field; `u64::MAX` for a packed one, which may lie anywhere.
    pub bit_field_storage: Option<u64>,
    /// Bits left free before the member that no rule explains: unnamed bit-fields, which debug info omits.
    pub skip: u64,
}

impl AbiMember {
    /// A member of whole bytes.
    pub fn bytes(size: u64, align: u64) -> Self {
        Self { bit_size: size.saturating_mul(8), align: align.max(1), bit_field_storage: None, skip: 0 }
    }
}

/// Offsets and size computed by [`place_members`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Offset of each member in bits, in the order given.
    pub bit_offsets: Vec<u64>,
    /// Size of the struct in bytes.
    pub size: u64,
    /// Alignment of the struct in bytes.
    pub align: u64,
}

/// Places members in the order given. `struct_align` is the struct's own alignment (1 if none). Saturates.
pub fn place_members(members: &[AbiMember], struct_align: u64) -> Placement {
    let mut end = 0;
    let mut align = struct_align.max(1);
    let mut bit_offsets = Vec::with_capacity(members.len());
    for member in members {
        let offset = next_offset(member, end);
        bit_offsets.push(offset);
        end = offset.saturating_add(member.bit_size);
        align = align.max(member.align);
    }
    Placement { bit_offsets, size: round_size(end, align), align }
}

/// Places the members of a union: all at 0.
pub(super) fn place_union_members(members: &[AbiMember], struct_align: u64) -> Placement {
    let align = members.iter().map(|slot| slot.align).fold(struct_align.max(1), u64::max);
    let bits = members.iter().map(|slot| slot.bit_size).max().unwrap_or(0);
    Placement { bit_offsets: vec![0; members.len()], size: round_size(bits, align), align }
}

/// The size in bytes of a struct whose last bit lies before bit `end`, with `align` in bytes.
pub fn round_size(end: u64, align: u64) -> u64 {
    round_up(end, align.max(1).saturating_mul(8)) / 8
}

/// The first bit at or behind bit `end` where the member may be placed.
///
/// A bit-field moves to the next boundary of its alignment if it would span more alignment units than its
/// declared type has (what gcc's stor-layout.c calls excess unit span, PCC_BITFIELD_TYPE_MATTERS), or if it
/// asks for more alignment than its type is long.
#[inline]
pub fn next_offset(member: &AbiMember, end: u64) -> u64 {
    let align = member.align.max(1).saturating_mul(8);
    let end = end.saturating_add(member.skip);
    let Some(storage) = member.bit_field_storage else {
        return round_up(end, align);
    };
    let span = (end % align).saturating_add(member.bit_size);
    if align <= storage && span <= storage { end } else { round_up(end, align) }
}

#[inline]
pub(super) fn round_up(value: u64, to: u64) -> u64 {
    if to.is_power_of_two() {
        let mask = to - 1;
        return value.checked_add(mask).map_or(u64::MAX, |sum| sum & !mask);
    }
    value.checked_next_multiple_of(to.max(1)).unwrap_or(u64::MAX)
}
