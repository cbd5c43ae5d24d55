//! Private caches of CPUs over a shared one, coherent by MESI (Papamarcos and Patel, 1984) and a complete
//! directory.

use crate::cache::Cache;
use rustc_hash::FxHashMap;

/// Most CPUs a hierarchy has.
pub const MAX_CPUS: usize = 256;
/// Ways of the private caches and of the shared one.
const PRIVATE_WAYS: usize = 8;
const SHARED_WAYS: usize = 16;

/// The level that served an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServedLevel {
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
struct DirectoryEntry {
    cpus: [u64; MAX_CPUS / 64],
    /// The exclusive owner's CPU number.
    owner: Option<usize>,
}

impl DirectoryEntry {
    fn has(&self, cpu: usize) -> bool {
        self.cpus[cpu / 64] & 1 << (cpu % 64) != 0
    }

    fn other_cpus(&self, cpu: usize) -> impl Iterator<Item = usize> + use<> {
        let mut cpus = self.cpus;
        cpus[cpu / 64] &= !(1 << (cpu % 64));
        let words = (0..).zip(cpus).filter(|(_, word)| *word != 0);
        words.flat_map(|(index, word)| {
            (0..64).filter(move |bit| word & 1 << bit != 0).map(move |bit| index * 64 + bit)
        })
    }
}

/// The caches of a machine.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    first: Vec<Cache>,
    second: Vec<Cache>,
    shared: Cache,
    directory: FxHashMap<u64, DirectoryEntry>,
}

impl Hierarchy {
    /// Empty caches of `cpus` CPUs, at most [`MAX_CPUS`]; sizes in bytes of the first, second and shared
    /// level. `hash_multiplier` is the odd one that hashes lines to sets.
    pub fn new(cpus: usize, sizes: [u64; 3], line: u64, hash_multiplier: u64) -> Self {
        let cpus = cpus.min(MAX_CPUS);
        let private = |bytes| vec![Cache::new(bytes, line, PRIVATE_WAYS, hash_multiplier); cpus];
        Self {
            first: private(sizes[0]),
            second: private(sizes[1]),
            shared: Cache::new(sizes[2], line, SHARED_WAYS, hash_multiplier),
            directory: FxHashMap::default(),
        }
    }

    /// An access of a CPU to a line; CPUs that are not there have no caches.
    pub fn access(&mut self, cpu: usize, line: u64, is_store: bool) -> ServedLevel {
        if cpu >= self.second.len() {
            return ServedLevel::Memory;
        }
        let mut entry = self.directory.get(&line).copied().unwrap_or_default();
        let may_hit = if is_store { entry.owner == Some(cpu) } else { entry.has(cpu) };
        let outcome = self.serve(cpu, line, &entry, may_hit);
        if is_store {
            for other in entry.other_cpus(cpu) {
                self.first[other].invalidate(line);
                self.second[other].invalidate(line);
            }
            entry = DirectoryEntry { owner: Some(cpu), ..DirectoryEntry::default() };
        } else if entry.owner != Some(cpu) {
            entry.owner = None;
        }
        entry.cpus[cpu / 64] |= 1 << (cpu % 64);
        self.directory.insert(line, entry);
        outcome
    }

    /// Finds the line and brings it to the CPU. The first level holds nothing the second does not.
    fn serve(&mut self, cpu: usize, line: u64, entry: &DirectoryEntry, may_hit: bool) -> ServedLevel {
        let in_first = may_hit && self.first[cpu].hit(line);
        if may_hit && self.second[cpu].hit(line) {
            if !in_first {
                self.first[cpu].fill(line);
            }
            return if in_first { ServedLevel::First } else { ServedLevel::Second };
        }
        let owner = entry.owner.filter(|owner| *owner != cpu);
        let is_modified = owner.is_some_and(|owner| self.second[owner].hit(line));
        let is_shared = self.shared.touch(line);
        self.second[cpu].touch(line);
        self.first[cpu].touch(line);
        match is_shared {
            _ if is_modified => ServedLevel::Modified,
            true => ServedLevel::Shared,
            false => ServedLevel::Memory,
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
            (0, false, ServedLevel::Memory),
            (0, false, ServedLevel::First),
            // the other reads: both share it
            (1, false, ServedLevel::Shared),
            // a store must ask, and takes it from the other
            (0, true, ServedLevel::Shared),
            (0, true, ServedLevel::First),
            (0, false, ServedLevel::First),
            // modified elsewhere, then shared
            (1, false, ServedLevel::Modified),
            (0, false, ServedLevel::First),
            (1, false, ServedLevel::First),
            (1, true, ServedLevel::Shared),
            (0, true, ServedLevel::Modified),
        ];
        for (number, (cpu, is_store, expected)) in steps.into_iter().enumerate() {
            assert_eq!(machine.access(cpu, 5, is_store), expected, "step {number}");
        }
    }

    #[test]
    fn lines_evicted_from_the_first_level_are_in_the_second() {
        let mut machine = machine();
        for line in 0..32 {
            machine.access(0, line, false);
        }
        assert_eq!(machine.access(0, 0, false), ServedLevel::Second);
        for line in 0..800 {
            machine.access(0, line, false);
        }
        assert_eq!(machine.access(0, 600, false), ServedLevel::Shared);
    }
}
