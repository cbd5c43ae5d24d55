//! Relocations of modules: the value and the field of each, by machine.
//!
//! Numbers and formulas as in the System V ABI for x86-64, table 4.9, and in ELF for the Arm 64-bit Architecture,
//! section 5.7. Of the latter those are known that code without a table of addresses has.

/// A machine whose relocations are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RelocationMachine {
    X86_64,
    AArch64,
}

/// A relocation: the value it computes, and the field that gets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Relocation {
    origin: Origin,
    /// How much lower bits of the value are left out.
    shift: u32,
    field: Field,
    /// Whether it is of a call, so that the symbol is a function.
    pub(super) is_call: bool,
}

/// The origin from which a value counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    Zero,
    /// The address of the field ("P").
    Place,
    /// The page of the field, in pages ("Page(P)").
    Page,
}

/// The bits that get a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    /// So many bytes.
    Bytes(usize),
    /// So many bits of an instruction of four bytes, from a bit on.
    Bits(u32, u32),
    /// Of `adr` and `adrp`: two bits from bit 29 on, and 19 from bit 5 on.
    Address,
}

impl RelocationMachine {
    /// By its number in ELF headers.
    pub(super) fn from_number(number: u64) -> Option<Self> {
        const EM_X86_64: u64 = 62;
        const EM_AARCH64: u64 = 183;
        match number {
            EM_X86_64 => Some(Self::X86_64),
            EM_AARCH64 => Some(Self::AArch64),
            _ => None,
        }
    }

    /// The relocation of a number; `None` if it is not known.
    pub(super) fn relocation(self, kind: u64) -> Option<Relocation> {
        match self {
            Self::X86_64 => x86_relocation(kind),
            Self::AArch64 => aarch64_relocation(kind),
        }
    }
}

fn byte_relocation(origin: Origin, size: usize) -> Relocation {
    Relocation { origin, shift: 0, field: Field::Bytes(size), is_call: false }
}

fn x86_relocation(kind: u64) -> Option<Relocation> {
    Some(match kind {
        1 => byte_relocation(Origin::Zero, 8),
        2 => byte_relocation(Origin::Place, 4),
        4 => Relocation { is_call: true, ..byte_relocation(Origin::Place, 4) },
        10 | 11 => byte_relocation(Origin::Zero, 4),
        24 => byte_relocation(Origin::Place, 8),
        _ => return None,
    })
}

fn aarch64_relocation(kind: u64) -> Option<Relocation> {
    let bits = |origin, shift, first, count| {
        let field = Field::Bits(first, count);
        Relocation { origin, shift, field, is_call: false }
    };
    Some(match kind {
        // ABS64, ABS32, ABS16; PREL64, PREL32, PREL16
        257 => byte_relocation(Origin::Zero, 8),
        258 => byte_relocation(Origin::Zero, 4),
        259 => byte_relocation(Origin::Zero, 2),
        260 => byte_relocation(Origin::Place, 8),
        261 => byte_relocation(Origin::Place, 4),
        262 => byte_relocation(Origin::Place, 2),
        // MOVW_UABS_G0 to G3
        263 | 264 => bits(Origin::Zero, 0, 5, 16),
        265 | 266 => bits(Origin::Zero, 16, 5, 16),
        267 | 268 => bits(Origin::Zero, 32, 5, 16),
        269 => bits(Origin::Zero, 48, 5, 16),
        // LD_PREL_LO19, ADR_PREL_LO21, ADR_PREL_PG_HI21 and the same unchecked
        273 => bits(Origin::Place, 2, 5, 19),
        274 => Relocation { field: Field::Address, ..byte_relocation(Origin::Place, 0) },
        275 | 276 => Relocation { field: Field::Address, ..byte_relocation(Origin::Page, 0) },
        // ADD_ABS_LO12_NC, LDST8 to LDST128_ABS_LO12_NC
        277 | 278 => bits(Origin::Zero, 0, 10, 12),
        284 => bits(Origin::Zero, 1, 10, 11),
        285 => bits(Origin::Zero, 2, 10, 10),
        286 => bits(Origin::Zero, 3, 10, 9),
        299 => bits(Origin::Zero, 4, 10, 8),
        // TSTBR14, CONDBR19, JUMP26, CALL26
        279 => bits(Origin::Place, 2, 5, 14),
        280 => bits(Origin::Place, 2, 5, 19),
        282 | 283 => Relocation { is_call: true, ..bits(Origin::Place, 2, 0, 26) },
        _ => return None,
    })
}

impl Relocation {
    /// How many bytes it changes.
    pub(super) fn size(self) -> usize {
        match self.field {
            Field::Bytes(size) => size,
            Field::Bits(..) | Field::Address => 4,
        }
    }

    /// The bytes at an address with the value in its field, of the bytes there before.
    pub(super) fn apply(self, old: u64, here: u64, value: u64) -> u64 {
        const PAGE_BITS: u32 = 12;
        let value = match self.origin {
            Origin::Zero => value,
            Origin::Place => value.wrapping_sub(here),
            Origin::Page => (value >> PAGE_BITS).wrapping_sub(here >> PAGE_BITS),
        };
        let value = value >> self.shift;
        match self.field {
            Field::Bytes(_) => value,
            Field::Bits(first, count) => insert_bits(old, value, first, count),
            Field::Address => insert_bits(insert_bits(old, value, 29, 2), value >> 2, 5, 19),
        }
    }
}

/// A word with some bits replaced by the lowest of a value. Offsets of `ldr` in a page are scaled with the access, so that
/// fewer than 12 stay and the rest of the field is zero.
fn insert_bits(old: u64, value: u64, first: u32, count: u32) -> u64 {
    let mask = ((1 << count) - 1) << first;
    old & !mask | value << first & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(kind: u64, word: u64, here: u64, value: u64) -> u64 {
        RelocationMachine::AArch64.relocation(kind).unwrap().apply(word, here, value)
    }

    #[test]
    fn instructions_get_their_addresses() {
        // adrp x1; add x1, x1; ldr x0, [x1]; bl; cbz x0
        assert_eq!(applied(275, 0x9000_0001, 0x1_0040, 0x1_3456), 0xf000_0001);
        assert_eq!(applied(275, 0x9000_0001, 0x1_3040, 0x1_2456), 0xf0ff_ffe1);
        assert_eq!(applied(277, 0x9100_0021, 0, 0x1_3456), 0x9111_5821);
        assert_eq!(applied(286, 0xf940_0020, 0, 0x1_3458), 0xf942_2c20);
        assert_eq!(applied(283, 0x9400_0000, 0x1_0010, 0x1_0000), 0x97ff_fffc);
        assert_eq!(applied(280, 0xb400_0000, 0x1_0000, 0x1_0008), 0xb400_0040);
    }

    #[test]
    fn bytes_get_values_and_distances() {
        let x86 =
            |kind, here, value| RelocationMachine::X86_64.relocation(kind).unwrap().apply(0, here, value);
        assert_eq!((x86(1, 8, 0x1234), x86(2, 0x1000, 0x0ffc) as u32), (0x1234, 0xffff_fffc));
        assert!(RelocationMachine::X86_64.relocation(4).unwrap().is_call);
        assert_eq!(RelocationMachine::X86_64.relocation(99), None);
        assert_eq!(applied(261, 0, 0x1000, 0x1010), 0x10);
        assert_eq!(RelocationMachine::from_number(183), Some(RelocationMachine::AArch64));
        assert_eq!(RelocationMachine::from_number(21), None);
    }
}
