//! Where the C ABI places members: the only code that computes offsets.
//!
//! Rules: System V ABI (x86-64 psABI section 3.1.2 and the i386 one), AAPCS64 section 5.9, Power ELFv2 section 2.1.2.
//! They agree: each member goes to the next offset its alignment allows, a bit-field to the next bit unless it would
//! cross a boundary of its declared type, and the struct's size is rounded up to its alignment.

/// What the ABI needs to know of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Size in bits; 0 for flexible arrays and markers.
    pub bit_size: u64,
    /// Alignment in bytes, at least 1.
    pub align: u64,
    /// Bits of the declared type if it is a bit-field.
    pub bit_field_storage: Option<u64>,
}

/// Offsets and size computed by [`place`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Offset of each slot in bits, in the order given.
    pub bit_offsets: Vec<u64>,
    /// Size of the struct in bytes.
    pub size: u64,
    /// Alignment of the struct in bytes.
    pub align: u64,
}

/// Places slots in the order given. `struct_align` is what the struct itself asks for (1 if nothing). Saturates
/// instead of overflowing.
pub fn place(slots: &[Slot], struct_align: u64) -> Placement {
    let mut end = 0;
    let mut align = struct_align.max(1);
    let mut bit_offsets = Vec::with_capacity(slots.len());
    for slot in slots {
        let offset = slot_offset(slot, end);
        bit_offsets.push(offset);
        end = offset.saturating_add(slot.bit_size);
        align = align.max(slot.align);
    }
    let size = round_up(end, align.saturating_mul(8)) / 8;
    Placement {
        bit_offsets,
        size,
        align,
    }
}

/// Places the members of a union: all at 0.
pub fn place_union(slots: &[Slot], struct_align: u64) -> Placement {
    let align = slots
        .iter()
        .map(|slot| slot.align)
        .fold(struct_align.max(1), u64::max);
    let bits = slots.iter().map(|slot| slot.bit_size).max().unwrap_or(0);
    let size = round_up(bits, align.saturating_mul(8)) / 8;
    Placement {
        bit_offsets: vec![0; slots.len()],
        size,
        align,
    }
}

/// The first bit at or behind `end` where the slot may lie.
fn slot_offset(slot: &Slot, end: u64) -> u64 {
    let align = slot.align.max(1).saturating_mul(8);
    let Some(storage) = slot.bit_field_storage else {
        return round_up(end, align);
    };
    // A packed bit-field (alignment 1) may cross a boundary of its type.
    let packed = slot.align <= 1 && storage > 8;
    let first = end / storage.max(1);
    let last = end.saturating_add(slot.bit_size.saturating_sub(1)) / storage.max(1);
    if packed || first == last {
        end
    } else {
        round_up(end, storage.min(align).max(1))
    }
}

fn round_up(value: u64, to: u64) -> u64 {
    value.checked_next_multiple_of(to.max(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(size: u64) -> Slot {
        Slot {
            bit_size: size * 8,
            align: size,
            bit_field_storage: None,
        }
    }

    fn bits(width: u64, storage: u64) -> Slot {
        Slot {
            bit_size: width,
            align: storage,
            bit_field_storage: Some(storage * 8),
        }
    }

    #[test]
    fn members_go_to_their_alignment_and_the_tail_is_padded() {
        let placed = place(&[plain(1), plain(8), plain(4)], 1);
        assert_eq!(placed.bit_offsets, [0, 64, 128]);
        assert_eq!(placed.size, 24);
    }

    #[test]
    fn bit_fields_share_a_unit_until_they_would_cross_it() {
        let placed = place(&[bits(20, 4), bits(10, 4), bits(4, 4), plain(1)], 1);
        assert_eq!(placed.bit_offsets, [0, 20, 32, 40]);
        assert_eq!(placed.size, 8);
    }

    #[test]
    fn a_struct_keeps_its_own_alignment() {
        assert_eq!(place(&[plain(4)], 64).size, 64);
    }
}
