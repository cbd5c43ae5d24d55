//! Instructions of AArch64 that name functions.
//!
//! A branch names its target. An address is made of a page (`adrp`) and the rest (`add`), which compilers put
//! anywhere behind: the page alone counts as naming all functions in it.

use super::address_set::AddressSet;

const LENGTH: usize = 4;
/// Bytes of what `adrp` names.
const PAGE: u64 = 4096;

/// Entries that instructions name, with where these stand.
pub(super) fn find_references(wanted: &AddressSet, address: u64, bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for (index, word) in (0u64..).zip(bytes.chunks_exact(LENGTH)) {
        let position = address.wrapping_add(index * LENGTH as u64);
        let Ok(word) = word.try_into().map(u32::from_le_bytes) else { continue };
        match decode_named_address(word, position) {
            Some(NamedAddress::Address(target)) if wanted.contains(target) => found.push((target, position)),
            Some(NamedAddress::Page(page)) => {
                let entries = wanted.in_range(page, PAGE);
                found.extend(entries.iter().map(|entry| (*entry, position)));
            }
            _ => {}
        }
    }
    found
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedAddress {
    Address(u64),
    /// Some address of a page.
    Page(u64),
}

/// The pc-relative address in an instruction (Arm ARM, C4.1.92 "PC-rel. addressing" and C4.1.93 "Branches").
fn decode_named_address(word: u32, at: u64) -> Option<NamedAddress> {
    let field = |first: u32, bits: u32| signed(word >> first, bits);
    let near = |distance: i64| Some(NamedAddress::Address(at.wrapping_add_signed(distance << 2)));
    match word >> 24 {
        0x54 => near(field(5, 19)),
        0x34 | 0x35 | 0xb4 | 0xb5 => near(field(5, 19)),
        0x36 | 0x37 | 0xb6 | 0xb7 => near(field(5, 14)),
        0x14..=0x17 | 0x94..=0x97 => near(field(0, 26)),
        group if group & 0x1f == 0x10 => {
            let distance = field(5, 19) << 2 | i64::from(word >> 29 & 3);
            Some(match group & 0x80 != 0 {
                true => NamedAddress::Page((at & !(PAGE - 1)).wrapping_add_signed(distance * PAGE as i64)),
                false => NamedAddress::Address(at.wrapping_add_signed(distance)),
            })
        }
        _ => None,
    }
}

/// The lowest bits of a number, sign-extended.
fn signed(number: u32, bits: u32) -> i64 {
    let unused = 32 - bits;
    i64::from((number << unused) as i32 >> unused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_and_addresses_name_their_targets() {
        let at = 0x1_0040;
        // bl -0x40; b +8; b.eq +8; cbz x0, -4; tbz w0, #0, +8; adr x0, +1
        assert_eq!(decode_named_address(0x97ff_fff0, at), Some(NamedAddress::Address(0x1_0000)));
        assert_eq!(decode_named_address(0x1400_0002, at), Some(NamedAddress::Address(0x1_0048)));
        assert_eq!(decode_named_address(0x5400_0040, at), Some(NamedAddress::Address(0x1_0048)));
        assert_eq!(decode_named_address(0xb4ff_ffe0, at), Some(NamedAddress::Address(0x1_003c)));
        assert_eq!(decode_named_address(0x3600_0040, at), Some(NamedAddress::Address(0x1_0048)));
        assert_eq!(decode_named_address(0x3000_0000, at), Some(NamedAddress::Address(0x1_0041)));
        // adrp x0, +1 page and -1 page; ldr x0, [x1]
        assert_eq!(decode_named_address(0xb000_0000, at), Some(NamedAddress::Page(0x1_1000)));
        assert_eq!(decode_named_address(0xf0ff_ffe0, at), Some(NamedAddress::Page(0xf000)));
        assert_eq!(decode_named_address(0xf940_0020, at), None);
    }

    #[test]
    fn a_page_names_all_functions_in_it() {
        let wanted = AddressSet::new(&[0xffc, 0x1000, 0x1ffc, 0x2000]).unwrap();
        // adrp x0 of the next page, from the first
        assert_eq!(find_references(&wanted, 0, &0xb000_0000_u32.to_le_bytes()), [(0x1000, 0), (0x1ffc, 0)]);
    }
}
