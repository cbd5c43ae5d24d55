//! Numbers in code of x86-64 that name functions: distances and addresses at any position.

use super::address_set::AddressSet;
use crate::program::Program;

/// How far off the jumps are that have a distance of one byte, themselves included.
const SHORT_JUMP: u64 = 130;

/// Bytes needed before a number to decode it, and bytes behind that complete it.
pub(super) const BYTES_BEFORE: usize = 2;
pub(super) const BYTES_BEHIND: usize = 3;

pub(super) fn find_references(wanted: &AddressSet, address: u64, bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for (index, word) in bytes.windows(4).enumerate() {
        let Ok(word) = <[u8; 4]>::try_from(word) else { continue };
        let number = i64::from(i32::from_le_bytes(word));
        let position = address.wrapping_add(index as u64);
        let near = position.wrapping_add(4).wrapping_add_signed(number);
        if wanted.contains(near) && is_distance(bytes.get(..index).unwrap_or(&[])) {
            found.push((near, position));
        }
        if wanted.contains(number as u64) {
            found.push((number as u64, position));
        }
    }
    found
}

/// Positions of one-byte distances to an entry: jumps from functions close by, as assemblers shorten them.
pub(super) fn find_short_jumps(program: &Program<'_>, entry: u64) -> Vec<(u64, u64)> {
    let begin = entry.saturating_sub(SHORT_JUMP);
    // Where the code before is of another section, nothing that lies there is close by.
    let begin = if program.image.contains(begin) { begin } else { entry };
    find_short_jumps_in(entry, begin, program.image.code(begin, entry.saturating_add(SHORT_JUMP)))
}

fn find_short_jumps_in(entry: u64, begin: u64, code: &[u8]) -> Vec<(u64, u64)> {
    let pairs = (begin..).zip(code.windows(2));
    let jumps = pairs.filter_map(|(at, pair)| match pair {
        [0xeb | 0x70..=0x7f, distance] => Some((at, i64::from(*distance as i8))),
        _ => None,
    });
    let to_entry = jumps.filter(|(at, distance)| at.wrapping_add(2).wrapping_add_signed(*distance) == entry);
    to_entry.map(|(at, _)| (entry, at.wrapping_add(1))).collect()
}

/// Whether what stands in front of a number may take it for a distance: `call`, `jmp`, a conditional jump, or
/// an operand relative to rip (Intel SDM volume 2, table 2-2).
fn is_distance(before: &[u8]) -> bool {
    match before {
        [.., 0x0f, 0x80..=0x8f] => true,
        [.., last] => matches!(last, 0xe8 | 0xe9) || last & 0xc7 == 0x05,
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_addresses_are_found_at_any_position() {
        let wanted = AddressSet::new(&[0x1100, 0x1130]).unwrap();
        // call 0x1100 from 0x1000, then mov $0x1130
        let mut code = vec![0xe8];
        code.extend(0xfb_i32.to_le_bytes());
        code.push(0xb8);
        code.extend(0x1130_i32.to_le_bytes());
        assert_eq!(find_references(&wanted, 0x1000, &code), [(0x1100, 0x1001), (0x1130, 0x1006)]);
        assert!(!wanted.contains(0x1101) && !wanted.contains(0) && !wanted.contains(u64::MAX));
        assert!(AddressSet::new(&[]).is_none() && AddressSet::new(&[0, u64::MAX]).is_none());
    }

    #[test]
    fn short_jumps_are_found_from_both_sides() {
        // jmp +2 from 0x1000; at 0x1004 the entry; je -6 from 0x1008
        let code = [0xeb, 2, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0x74, 0xfa, 0xc3];
        assert_eq!(find_short_jumps_in(0x1004, 0x1000, &code), [(0x1004, 0x1001), (0x1004, 0x1009)]);
    }
}
