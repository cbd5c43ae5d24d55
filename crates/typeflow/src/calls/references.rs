//! All places that may call a function or take its address.
//!
//! Code of x86-64 names a function by a 4-byte distance (`call`, `jmp`, `lea`) or address (`mov`) somewhere in an
//! instruction, data by an 8-byte address. Every position is tried: what is found too much does no harm, because
//! nobody finds an instruction there.

mod aarch64;

use crate::program::Program;
use fieldline_machinecode::architecture::Architecture;
use rayon::prelude::*;

/// How much code is searched at once.
const CHUNK: usize = 1 << 20;

/// How far off the jumps are that have a distance of one byte, themselves included.
const SHORT_JUMP: u64 = 130;

/// Positions that name functions.
#[derive(Clone, Debug, Default)]
pub struct References {
    /// Function's entry and position in code; sorted.
    code: Vec<(u64, u64)>,
    /// Entries that are named in data; sorted.
    data: Vec<u64>,
}

impl References {
    /// Finds all positions that name one of some entries.
    pub fn find(program: &Program<'_>, entries: &[u64]) -> Self {
        let Some(wanted) = Wanted::new(entries) else {
            return Self::default();
        };
        let mut code = match program.architecture {
            Architecture::X86_64 => in_x86(&wanted, program, entries),
            Architecture::AArch64 => in_aarch64(&wanted, program),
        };
        code.sort_unstable();
        code.dedup();
        let tables = program.listing_tables();
        let data = program.data.par_iter().flat_map_iter(|(address, bytes)| {
            let words = (0u64..).zip(bytes.chunks_exact(8));
            let words =
                words.filter_map(|(index, word)| Some((index, u64::from_le_bytes(word.try_into().ok()?))));
            let named = words.filter(|(_, word)| wanted.has(*word));
            let listed = named.filter(|(index, _)| {
                let at = address.wrapping_add(index * 8);
                !tables.iter().any(|table| table.contains(&at))
            });
            listed.map(|(_, word)| word).collect::<Vec<_>>()
        });
        let mut data: Vec<_> = data.collect();
        data.extend(program.loaded_words.iter().filter(|word| wanted.has(**word)));
        data.sort_unstable();
        data.dedup();
        Self { code, data }
    }

    /// Positions in code that name an entry; `None` if data names it too, so that anybody may call it.
    pub fn of(&self, entry: u64) -> Option<&[(u64, u64)]> {
        if self.data.binary_search(&entry).is_ok() {
            return None;
        }
        let first = self.code.partition_point(|(target, _)| *target < entry);
        let past = self.code.partition_point(|(target, _)| *target <= entry);
        self.code.get(first..past)
    }
}

fn in_x86(wanted: &Wanted, program: &Program<'_>, entries: &[u64]) -> Vec<(u64, u64)> {
    let sections = program.image.sections().iter();
    let chunks: Vec<(u64, &[u8])> = sections.flat_map(|(address, bytes)| chunks(*address, bytes)).collect();
    let code = chunks.par_iter().flat_map_iter(|(address, bytes)| in_code(wanted, *address, bytes));
    let mut code: Vec<_> = code.collect();
    code.extend(entries.iter().flat_map(|entry| short_jumps(program, *entry)));
    code
}

fn in_aarch64(wanted: &Wanted, program: &Program<'_>) -> Vec<(u64, u64)> {
    let pieces = program.image.sections().iter().flat_map(|(address, bytes)| {
        let begins = (0u64..).step_by(CHUNK);
        begins.map(|begin| address.wrapping_add(begin)).zip(bytes.chunks(CHUNK))
    });
    let pieces: Vec<(u64, &[u8])> = pieces.collect();
    let code = pieces.par_iter().flat_map_iter(|(address, bytes)| aarch64::in_code(wanted, *address, bytes));
    code.collect()
}

/// Overlapping pieces of a section.
fn chunks(address: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (0..bytes.len()).step_by(CHUNK).map(move |begin| {
        // Two bytes more in front tell what a number is, three behind complete it.
        let (begin, end) = (begin.saturating_sub(2), bytes.len().min(begin + CHUNK + 3));
        (address.wrapping_add(begin as u64), bytes.get(begin..end).unwrap_or(&[]))
    })
}

fn in_code(wanted: &Wanted, address: u64, bytes: &[u8]) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    for (index, word) in bytes.windows(4).enumerate() {
        let Ok(word) = <[u8; 4]>::try_from(word) else { continue };
        let number = i64::from(i32::from_le_bytes(word));
        let position = address.wrapping_add(index as u64);
        let near = position.wrapping_add(4).wrapping_add_signed(number);
        if wanted.has(near) && is_distance(bytes.get(..index).unwrap_or(&[])) {
            found.push((near, position));
        }
        if wanted.has(number as u64) {
            found.push((number as u64, position));
        }
    }
    found
}

/// Positions of one-byte distances to an entry: jumps from functions close by, as assemblers shorten them.
fn short_jumps(program: &Program<'_>, entry: u64) -> Vec<(u64, u64)> {
    let begin = entry.saturating_sub(SHORT_JUMP);
    // Where the code before is of another section, nothing that lies there is close by.
    let begin = if program.image.contains(begin) { begin } else { entry };
    in_short_jumps(entry, begin, program.image.code(begin, entry.saturating_add(SHORT_JUMP)))
}

fn in_short_jumps(entry: u64, begin: u64, code: &[u8]) -> Vec<(u64, u64)> {
    let pairs = (begin..).zip(code.windows(2));
    let jumps = pairs.filter_map(|(at, pair)| match pair {
        [0xeb | 0x70..=0x7f, distance] => Some((at, i64::from(*distance as i8))),
        _ => None,
    });
    let here = jumps.filter(|(at, distance)| at.wrapping_add(2).wrapping_add_signed(*distance) == entry);
    here.map(|(at, _)| (entry, at.wrapping_add(1))).collect()
}

/// Whether what stands in front of a number may take it for a distance: `call`, `jmp`, a conditional jump, or an operand
/// relative to rip (Intel SDM volume 2, table 2-2).
fn is_distance(before: &[u8]) -> bool {
    match before {
        [.., 0x0f, 0x80..=0x8f] => true,
        [.., last] => matches!(last, 0xe8 | 0xe9) || last & 0xc7 == 0x05,
        [] => false,
    }
}

/// A set of addresses that lie close together.
struct Wanted {
    first: u64,
    /// A bit for each `BLOCK` bytes: whether an address is among them. Most questions end here, and this much stays in
    /// the cache.
    blocks: Bits,
    /// A bit for each byte.
    bytes: Bits,
    /// All of them, sorted.
    sorted: Vec<u64>,
}

/// Largest distance between the addresses of a set, in bytes.
const MAX_SPAN: u64 = 1 << 30;
/// Bytes that share a bit.
const BLOCK: u64 = 256;

impl Wanted {
    /// `None` if there are none, or they are absurdly far apart.
    fn new(entries: &[u64]) -> Option<Self> {
        let (first, last) = (*entries.iter().min()?, *entries.iter().max()?);
        let span = last.checked_sub(first).filter(|span| *span < MAX_SPAN)?;
        let mut wanted =
            Self { first, blocks: Bits::new(span / BLOCK), bytes: Bits::new(span), sorted: entries.to_vec() };
        wanted.sorted.sort_unstable();
        for entry in entries {
            wanted.blocks.set((entry - first) / BLOCK);
            wanted.bytes.set(entry - first);
        }
        Some(wanted)
    }

    /// Those in a range.
    fn within(&self, begin: u64, size: u64) -> &[u64] {
        let first = self.sorted.partition_point(|address| *address < begin);
        let past = self.sorted.partition_point(|address| *address < begin.saturating_add(size));
        self.sorted.get(first..past).unwrap_or(&[])
    }

    #[inline]
    fn has(&self, address: u64) -> bool {
        let distance = address.wrapping_sub(self.first);
        self.blocks.has(distance / BLOCK) && self.bytes.has(distance)
    }
}

/// A set of small numbers.
struct Bits(Vec<u64>);

impl Bits {
    /// An empty set of numbers up to a largest.
    fn new(last: u64) -> Self {
        Self(vec![0; (last / 64) as usize + 1])
    }

    fn set(&mut self, number: u64) {
        if let Some(word) = self.0.get_mut((number / 64) as usize) {
            *word |= 1 << (number % 64);
        }
    }

    #[inline]
    fn has(&self, number: u64) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_addresses_are_found_at_any_position() {
        let wanted = Wanted::new(&[0x1100, 0x1130]).unwrap();
        // call 0x1100 from 0x1000, then mov $0x1130
        let mut code = vec![0xe8];
        code.extend(0xfb_i32.to_le_bytes());
        code.push(0xb8);
        code.extend(0x1130_i32.to_le_bytes());
        assert_eq!(in_code(&wanted, 0x1000, &code), [(0x1100, 0x1001), (0x1130, 0x1006)]);
        assert!(!wanted.has(0x1101) && !wanted.has(0) && !wanted.has(u64::MAX));
        assert!(Wanted::new(&[]).is_none() && Wanted::new(&[0, u64::MAX]).is_none());
    }

    #[test]
    fn short_jumps_are_found_from_both_sides() {
        // jmp +2 from 0x1000; at 0x1004 the entry; je -6 from 0x1008
        let code = [0xeb, 2, 0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0x74, 0xfa, 0xc3];
        assert_eq!(in_short_jumps(0x1004, 0x1000, &code), [(0x1004, 0x1001), (0x1004, 0x1009)]);
    }

    #[test]
    fn pieces_overlap_so_that_nothing_is_cut() {
        let bytes = vec![0; CHUNK + 10];
        let pieces: Vec<_> = chunks(0x10, &bytes).map(|(address, bytes)| (address, bytes.len())).collect();
        assert_eq!(pieces, [(0x10, CHUNK + 3), (0x10 + CHUNK as u64 - 2, 12)]);
    }
}
