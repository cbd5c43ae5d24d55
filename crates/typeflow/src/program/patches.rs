//! Code that the kernel changes when it boots.
//!
//! * `.altinstructions` (`struct alt_instr` in asm/alternative.h of x86 and arm64) lists instructions that
//!   are replaced by others depending on the processor. What is sampled may be the replacement.
//! * `__jump_table` (`struct jump_entry` in include/linux/jump_label.h) lists `nop`s that may be jumps and
//!   the other way round: both ways must be followed.
//! * `__bug_table` (`struct bug_entry` in include/asm-generic/bug.h) lists `ud2`s. Those that only warn are
//!   passed.

use super::symbols::Symbols;
use fieldline_debuginfo::Elf;
use fieldline_machinecode::architecture::Architecture;

/// Instructions that may stand in place of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Where the original instructions stand.
    pub original: u64,
    /// Bytes of the original instructions.
    pub length: u8,
    /// Where the others stand in the file.
    pub replacement: u64,
    /// Bytes of the others.
    pub replacement_length: u8,
}

/// All places of a kernel that are patched.
#[derive(Clone, Debug, Default)]
pub struct Patches {
    alternatives: Vec<Alternative>,
    /// Address of the `nop` or jump, and where the jump leads.
    jumps: Vec<(u64, u64)>,
    /// Addresses of `ud2`s that only warn.
    warnings: Vec<u64>,
}

/// Bytes of a `struct alt_instr`: two offsets, two halves of flags, two lengths.
const ALTERNATIVE_SIZE: usize = 14;
/// The same of arm64, with one half of flags. Without a replacement its offset is that of a function that
/// changes the original (ALTERNATIVE_CB).
const ARM64_ALTERNATIVE_SIZE: usize = 12;
/// Bytes of a `struct jump_entry`: two offsets and a key.
const JUMP_SIZE: usize = 16;
/// Bytes of a `struct bug_entry` with file and line (CONFIG_DEBUG_BUGVERBOSE): two offsets, line, flags.
const BUG_SIZE: usize = 12;
/// `BUGFLAG_WARNING`
const BUG_IS_WARNING: u8 = 1;

impl Patches {
    /// Reads the tables of a kernel; none for other programs. A table that is cut ends where it is cut.
    pub fn new(architecture: Architecture, elf: &Elf<'_>, symbols: &Symbols<'_>) -> Self {
        let alternatives = section_content(elf, elf.section_range(".altinstructions"));
        let jumps = section_content(elf, jump_table(elf, symbols));
        let bugs = section_content(elf, elf.section_range("__bug_table"));
        let mut patches = Self {
            warnings: parse_entries(&bugs, BUG_SIZE, parse_warning),
            alternatives: match architecture {
                Architecture::X86_64 => parse_entries(&alternatives, ALTERNATIVE_SIZE, parse_alternative),
                Architecture::AArch64 => {
                    parse_entries(&alternatives, ARM64_ALTERNATIVE_SIZE, parse_alternative)
                }
            },
            jumps: parse_entries(&jumps, JUMP_SIZE, parse_jump),
        };
        patches.alternatives.sort_by_key(|entry| (entry.original, entry.replacement));
        patches.jumps.sort_unstable();
        patches.warnings.sort_unstable();
        patches
    }

    /// Whether a `ud2` only warns, so that the program goes on behind it.
    pub fn is_warning(&self, address: u64) -> bool {
        self.warnings.binary_search(&address).is_ok()
    }

    /// Whether the instruction at an address may be replaced.
    pub fn may_be_replaced(&self, address: u64) -> bool {
        self.alternatives_at(address).any(|entry| address - entry.original < u64::from(entry.length))
    }

    /// Alternatives whose original covers an address, or whose replacement would when it stands there.
    pub fn alternatives_at(&self, address: u64) -> impl Iterator<Item = &Alternative> {
        let first = self.alternatives.partition_point(|entry| entry.original.saturating_add(255) < address);
        let near = self.alternatives.get(first..).unwrap_or(&[]).iter();
        near.take_while(move |entry| entry.original <= address).filter(move |entry| {
            address - entry.original < u64::from(entry.length.max(entry.replacement_length))
        })
    }

    /// Where an instruction jumps to if it is patched to be a jump.
    pub fn jumps_at(&self, address: u64) -> impl Iterator<Item = u64> {
        let first = self.jumps.partition_point(|(from, _)| *from < address);
        let rest = self.jumps.get(first..).unwrap_or(&[]).iter();
        rest.take_while(move |(from, _)| *from == address).map(|(_, to)| *to)
    }
}

/// Where the jump table is: a section of a module, a part of the read-only data of a kernel.
fn jump_table(elf: &Elf<'_>, symbols: &Symbols<'_>) -> Option<(u64, u64)> {
    let section = elf.section_range("__jump_table").filter(|(_, size)| *size > 0);
    section.or_else(|| {
        let start = symbols.find_by_name("__start___jump_table")?.address;
        let stop = symbols.find_by_name("__stop___jump_table")?.address;
        Some((start, stop.checked_sub(start)?))
    })
}

fn section_content<'d>(elf: &Elf<'d>, range: Option<(u64, u64)>) -> (u64, &'d [u8]) {
    let content = range.and_then(|(address, size)| Some((address, elf.bytes_at(address, size)?)));
    content.unwrap_or((0, &[]))
}

fn parse_entries<T>(table: &(u64, &[u8]), size: usize, parse: impl Fn(u64, &[u8]) -> Option<T>) -> Vec<T> {
    let (address, bytes) = *table;
    let entries = (0u64..).zip(bytes.chunks_exact(size));
    entries.filter_map(|(index, entry)| parse(address.wrapping_add(index * size as u64), entry)).collect()
}

/// A distance stored at an address, as the address it leads to.
fn relative_address(address: u64, entry: &[u8], at: usize) -> Option<u64> {
    let bytes = entry.get(at..at + 4)?.try_into().ok()?;
    let distance = i64::from(i32::from_le_bytes(bytes));
    Some(address.wrapping_add(at as u64).wrapping_add_signed(distance))
}

fn parse_alternative(address: u64, entry: &[u8]) -> Option<Alternative> {
    Some(Alternative {
        original: relative_address(address, entry, 0)?,
        replacement: relative_address(address, entry, 4)?,
        // The lengths come last.
        length: *entry.get(entry.len().checked_sub(2)?)?,
        replacement_length: *entry.last()?,
    })
}

fn parse_warning(address: u64, entry: &[u8]) -> Option<u64> {
    let is_warning = entry.get(10)? & BUG_IS_WARNING != 0;
    relative_address(address, entry, 0).filter(|_| is_warning)
}

fn parse_jump(address: u64, entry: &[u8]) -> Option<(u64, u64)> {
    Some((relative_address(address, entry, 0)?, relative_address(address, entry, 4)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_from_where_they_stand() {
        let mut entry = [0; ALTERNATIVE_SIZE];
        entry[..4].copy_from_slice(&(-0x100_i32).to_le_bytes());
        entry[4..8].copy_from_slice(&0x40_i32.to_le_bytes());
        entry[12..].copy_from_slice(&[6, 3]);
        let found = parse_entries(&(0x1000, &entry), ALTERNATIVE_SIZE, parse_alternative);
        let expected = Alternative { original: 0xf00, length: 6, replacement: 0x1044, replacement_length: 3 };
        assert_eq!(found, [expected]);
        let patches = Patches { alternatives: found, jumps: vec![(0x10, 0x90)], warnings: Vec::new() };
        assert_eq!(patches.alternatives_at(0xf05).count(), 1);
        assert_eq!(patches.alternatives_at(0xf06).count(), 0);
        assert_eq!(patches.alternatives_at(0xeff).count(), 0);
        assert_eq!(patches.jumps_at(0x10).collect::<Vec<_>>(), [0x90]);
        assert_eq!(patches.jumps_at(0x11).count(), 0);
    }

    #[test]
    fn a_cut_table_ends_where_it_is_cut() {
        assert_eq!(parse_entries(&(0, &[0; 20]), JUMP_SIZE, parse_jump).len(), 1);
    }
}
