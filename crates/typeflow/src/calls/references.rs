//! All places that may call a function or take its address.
//!
//! Code of x86-64 names a function by a 4-byte distance (`call`, `jmp`, `lea`) or address (`mov`) somewhere in an
//! instruction, data by an 8-byte address. Every position is tried: what is found too much does no harm, because
//! nobody finds an instruction there.

mod aarch64;
mod wanted;
mod x86;

use crate::program::Program;
use fieldline_machinecode::architecture::Architecture;
use rayon::prelude::*;
use wanted::Wanted;

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
        let Some(wanted) = Wanted::new(entries) else {
            return Self::default();
        };
        let mut code = match program.architecture {
            Architecture::X86_64 => x86::in_x86(&wanted, program, entries),
            Architecture::AArch64 => aarch64::in_aarch64(&wanted, program),
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
    pub(crate) fn of(&self, entry: u64) -> Option<&[(u64, u64)]> {
        if self.data.binary_search(&entry).is_ok() {
            return None;
        }
        let first = self.code.partition_point(|(target, _)| *target < entry);
        let past = self.code.partition_point(|(target, _)| *target <= entry);
        self.code.get(first..past)
    }
}
