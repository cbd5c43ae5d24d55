//! Blocks of time: the parts of recordings that are drawn anew, or left out, to see how far advice depends on chance.
//!
//! Samples close in time depend on each other, so whole stretches are drawn and never single samples (Künsch, 1989).

use crate::access::{Access, AccessProfile, Away, BlockCount, CpuAccess, Levels, Tally, TypeProfile, Window};

/// Adds samples to the list of an access, which is kept in order of blocks.
pub fn count_in_block(blocks: &mut Vec<BlockCount>, count: BlockCount) {
    let place = blocks.partition_point(|known| known.block < count.block);
    match blocks.get_mut(place).filter(|known| known.block == count.block) {
        Some(known) => {
            known.loads += count.loads;
            known.stores += count.stores;
        }
        None => blocks.insert(place, count),
    }
}

/// Adds windows to the list of a window, which is kept in order of blocks.
#[inline]
pub fn count_windows_in_block(blocks: &mut Vec<(u32, u64)>, block: u32, count: u64) {
    // Most come in order of time.
    if let Some(last) = blocks.last_mut().filter(|last| last.0 == block) {
        last.1 += count;
        return;
    }
    let place = blocks.partition_point(|known| known.0 < block);
    match blocks.get_mut(place).filter(|known| known.0 == block) {
        Some(known) => known.1 += count,
        None => blocks.insert(place, (block, count)),
    }
}

impl AccessProfile {
    /// The profile of recordings in which each block happened as often as its weight says; blocks without a weight did
    /// not happen. Periods, latencies and levels follow the samples of their access in proportion, accesses by CPU
    /// those of their struct. What belongs to objects (phases, homes) and to recordings stays. Only types of indices
    /// that are whole have all of that: of others it tells which instructions touched them and how often.
    #[must_use]
    pub fn resampled_for(&self, weights: &[u64], is_whole: &dyn Fn(usize) -> bool) -> Self {
        let weight = |block: u32| weights.get(block as usize).copied().unwrap_or(0);
        let windows = self.windows.iter().filter_map(|window| {
            let count = window.blocks.iter().map(|(block, count)| count * weight(*block)).sum();
            (count > 0).then(|| Window { words: window.words.clone(), count, blocks: Vec::new() })
        });
        let types = self.types.iter().enumerate();
        let types = types.map(|(index, of)| resampled_type(of, &weight, is_whole(index)));
        Self {
            recordings: self.recordings.clone(),
            coverage: self.coverage.clone(),
            blind_spots: self.blind_spots.clone(),
            types: types.collect(),
            functions: self.functions.clone(),
            windows: windows.collect(),
            ..Self::empty()
        }
    }

    /// Forgets when samples were taken.
    pub(crate) fn forget_blocks(&mut self) {
        self.blocks.clear();
        self.types.iter_mut().flat_map(|of| &mut of.accesses).for_each(|access| access.blocks.clear());
        self.windows.iter_mut().for_each(|window| window.blocks.clear());
    }
}

fn resampled_type(of: &TypeProfile, weight: &impl Fn(u32) -> u64, is_whole: bool) -> TypeProfile {
    let accesses = of.accesses.iter().filter_map(|access| resampled_access(access, weight, is_whole));
    let accesses: Vec<Access> = accesses.collect();
    let share = (accesses.iter().map(Access::samples).sum(), of.samples());
    let outline = TypeProfile {
        name: of.name.clone(),
        size: of.size,
        fingerprint: of.fingerprint,
        accesses,
        ..TypeProfile::default()
    };
    if !is_whole {
        return outline;
    }
    let cpus = of.cpus.iter().map(|access| CpuAccess {
        loads: scaled(access.loads, share),
        stores: scaled(access.stores, share),
        ..*access
    });
    TypeProfile {
        layout: of.layout.clone(),
        cpus: cpus.collect(),
        phases: of.phases.clone(),
        homes: of.homes,
        ..outline
    }
}

fn resampled_access(access: &Access, weight: &impl Fn(u32) -> u64, is_whole: bool) -> Option<Access> {
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
        loads: Tally { samples: loads.0, period: 0 },
        stores: Tally { samples: stores.0, period: 0 },
        ..Access::default()
    };
    if both.0 == 0 || !is_whole {
        return (both.0 > 0).then_some(outline);
    }
    Some(Access {
        loads: Tally { period: scaled(access.loads.period, loads), ..outline.loads },
        stores: Tally { period: scaled(access.stores.period, stores), ..outline.stores },
        latency: scaled(access.latency, loads),
        levels: scaled_levels(&access.levels, loads),
        store_levels: scaled_levels(&access.store_levels, stores),
        away: Away {
            loads: scaled(access.away.loads, loads),
            stores: scaled(access.away.stores, stores),
            lost: scaled(access.away.lost, both),
        },
        ..outline
    })
}

fn scaled_levels(levels: &Levels, share: (u64, u64)) -> Levels {
    levels.iter().map(|(level, count)| (level.clone(), scaled(*count, share))).collect()
}

/// A number times `share.0 / share.1`, rounded to the nearest.
fn scaled(number: u64, share: (u64, u64)) -> u64 {
    let (part, whole) = (u128::from(share.0), u128::from(share.1.max(1)));
    u64::try_from((u128::from(number) * part + whole / 2) / whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn count(block: u32, loads: u64, stores: u64) -> BlockCount {
        BlockCount { block, loads, stores }
    }

    fn profile() -> AccessProfile {
        let access = Access {
            ip: 1,
            loads: Tally { samples: 6, period: 600 },
            stores: Tally { samples: 2, period: 20 },
            latency: 60,
            levels: BTreeMap::from([("L1".to_owned(), 3)]),
            blocks: vec![count(0, 2, 0), count(1, 4, 2)],
            ..Access::default()
        };
        let early = Access {
            ip: 2,
            loads: Tally { samples: 8, period: 80 },
            blocks: vec![count(0, 8, 0)],
            ..Access::default()
        };
        let cpus = vec![CpuAccess { offset: 0, cpu: 0, loads: 14, stores: 2 }];
        AccessProfile {
            types: vec![TypeProfile { accesses: vec![access, early], cpus, ..TypeProfile::default() }],
            windows: vec![Window { words: vec![(0, 0)], count: 3, blocks: vec![(0, 1), (1, 2)] }],
            blocks: vec![10, 6],
            ..AccessProfile::empty()
        }
    }

    #[test]
    fn each_block_counts_as_often_as_it_is_drawn() {
        let twice = profile().resampled_for(&[0, 2], &|_| true);
        let [access] = twice.types[0].accesses.as_slice() else { panic!("{twice:?}") };
        assert_eq!(access.loads, Tally { samples: 8, period: 800 });
        assert_eq!(access.stores, Tally { samples: 4, period: 40 });
        assert_eq!((access.latency, access.levels["L1"]), (80, 4));
        assert_eq!(twice.types[0].cpus[0].loads, 11);
        assert_eq!(twice.windows[0].count, 4);
    }

    #[test]
    fn every_block_once_is_the_profile_itself() {
        let mut all = profile();
        let once = all.resampled_for(&[1, 1], &|_| true);
        all.forget_blocks();
        assert_eq!(once, all);
    }

    #[test]
    fn what_is_not_whole_still_tells_who_touches_it() {
        let whole = profile().resampled_for(&[0, 2], &|_| true);
        let outline = profile().resampled_for(&[0, 2], &|_| false);
        let (access, other) = (&outline.types[0].accesses[0], &whole.types[0].accesses[0]);
        assert_eq!((access.ip, access.samples()), (other.ip, other.samples()));
        assert!(access.levels.is_empty() && outline.types[0].cpus.is_empty());
        assert_eq!(outline.windows, whole.windows);
    }

    #[test]
    fn what_happens_in_no_drawn_block_is_gone() {
        let none = profile().resampled_for(&[], &|_| true);
        assert!(none.windows.is_empty() && none.types[0].accesses.is_empty());
    }
}
