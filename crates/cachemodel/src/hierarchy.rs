//! Private caches of CPUs over a shared one, coherent by MESI (Papamarcos and Patel, 1984) and a complete directory.

use crate::cache::Cache;
use rustc_hash::FxHashMap;

/// Most CPUs a hierarchy has.
pub const MAX_CPUS: usize = 256;
/// Ways of the private caches and of the shared one.
const PRIVATE_WAYS: usize = 8;
const SHARED_WAYS: usize = 16;

/// Where an access was served from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Served {
    /// The CPU's first-level cache.
    First,
    /// The CPU's second-level cache.
    Second,
    /// The shared cache, or another CPU's that had the line unchanged.
    Shared,
    /// Another CPU's cache, which had written the line (HITM).
    Modified,
    /// Memory.
    Memory,
}

#[derive(Clone, Copy, Debug, Default)]
struct Holders {
    cpus: [u64; MAX_CPUS / 64],
    /// Who may write it without asking, one more than its number; 0: nobody.
    owner: u32,
}

impl Holders {
    fn has(&self, cpu: usize) -> bool {
        self.cpus[cpu / 64] & 1 << (cpu % 64) != 0
    }

    fn others(&self, cpu: usize) -> impl Iterator<Item = usize> + use<> {
        let mut cpus = self.cpus;
        cpus[cpu / 64] &= !(1 << (cpu % 64));
        let words = (0..).zip(cpus).filter(|(_, word)| *word != 0);
        words.flat_map(|(index, word)| {
            (0..64).filter(move |bit| word & 1 << bit != 0).map(move |bit| index * 64 + bit)
        })
    }

    fn owner(&self) -> Option<usize> {
        (self.owner as usize).checked_sub(1)
    }
}

/// The caches of a machine.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    first: Vec<Cache>,
    second: Vec<Cache>,
    shared: Cache,
    directory: FxHashMap<u64, Holders>,
}

impl Hierarchy {
    /// Empty caches of `cpus` CPUs, at most [`MAX_CPUS`]; sizes in bytes of the first, second and shared level.
    /// `spread` decides which lines share sets.
    pub fn new(cpus: usize, sizes: [u64; 3], line: u64, spread: u64) -> Self {
        let cpus = cpus.min(MAX_CPUS);
        let private = |bytes| vec![Cache::new(bytes, line, PRIVATE_WAYS, spread); cpus];
        Self {
            first: private(sizes[0]),
            second: private(sizes[1]),
            shared: Cache::new(sizes[2], line, SHARED_WAYS, spread),
            directory: FxHashMap::default(),
        }
    }

    /// An access of a CPU to a line; CPUs that are not there have no caches.
    pub fn access(&mut self, cpu: usize, line: u64, is_store: bool) -> Served {
        if cpu >= self.second.len() {
            return Served::Memory;
        }
        let mut holders = self.directory.get(&line).copied().unwrap_or_default();
        let may = if is_store { holders.owner() == Some(cpu) } else { holders.has(cpu) };
        let outcome = self.serve(cpu, line, &holders, may);
        if is_store {
            for other in holders.others(cpu) {
                self.first[other].drop(line);
                self.second[other].drop(line);
            }
            holders = Holders { owner: cpu as u32 + 1, ..Holders::default() };
        } else if holders.owner() != Some(cpu) {
            holders.owner = 0;
        }
        holders.cpus[cpu / 64] |= 1 << (cpu % 64);
        self.directory.insert(line, holders);
        outcome
    }

    /// Finds the line and brings it to the CPU. The first level holds nothing the second does not.
    fn serve(&mut self, cpu: usize, line: u64, holders: &Holders, may: bool) -> Served {
        let in_first = may && self.first[cpu].hit(line);
        if may && self.second[cpu].hit(line) {
            if !in_first {
                self.first[cpu].fill(line);
            }
            return if in_first { Served::First } else { Served::Second };
        }
        let owner = holders.owner().filter(|owner| *owner != cpu);
        let is_modified = owner.is_some_and(|owner| self.second[owner].hit(line));
        let is_shared = self.shared.touch(line);
        self.second[cpu].touch(line);
        self.first[cpu].touch(line);
        match is_shared {
            _ if is_modified => Served::Modified,
            true => Served::Shared,
            false => Served::Memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Hierarchy {
        Hierarchy::new(2, [1 << 10, 4 << 10, 64 << 10], 64, 0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn states_of_a_line_change_as_mesi_says() {
        let mut machine = machine();
        let steps = [
            // invalid: from memory, then exclusive or shared: from the own cache
            (0, false, Served::Memory),
            (0, false, Served::First),
            // the other reads: both share it
            (1, false, Served::Shared),
            // a store must ask, and takes it from the other
            (0, true, Served::Shared),
            (0, true, Served::First),
            (0, false, Served::First),
            // modified elsewhere, then shared
            (1, false, Served::Modified),
            (0, false, Served::First),
            (1, false, Served::First),
            (1, true, Served::Shared),
            (0, true, Served::Modified),
        ];
        for (number, (cpu, is_store, expected)) in steps.into_iter().enumerate() {
            assert_eq!(machine.access(cpu, 5, is_store), expected, "step {number}");
        }
    }

    #[test]
    fn what_falls_out_of_the_first_level_is_in_the_second() {
        let mut machine = machine();
        for line in 0..32 {
            machine.access(0, line, false);
        }
        assert_eq!(machine.access(0, 0, false), Served::Second);
        for line in 0..800 {
            machine.access(0, line, false);
        }
        assert_eq!(machine.access(0, 600, false), Served::Shared);
    }
}
