//! All accesses through modelled caches, once for each line size and each size of the caches.

use super::accesses::Accesses;
use super::machine::ScoredMachine;
use super::subjects::{NONE, Subjects};
use fieldline_cachemodel::{Hierarchy, ServedLevel};

/// The odd multiplier that spreads lines over sets (golden ratio of 2^64; Knuth, The Art of Computer Programming 3, 6.4).
const HASH_MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Sizes of the caches as parts of the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CacheScale {
    Whole,
    Half,
    Double,
}

impl CacheScale {
    pub(super) const ALL: [Self; 3] = [Self::Whole, Self::Half, Self::Double];

    fn scaled(self, bytes: u64) -> u64 {
        match self {
            Self::Whole => bytes,
            Self::Half => bytes / 2,
            Self::Double => bytes.saturating_mul(2),
        }
    }
}

/// Accesses by the level that served them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MissCounts {
    /// Missed the CPU's own caches, or had to ask before they could write.
    pub(super) second: u64,
    /// Served by memory.
    pub(super) shared: u64,
    /// Served by another CPU, which had written the line.
    pub(super) modified: u64,
}

impl MissCounts {
    fn add(&mut self, level: ServedLevel) {
        self.second += u64::from(level > ServedLevel::Second);
        self.shared += u64::from(level == ServedLevel::Memory);
        self.modified += u64::from(level == ServedLevel::Modified);
    }
}

/// Counts of one modelled machine.
#[derive(Clone, Debug, Default)]
pub(super) struct MachineCounts {
    pub(super) structs: Vec<MissCounts>,
    pub(super) functions: Vec<MissCounts>,
    pub(super) all: MissCounts,
}

/// Counts by scale of the caches and by line size, in the order of [`CacheScale::ALL`] and of the machine's lines.
pub(super) fn count(
    accesses: &Accesses<'_>,
    subjects: &Subjects,
    (machine, structs): (&ScoredMachine, usize),
) -> Vec<((CacheScale, u64), MachineCounts)> {
    let pairs = CacheScale::ALL.iter().flat_map(|scale| machine.lines.iter().map(|line| (*scale, *line)));
    let pairs: Vec<(CacheScale, u64)> = pairs.collect();
    let counts = fieldline_parallel::map(&pairs, |(scale, line)| {
        count_machine(accesses, subjects, (machine.caches.map(|bytes| scale.scaled(bytes)), *line), structs)
    });
    pairs.into_iter().zip(counts).collect()
}

fn count_machine(
    accesses: &Accesses<'_>,
    subjects: &Subjects,
    (caches, line): ([u64; 3], u64),
    structs: usize,
) -> MachineCounts {
    let mut hierarchy = Hierarchy::new(accesses.cpus, caches, line, HASH_MULTIPLIER);
    let mut counts = MachineCounts {
        structs: vec![MissCounts::default(); structs],
        functions: vec![MissCounts::default(); subjects.names.len()],
        ..MachineCounts::default()
    };
    let whose = subjects.structs.iter().zip(&subjects.functions);
    for (access, (of_struct, of_function)) in accesses.iter().zip(whose) {
        let (first, last) = (access.address / line, access.address.saturating_add(access.size - 1) / line);
        let served = (first..=last).map(|line| hierarchy.access(access.cpu, line, access.is_store));
        let Some(level) = served.max() else { continue };
        counts.all.add(level);
        for (list, number) in [(&mut counts.structs, *of_struct), (&mut counts.functions, *of_function)] {
            if let Some(count) = list.get_mut(usize::from(number)).filter(|_| number != NONE) {
                count.add(level);
            }
        }
    }
    counts
}
