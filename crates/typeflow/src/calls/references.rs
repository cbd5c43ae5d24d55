//! All places that may call a function or take its address.
//!
//! Code of x86-64 names a function by a 4-byte distance (`call`, `jmp`, `lea`) or address (`mov`), data by an
//! 8-byte address. Every position is tried: false matches do no harm, because no instruction is at them.

mod aarch64;
mod address_set;
mod x86;

use crate::program::Program;
use address_set::AddressSet;
use fieldline_machinecode::architecture::Architecture;
use rayon::prelude::*;
use std::ops::Range;

const CHUNK: usize = 1 << 20;

/// Entries that the code at an address names, with where.
type ReferenceFinder = fn(&AddressSet, u64, &[u8]) -> Vec<(u64, u64)>;

#[derive(Clone, Debug, Default)]
pub(crate) struct References {
    /// Function's entry and position in code; sorted.
    code: Vec<(u64, u64)>,
    /// Entries that are named in data; sorted.
    data: Vec<u64>,
}

impl References {
    /// Finds all positions that name one of some entries.
    pub(crate) fn find(program: &Program<'_>, entries: &[u64]) -> Self {
        let Some(wanted) = AddressSet::new(entries) else { return Self::default() };
        let is_x86 = program.architecture == Architecture::X86_64;
        let (find_references, before, behind): (ReferenceFinder, _, _) = if is_x86 {
            (x86::find_references, x86::BYTES_BEFORE, x86::BYTES_BEHIND)
        } else {
            (aarch64::find_references, 0, 0)
        };
        let sections = program.image.sections().iter();
        let chunks = sections.flat_map(|(address, bytes)| chunks(*address, bytes, before, behind));
        let chunks: Vec<(u64, &[u8])> = chunks.collect();
        let code = chunks.par_iter().flat_map_iter(|(at, bytes)| find_references(&wanted, *at, bytes));
        let mut code: Vec<_> = code.collect();
        if is_x86 {
            code.extend(entries.iter().flat_map(|entry| x86::find_short_jumps(program, *entry)));
        }
        code.sort_unstable();
        code.dedup();
        let tables = listing_tables(program);
        let data = program.data.par_iter().flat_map_iter(|(address, bytes)| {
            let values = (*address..).step_by(8).zip(bytes.chunks_exact(8));
            let values = values.filter_map(|(at, raw)| Some((at, u64::from_le_bytes(raw.try_into().ok()?))));
            let named = values.filter(|(_, target)| wanted.contains(*target));
            let listed = named.filter(|(at, _)| !tables.iter().any(|table| table.contains(at)));
            listed.map(|(_, target)| target).collect::<Vec<_>>()
        });
        let mut data: Vec<_> = data.collect();
        data.extend(program.relocated_pointers.iter().filter(|target| wanted.contains(**target)));
        data.sort_unstable();
        data.dedup();
        Self { code, data }
    }

    /// Positions in code that name an entry; `None` if data names it too, so that anybody may call it.
    pub(crate) fn code_positions(&self, entry: u64) -> Option<&[(u64, u64)]> {
        if self.data.binary_search(&entry).is_ok() {
            return None;
        }
        let first = self.code.partition_point(|(target, _)| *target < entry);
        let past = self.code.partition_point(|(target, _)| *target <= entry);
        self.code.get(first..past)
    }
}

/// Tables that list functions without anybody calling them by it: places to trace
/// (`__mcount_loc`, include/asm-generic/vmlinux.lds.h) and functions that must not be probed.
fn listing_tables(program: &Program<'_>) -> Vec<Range<u64>> {
    let tables = [
        ("__start_mcount_loc", "__stop_mcount_loc"),
        ("__start_kprobe_blacklist", "__stop_kprobe_blacklist"),
    ];
    let address = |name| program.symbols.find_by_name(name).map(|symbol| symbol.address);
    tables.into_iter().filter_map(|(start, stop)| Some(address(start)?..address(stop)?)).collect()
}

/// Pieces of a section, which begin and end some bytes beyond.
fn chunks(address: u64, bytes: &[u8], before: usize, behind: usize) -> impl Iterator<Item = (u64, &[u8])> {
    (0..bytes.len()).step_by(CHUNK).map(move |begin| {
        let (begin, end) = (begin.saturating_sub(before), bytes.len().min(begin + CHUNK + behind));
        (address.wrapping_add(begin as u64), bytes.get(begin..end).unwrap_or(&[]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_overlap_so_that_nothing_is_cut() {
        let bytes = vec![0; CHUNK + 10];
        let pieces = |before, behind| -> Vec<(u64, usize)> {
            chunks(0x10, &bytes, before, behind).map(|(address, bytes)| (address, bytes.len())).collect()
        };
        let second = 0x10 + CHUNK as u64;
        assert_eq!(pieces(x86::BYTES_BEFORE, x86::BYTES_BEHIND), [(0x10, CHUNK + 3), (second - 2, 12)]);
        assert_eq!(pieces(0, 0), [(0x10, CHUNK), (second, 10)]);
    }
}
