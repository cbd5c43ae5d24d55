//! How often CPUs touch and write the places of a struct, at an object's home and away from it.
//!
//! An object has a home, the CPU that touches it most; what takes lines from the home is done away from it, and the other
//! way round. Rates are counted in runs of functions: the hottest instruction stands for a run.

use crate::access::{Access, TypeProfile};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a word: what one store writes at most, as a rule.
pub const WORD: u64 = 8;

/// Something at home and away from it, in samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sides {
    /// On the object's home CPU.
    pub home: f64,
    /// On other CPUs.
    pub away: f64,
}

impl Sides {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.home += other.home;
        self.away += other.away;
    }
}

/// How CPUs take turns on a struct as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Turns {
    /// Whether addresses told objects and with them their homes.
    pub has_homes: bool,
    /// CPUs that share an object besides its home.
    pub others: f64,
    /// Losses that samples show for each that independent turns would make, at most 1. Accesses come in visits, and CPUs
    /// work on one object by turns, so numbers that suppose chance are too high, by this much.
    pub seen: f64,
}

impl Turns {
    /// What the accesses to a struct tell, on lines of `line` bytes.
    pub fn new(of: &TypeProfile, line: u64) -> Self {
        let line = line.max(WORD);
        let has_homes = of.homes.samples > 0;
        let cpus: BTreeSet<u32> = of.cpus.iter().map(|access| access.cpu).collect();
        let others = match has_homes {
            true => of.homes.others as f64 / of.homes.samples as f64,
            false => cpus.len() as f64 - 1.0,
        };
        let turns = Self { has_homes, others: others.max(1.0), seen: 1.0 };
        let lost: u64 = of.accesses.iter().map(Access::lost).sum();
        let written = turns.written(of, |access| access.offset / line);
        let touched = turns.touched(of, |access| access.offset / line);
        let expected = touched.iter().map(|(line, touching)| {
            let taking = written.get(line).copied().unwrap_or_default();
            turns.at_home(*touching, taking) + turns.away(*touching, taking)
        });
        let expected: f64 = expected.sum();
        Self { seen: if expected > 0.0 { (lost as f64 / expected).min(1.0) } else { 1.0 }, ..turns }
    }

    /// Writes that take a line from who is away: those of the home and of all others that are away.
    pub fn foreign(&self, writes: Sides) -> f64 {
        writes.home + writes.away * (self.others - 1.0) / self.others
    }

    /// Losses at home if accesses and writes come at random.
    pub fn at_home(&self, touching: Sides, writes: Sides) -> f64 {
        turns(touching.home, writes.away)
    }

    /// Losses away from home if accesses and writes come at random.
    pub fn away(&self, touching: Sides, writes: Sides) -> f64 {
        self.others * turns(touching.away / self.others, self.foreign(writes))
    }

    /// Runs that touch each place.
    pub fn touched<K: Ord>(&self, of: &TypeProfile, place: impl Fn(&Access) -> K) -> BTreeMap<K, Sides> {
        self.runs(of, |access| (place(access), access.ip), |access| self.accesses(access))
    }

    /// Runs that write each place.
    pub fn stored<K: Ord>(&self, of: &TypeProfile, place: impl Fn(&Access) -> K) -> BTreeMap<K, Sides> {
        self.runs(of, |access| (place(access), access.ip), |access| self.stores(access))
    }

    /// Runs that write each place of several words: an instruction that writes several of them, of different objects,
    /// counts once for each.
    pub fn written<K: Ord>(&self, of: &TypeProfile, place: impl Fn(&Access) -> K) -> BTreeMap<K, Sides> {
        let key = |access: &Access| (place(access), (access.offset / WORD, access.ip));
        self.runs(of, key, |access| self.stores(access))
    }

    /// Sums over functions of the hottest key's samples at each place.
    fn runs<K: Ord, I: Ord>(
        &self,
        of: &TypeProfile,
        key: impl Fn(&Access) -> (K, I),
        samples: impl Fn(&Access) -> Sides,
    ) -> BTreeMap<K, Sides> {
        let mut by_instruction: BTreeMap<(K, u32, I), Sides> = BTreeMap::new();
        for access in &of.accesses {
            let (place, instruction) = key(access);
            by_instruction.entry((place, access.function, instruction)).or_default().add(samples(access));
        }
        let mut by_function: BTreeMap<(K, u32), Sides> = BTreeMap::new();
        for ((place, function, _), sides) in by_instruction {
            let most = by_function.entry((place, function)).or_default();
            *most = Sides { home: most.home.max(sides.home), away: most.away.max(sides.away) };
        }
        let mut sums: BTreeMap<K, Sides> = BTreeMap::new();
        for ((place, _), sides) in by_function {
            sums.entry(place).or_default().add(sides);
        }
        sums
    }

    /// An instruction's accesses to a place.
    pub fn accesses(&self, access: &Access) -> Sides {
        self.split(access.samples(), access.away.loads + access.away.stores)
    }

    /// Its stores.
    pub fn stores(&self, access: &Access) -> Sides {
        self.split(access.stores.samples, access.away.stores)
    }

    /// Those of its accesses that found the line lost to another CPU.
    pub fn losses(&self, access: &Access) -> Sides {
        self.split(access.lost(), access.away.lost)
    }

    /// Splits samples into those at home and those away. Where no object is known, all count as away.
    fn split(&self, all: u64, away: u64) -> Sides {
        let away = if self.has_homes { away.min(all) } else { all };
        Sides { home: (all - away) as f64, away: away as f64 }
    }
}

/// How often an access at rate `r` follows a write at rate `w` if both come at random.
fn turns(r: f64, w: f64) -> f64 {
    if r > 0.0 && w > 0.0 { r * w / (r + w) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{Away, Homes, Tally};

    fn access(function: u32, ip: u64, offset: u64, stores: u64, away: u64) -> Access {
        let stores = Tally { samples: stores, period: stores };
        let away = Away { stores: away, ..Away::default() };
        Access { function, ip, offset, size: 8, stores, away, ..Access::default() }
    }

    #[test]
    fn the_hottest_instruction_of_a_function_stands_for_its_runs() {
        let accesses = vec![access(0, 1, 0, 10, 4), access(0, 2, 0, 7, 7), access(1, 3, 8, 5, 0)];
        let of = TypeProfile {
            accesses,
            homes: Homes { samples: 22, others: 22 },
            size: 64,
            ..TypeProfile::default()
        };
        let turns = Turns::new(&of, 64);
        let line = turns.touched(&of, |access| access.offset / 64);
        assert_eq!(line[&0], Sides { home: 11.0, away: 7.0 });
        let words = turns.stored(&of, |access| access.offset);
        assert_eq!(words[&8], Sides { home: 5.0, away: 0.0 });
        assert_eq!(turns.seen, 0.0, "no sample lost its line");
    }
}
