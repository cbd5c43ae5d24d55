//! Time blocks: the parts of recordings that the block bootstrap draws and cross-validation leaves out.
//!
//! Samples close in time depend on each other, so blocks are drawn and never single samples (Künsch, 1989).

use crate::access::{
    Access, AccessProfile, AwaySamples, BlockCount, CpuAccess, LevelCounts, SampleCount, TypeProfile, Window,
};

/// Adds samples to the list of an access, which is kept in order of blocks.
pub fn add_to_block(blocks: &mut Vec<BlockCount>, count: BlockCount) {
    let index = blocks.partition_point(|known| known.block < count.block);
    match blocks.get_mut(index).filter(|known| known.block == count.block) {
        Some(known) => {
            known.loads += count.loads;
            known.stores += count.stores;
        }
        None => blocks.insert(index, count),
    }
}

/// Adds windows to the list of a window, which is kept in order of blocks.
#[inline]
pub fn add_windows_to_block(blocks: &mut Vec<(u32, u64)>, block: u32, count: u64) {
    // Most come in order of time.
    if let Some(last) = blocks.last_mut().filter(|last| last.0 == block) {
        last.1 += count;
        return;
    }
    let index = blocks.partition_point(|known| known.0 < block);
    match blocks.get_mut(index).filter(|known| known.0 == block) {
        Some(known) => known.1 += count,
        None => blocks.insert(index, (block, count)),
    }
}

impl Window {
    /// How many of it there are if each time block counts as often as its weight says; blocks without a weight
    /// don't count.
    pub fn resampled_count(&self, weights: &[u64]) -> u64 {
        self.blocks.iter().map(|(block, count)| count * weight(weights, *block)).sum()
    }
}

impl AccessProfile {
    /// The profile without its windows, with each time block counted as often as its weight says; blocks
    /// without a weight are left out. Periods, latencies and levels follow the samples of their access in
    /// proportion, accesses by CPU those of their struct. What belongs to objects (phases, homes) and to
    /// recordings stays. Types for which `keeps_detail` is false keep neither name nor layout, and samples only
    /// of instructions for which `keeps_samples` is true.
    #[must_use]
    pub fn resample(
        &self,
        weights: &[u64],
        keeps_detail: &dyn Fn(usize) -> bool,
        keeps_samples: &dyn Fn(u64) -> bool,
    ) -> Self {
        let weight = |block: u32| weight(weights, block);
        let types = self.types.iter().enumerate();
        let types = types.map(|(index, profile)| {
            if keeps_detail(index) {
                resample_type(profile, &weight)
            } else {
                outline_type(profile, &weight, keeps_samples)
            }
        });
        Self {
            recordings: self.recordings.clone(),
            coverage: self.coverage.clone(),
            blind_spots: self.blind_spots.clone(),
            types: types.collect(),
            functions: self.functions.clone(),
            ..Self::empty()
        }
    }

    /// Drops the time blocks.
    pub(crate) fn clear_blocks(&mut self) {
        self.blocks.clear();
        let accesses = self.types.iter_mut().flat_map(|profile| &mut profile.accesses);
        accesses.for_each(|access| access.blocks.clear());
        self.windows.iter_mut().for_each(|window| window.blocks.clear());
    }
}

fn weight(weights: &[u64], block: u32) -> u64 {
    weights.get(block as usize).copied().unwrap_or(0)
}

/// Samples of some instructions.
fn outline_type(
    profile: &TypeProfile,
    weight: &impl Fn(u32) -> u64,
    keeps_samples: &dyn Fn(u64) -> bool,
) -> TypeProfile {
    let kept = profile.accesses.iter().filter(|access| keeps_samples(access.ip));
    let accesses = kept.filter_map(|access| resample_access(access, weight, false));
    TypeProfile { size: profile.size, accesses: accesses.collect(), ..TypeProfile::default() }
}

fn resample_type(profile: &TypeProfile, weight: &impl Fn(u32) -> u64) -> TypeProfile {
    let accesses = profile.accesses.iter().filter_map(|access| resample_access(access, weight, true));
    let accesses: Vec<Access> = accesses.collect();
    let share = (accesses.iter().map(Access::samples).sum(), profile.samples());
    let cpus = profile.cpus.iter().map(|access| CpuAccess {
        loads: scale(access.loads, share),
        stores: scale(access.stores, share),
        ..*access
    });
    TypeProfile {
        name: profile.name.clone(),
        size: profile.size,
        fingerprint: profile.fingerprint,
        layout: profile.layout.clone(),
        cpus: cpus.collect(),
        phases: profile.phases.clone(),
        homes: profile.homes,
        accesses,
        ..TypeProfile::default()
    }
}

fn resample_access(access: &Access, weight: &impl Fn(u32) -> u64, keeps_detail: bool) -> Option<Access> {
    let weighted = |samples: fn(&BlockCount) -> u64| -> u64 {
        access.blocks.iter().map(|count| samples(count) * weight(count.block)).sum()
    };
    let loads = (weighted(|count| count.loads), access.loads.samples);
    let stores = (weighted(|count| count.stores), access.stores.samples);
    let both = (loads.0 + stores.0, loads.1 + stores.1);
    let outline = Access {
        ip: access.ip,
        function: access.function,
        offset: access.offset,
        size: access.size,
        loads: SampleCount { samples: loads.0, period: 0 },
        stores: SampleCount { samples: stores.0, period: 0 },
        ..Access::default()
    };
    if both.0 == 0 || !keeps_detail {
        return (both.0 > 0).then_some(outline);
    }
    Some(Access {
        loads: SampleCount { period: scale(access.loads.period, loads), ..outline.loads },
        stores: SampleCount { period: scale(access.stores.period, stores), ..outline.stores },
        latency: scale(access.latency, loads),
        levels: scale_levels(&access.levels, loads),
        store_levels: scale_levels(&access.store_levels, stores),
        away: AwaySamples {
            loads: scale(access.away.loads, loads),
            stores: scale(access.away.stores, stores),
            lost: scale(access.away.lost, both),
        },
        ..outline
    })
}

fn scale_levels(levels: &LevelCounts, share: (u64, u64)) -> LevelCounts {
    levels.iter().map(|(level, count)| (level.clone(), scale(*count, share))).collect()
}

/// A number times `share.0 / share.1`, rounded to the nearest.
fn scale(number: u64, share: (u64, u64)) -> u64 {
    let (part, whole) = (u128::from(share.0), u128::from(share.1.max(1)));
    u64::try_from((u128::from(number) * part + whole / 2) / whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Window;
    use std::collections::BTreeMap;

    fn count(block: u32, loads: u64, stores: u64) -> BlockCount {
        BlockCount { block, loads, stores }
    }

    fn profile() -> AccessProfile {
        let access = Access {
            ip: 1,
            loads: SampleCount { samples: 6, period: 600 },
            stores: SampleCount { samples: 2, period: 20 },
            latency: 60,
            levels: BTreeMap::from([("L1".to_owned(), 3)]),
            blocks: vec![count(0, 2, 0), count(1, 4, 2)],
            ..Access::default()
        };
        let early = Access {
            ip: 2,
            loads: SampleCount { samples: 8, period: 80 },
            blocks: vec![count(0, 8, 0)],
            ..Access::default()
        };
        let cpus = vec![CpuAccess { offset: 0, cpu: 0, loads: 14, stores: 2 }];
        AccessProfile {
            types: vec![TypeProfile { accesses: vec![access, early], cpus, ..TypeProfile::default() }],
            windows: vec![Window { entries: vec![(0, 0)], count: 3, blocks: vec![(0, 1), (1, 2)] }],
            blocks: vec![10, 6],
            ..AccessProfile::empty()
        }
    }

    #[test]
    fn each_block_counts_as_often_as_it_is_drawn() {
        let twice = profile().resample(&[0, 2], &|_| true, &|_| true);
        let [access] = twice.types[0].accesses.as_slice() else { panic!("{twice:?}") };
        assert_eq!(access.loads, SampleCount { samples: 8, period: 800 });
        assert_eq!(access.stores, SampleCount { samples: 4, period: 40 });
        assert_eq!((access.latency, access.levels["L1"]), (80, 4));
        assert_eq!(twice.types[0].cpus[0].loads, 11);
        let count = |weights| profile().windows[0].resampled_count(weights);
        assert_eq!((count(&[0, 2]), count(&[])), (4, 0));
    }

    #[test]
    fn every_block_once_is_the_profile_itself() {
        let mut all = profile();
        let once = all.resample(&[1, 1], &|_| true, &|_| true);
        assert!(all.windows.iter().all(|window| window.resampled_count(&[1, 1]) == window.count));
        all.clear_blocks();
        all.windows.clear();
        assert_eq!(once, all);
    }

    #[test]
    fn types_without_detail_keep_samples_of_some_instructions() {
        let whole = profile().resample(&[0, 2], &|_| true, &|_| true);
        let outline = profile().resample(&[0, 2], &|_| false, &|ip| ip == profile().types[0].accesses[0].ip);
        let (access, other) = (&outline.types[0].accesses[0], &whole.types[0].accesses[0]);
        assert_eq!((access.ip, access.samples()), (other.ip, other.samples()));
        assert!(access.levels.is_empty() && outline.types[0].cpus.is_empty());
        let none = profile().resample(&[0, 2], &|_| false, &|_| false);
        assert!(none.types[0].accesses.is_empty());
    }

    #[test]
    fn samples_of_blocks_not_drawn_are_dropped() {
        let none = profile().resample(&[], &|_| true, &|_| true);
        assert!(none.types[0].accesses.is_empty());
    }
}
