//! How often CPUs touch and write offsets of a struct, on an object's home CPU and on others.
//!
//! The home CPU loses lines to stores of other CPUs, and other CPUs to stores of the home. Rates are counted
//! in runs of functions: the hottest instruction stands for a run.

use crate::access::{Access, TypeProfile};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a word: what one store writes at most, as a rule.
pub const WORD: u64 = 8;

/// Samples on an object's home CPU and on others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HomeAwaySamples {
    /// On the object's home CPU.
    pub home: f64,
    /// On other CPUs.
    pub away: f64,
}

impl HomeAwaySamples {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.home += other.home;
        self.away += other.away;
    }
}

/// How often CPUs lose the lines of a struct to each other, from its accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct LineLossModel {
    /// Whether addresses, and with them objects and their homes, were sampled.
    pub has_homes: bool,
    /// CPUs that share an object besides its home.
    pub other_cpus: f64,
    /// Losses sampled for each that independent accesses would cause, at most 1. Accesses come in visits, so
    /// a model of independent accesses overestimates by this factor.
    pub observed_share: f64,
}

impl LineLossModel {
    /// The model of a struct's accesses, on lines of `line` bytes.
    pub fn new(profile: &TypeProfile, line: u64) -> Self {
        let line = line.max(WORD);
        let has_homes = profile.homes.samples > 0;
        let cpus: BTreeSet<u32> = profile.cpus.iter().map(|access| access.cpu).collect();
        let other_cpus = match has_homes {
            true => profile.homes.others as f64 / profile.homes.samples as f64,
            false => cpus.len() as f64 - 1.0,
        };
        let model = Self { has_homes, other_cpus: other_cpus.max(1.0), observed_share: 1.0 };
        let lost = lost_lines(profile, line);
        let written = model.word_store_rates(profile, |access| access.offset / line);
        let touched = model.touch_rates(profile, |access| access.offset / line);
        let expected = touched.iter().map(|(line, touch_rates)| {
            let store_rates = written.get(line).copied().unwrap_or_default();
            model.home_losses(*touch_rates, store_rates) + model.away_losses(*touch_rates, store_rates)
        });
        let expected: f64 = expected.sum();
        Self { observed_share: if expected > 0.0 { (lost as f64 / expected).min(1.0) } else { 1.0 }, ..model }
    }

    /// Writes that take a line from one of the other CPUs: those of the home and of the rest.
    pub fn foreign_writes(&self, writes: HomeAwaySamples) -> f64 {
        writes.home + writes.away * (self.other_cpus - 1.0) / self.other_cpus
    }

    /// Losses at home if accesses and writes come at random.
    pub fn home_losses(&self, touch_rates: HomeAwaySamples, writes: HomeAwaySamples) -> f64 {
        alternation_rate(touch_rates.home, writes.away)
    }

    /// Losses away from home if accesses and writes come at random.
    pub fn away_losses(&self, touch_rates: HomeAwaySamples, writes: HomeAwaySamples) -> f64 {
        self.other_cpus * alternation_rate(touch_rates.away / self.other_cpus, self.foreign_writes(writes))
    }

    /// Runs that touch each group of accesses.
    pub fn touch_rates<K: Ord>(
        &self,
        profile: &TypeProfile,
        group_by: impl Fn(&Access) -> K,
    ) -> BTreeMap<K, HomeAwaySamples> {
        self.sum_runs(profile, |access| (group_by(access), access.ip), |access| self.split_accesses(access))
    }

    /// Runs that write each group.
    pub fn store_rates<K: Ord>(
        &self,
        profile: &TypeProfile,
        group_by: impl Fn(&Access) -> K,
    ) -> BTreeMap<K, HomeAwaySamples> {
        self.sum_runs(profile, |access| (group_by(access), access.ip), |access| self.split_stores(access))
    }

    /// Runs that write each group of several words: an instruction that writes several of them, of different
    /// objects, counts once for each.
    pub fn word_store_rates<K: Ord>(
        &self,
        profile: &TypeProfile,
        group_by: impl Fn(&Access) -> K,
    ) -> BTreeMap<K, HomeAwaySamples> {
        let key = |access: &Access| (group_by(access), (access.offset / WORD, access.ip));
        self.sum_runs(profile, key, |access| self.split_stores(access))
    }

    /// Sums over functions of the hottest key's samples in each group.
    fn sum_runs<K: Ord, I: Ord>(
        &self,
        profile: &TypeProfile,
        key: impl Fn(&Access) -> (K, I),
        samples: impl Fn(&Access) -> HomeAwaySamples,
    ) -> BTreeMap<K, HomeAwaySamples> {
        let mut by_instruction: BTreeMap<(K, u32, I), HomeAwaySamples> = BTreeMap::new();
        for access in &profile.accesses {
            let (group, instruction) = key(access);
            by_instruction.entry((group, access.function, instruction)).or_default().add(samples(access));
        }
        let mut by_function: BTreeMap<(K, u32), HomeAwaySamples> = BTreeMap::new();
        for ((group, function, _), split) in by_instruction {
            let most = by_function.entry((group, function)).or_default();
            *most = HomeAwaySamples { home: most.home.max(split.home), away: most.away.max(split.away) };
        }
        let mut sums: BTreeMap<K, HomeAwaySamples> = BTreeMap::new();
        for ((group, _), split) in by_function {
            sums.entry(group).or_default().add(split);
        }
        sums
    }

    /// Accesses of an instruction.
    pub fn split_accesses(&self, access: &Access) -> HomeAwaySamples {
        self.split(access.samples(), access.away.loads + access.away.stores)
    }

    /// Its stores.
    pub fn split_stores(&self, access: &Access) -> HomeAwaySamples {
        self.split(access.stores.samples, access.away.stores)
    }

    /// Its accesses that found the line lost to another CPU.
    pub fn split_losses(&self, access: &Access) -> HomeAwaySamples {
        self.split(access.lost_line_samples(), access.away.lost)
    }

    /// Splits samples into those on the home CPU and those on others. Where no object is known, all count as
    /// others'.
    fn split(&self, all: u64, away: u64) -> HomeAwaySamples {
        let away = if self.has_homes { away.min(all) } else { all };
        HomeAwaySamples { home: (all - away) as f64, away: away as f64 }
    }
}

/// Samples that found a line lost, or, if samples don't say where accesses were served, the turns of CPUs on
/// lines.
fn lost_lines(profile: &TypeProfile, line: u64) -> u64 {
    match profile.turns_on(line) {
        Some(turns) => turns.turns(),
        None => profile.accesses.iter().map(Access::lost_line_samples).sum(),
    }
}

/// How often an access at rate `r` follows a write at rate `w` if both come at random.
fn alternation_rate(r: f64, w: f64) -> f64 {
    if r > 0.0 && w > 0.0 { r * w / (r + w) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::{AwaySamples, HomeCounts, SampleCount};

    fn access(function: u32, ip: u64, offset: u64, stores: u64, away: u64) -> Access {
        let stores = SampleCount { samples: stores, period: stores };
        let away = AwaySamples { stores: away, ..AwaySamples::default() };
        Access { function, ip, offset, size: 8, stores, away, ..Access::default() }
    }

    #[test]
    fn the_hottest_instruction_of_a_function_stands_for_its_runs() {
        let accesses = vec![access(0, 1, 0, 10, 4), access(0, 2, 0, 7, 7), access(1, 3, 8, 5, 0)];
        let profile = TypeProfile {
            accesses,
            homes: HomeCounts { samples: 22, others: 22 },
            size: 64,
            ..TypeProfile::default()
        };
        let model = LineLossModel::new(&profile, 64);
        let line = model.touch_rates(&profile, |access| access.offset / 64);
        assert_eq!(line[&0], HomeAwaySamples { home: 11.0, away: 7.0 });
        let stores = model.store_rates(&profile, |access| access.offset);
        assert_eq!(stores[&8], HomeAwaySamples { home: 5.0, away: 0.0 });
        assert_eq!(model.observed_share, 0.0, "no sample lost its line");
    }
}
