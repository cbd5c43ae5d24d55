//! Profiles of several recordings as one: sums, in the order given.

use crate::access::{Access, AccessProfile, CpuAccess, TypeProfile, Window};
use crate::line_turns::merge_turns;
use crate::time_blocks::{add_to_block, add_windows_to_block};
use std::collections::BTreeMap;

impl AccessProfile {
    /// Adds another recording's profile. Structs are the same if name, size and fingerprint are.
    pub fn merge(&mut self, mut other: Self) {
        self.append_blocks(&mut other);
        let functions = self.merge_functions(&other.functions);
        let types = self.merge_types(other.types, &functions);
        self.merge_windows(other.windows, &types, &functions);
        self.recordings.extend(other.recordings);
        for spot in other.blind_spots {
            if !self.blind_spots.contains(&spot) {
                self.blind_spots.push(spot);
            }
        }
        for event in other.coverage {
            match self.coverage.iter_mut().find(|known| known.event == event.event) {
                Some(known) => {
                    known.total.add(event.total);
                    known.attributed.add(event.attributed);
                    for (reason, tally) in event.unattributed {
                        known.unattributed.entry(reason).or_default().add(tally);
                    }
                }
                None => self.coverage.push(event),
            }
        }
        self.sort();
    }

    /// Other recordings' blocks come behind those known. If either has no blocks, the sum has none.
    fn append_blocks(&mut self, other: &mut Self) {
        let is_new = self.recordings.is_empty() && self.types.is_empty();
        if !is_new && (self.blocks.is_empty() || other.blocks.is_empty()) {
            self.clear_blocks();
            other.clear_blocks();
        }
        let first = self.blocks.len() as u32;
        let accesses = other.types.iter_mut().flat_map(|other_type| &mut other_type.accesses);
        accesses.flat_map(|access| &mut access.blocks).for_each(|count| count.block += first);
        let windows = other.windows.iter_mut().flat_map(|window| &mut window.blocks);
        windows.for_each(|count| count.0 += first);
        self.blocks.append(&mut other.blocks);
    }

    /// Index here of each function there.
    fn merge_functions(&mut self, theirs: &[String]) -> Vec<u32> {
        let mut indices: BTreeMap<String, u32> = self.functions.iter().cloned().zip(0..).collect();
        let mut merged = Vec::with_capacity(theirs.len());
        for name in theirs {
            let next = self.functions.len() as u32;
            let index = *indices.entry(name.clone()).or_insert(next);
            if index == next {
                self.functions.push(name.clone());
            }
            merged.push(index);
        }
        merged
    }

    /// Index here of each type there.
    fn merge_types(&mut self, theirs: Vec<TypeProfile>, functions: &[u32]) -> Vec<i32> {
        let mut merged = Vec::with_capacity(theirs.len());
        for mut other_type in theirs {
            for access in &mut other_type.accesses {
                access.function = functions.get(access.function as usize).copied().unwrap_or(u32::MAX);
            }
            let known = self.types.iter().position(|known| known.is_same_struct(&other_type));
            merged.push(known.unwrap_or(self.types.len()) as i32);
            match known {
                Some(index) => merge_type(&mut self.types[index], other_type),
                None => self.types.push(other_type),
            }
        }
        merged
    }

    fn merge_windows(&mut self, theirs: Vec<Window>, types: &[i32], functions: &[u32]) {
        for mut window in theirs {
            for (other_type, function) in &mut window.entries {
                *other_type = map_index(types, *other_type);
                *function = functions.get(*function as usize).copied().unwrap_or(u32::MAX);
            }
            self.windows.push(window);
        }
    }

    /// Types by name, windows by their entries, each once.
    fn sort(&mut self) {
        let mut types: Vec<(usize, TypeProfile)> = self.types.drain(..).enumerate().collect();
        types.sort_by(|(_, this), (_, other)| (&this.name, this.size).cmp(&(&other.name, other.size)));
        let mut indices = vec![-1; types.len()];
        for (new, (old, _)) in (0..).zip(&types) {
            indices[*old] = new;
        }
        self.types = types.into_iter().map(|(_, other_type)| other_type).collect();
        let mut sums: BTreeMap<Vec<(i32, u32)>, Window> = BTreeMap::new();
        for mut window in self.windows.drain(..) {
            window.entries.iter_mut().for_each(|entry| entry.0 = map_index(&indices, entry.0));
            window.entries.sort_unstable();
            let sum = sums.entry(window.entries).or_default();
            sum.count += window.count;
            for (block, count) in window.blocks {
                add_windows_to_block(&mut sum.blocks, block, count);
            }
        }
        self.windows = sums.into_iter().map(|(entries, sum)| Window { entries, ..sum }).collect();
    }
}

/// A new index for an old one; -1 for none.
fn map_index(indices: &[i32], old: i32) -> i32 {
    usize::try_from(old).ok().and_then(|old| indices.get(old)).copied().unwrap_or(-1)
}

fn merge_type(known: &mut TypeProfile, other: TypeProfile) {
    let key = |access: &Access| (access.ip, access.offset, access.size, access.function);
    let mut accesses: BTreeMap<_, Access> = BTreeMap::new();
    for access in known.accesses.drain(..).chain(other.accesses) {
        match accesses.get_mut(&key(&access)) {
            Some(sum) => add_access(sum, access),
            None => {
                accesses.insert(key(&access), access);
            }
        }
    }
    known.accesses = accesses.into_values().collect();
    let mut cpus: BTreeMap<(u64, u32), (u64, u64)> = BTreeMap::new();
    for access in known.cpus.drain(..).chain(other.cpus) {
        let sum = cpus.entry((access.offset, access.cpu)).or_default();
        *sum = (sum.0 + access.loads, sum.1 + access.stores);
    }
    let cpu = |((offset, cpu), (loads, stores))| CpuAccess { offset, cpu, loads, stores };
    known.cpus = cpus.into_iter().map(cpu).collect();
    add_counts(&mut known.phases, other.phases);
    known.homes.add(other.homes);
    merge_turns(&mut known.turns, &other.turns);
}

fn add_access(sum: &mut Access, other: Access) {
    sum.away.add(other.away);
    other.blocks.iter().for_each(|count| add_to_block(&mut sum.blocks, *count));
    sum.loads.add(other.loads);
    sum.stores.add(other.stores);
    sum.latency = sum.latency.saturating_add(other.latency);
    add_counts(&mut sum.levels, other.levels);
    add_counts(&mut sum.store_levels, other.store_levels);
}

fn add_counts<K: Ord>(sums: &mut BTreeMap<K, u64>, other: BTreeMap<K, u64>) {
    for (key, count) in other {
        *sums.entry(key).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::BlockCount;
    use crate::access::{AwaySamples, HomeCounts, SampleCount};

    fn profile(function: &str, name: &str, samples: u64) -> AccessProfile {
        let mut profile = AccessProfile::empty();
        profile.functions = vec![function.to_owned()];
        let loads = SampleCount { samples, period: samples };
        let store_levels = BTreeMap::from([("TAKEN".to_owned(), samples)]);
        let away = AwaySamples { loads: samples, stores: 0, lost: 1 };
        let accesses = vec![Access { ip: 1, size: 8, loads, store_levels, away, ..Access::default() }];
        let homes = HomeCounts { samples, others: 2 * samples };
        profile.types =
            vec![TypeProfile { name: name.to_owned(), size: 8, accesses, homes, ..TypeProfile::default() }];
        profile.windows = vec![Window { entries: vec![(0, 0)], count: samples, blocks: vec![] }];
        profile
    }

    #[test]
    fn equal_things_are_added() {
        let mut sum = profile("walk", "thing", 3);
        sum.merge(profile("walk", "thing", 4));
        assert_eq!(sum.types.len(), 1);
        assert_eq!(sum.types[0].samples(), 7);
        assert_eq!(sum.types[0].homes, HomeCounts { samples: 7, others: 14 });
        let access = &sum.types[0].accesses[0];
        assert_eq!(
            (access.away, access.lost_line_samples()),
            (AwaySamples { loads: 7, stores: 0, lost: 2 }, 7)
        );
        assert_eq!(sum.windows, [Window { entries: vec![(0, 0)], count: 7, blocks: vec![] }]);
    }

    #[test]
    fn indices_are_mapped_to_the_merged_tables() {
        let mut sum = profile("walk", "thing", 3);
        sum.merge(profile("run", "other", 4));
        let names: Vec<&str> = sum.types.iter().map(|other_type| other_type.name.as_str()).collect();
        assert_eq!(names, ["other", "thing"]);
        assert_eq!(sum.functions[sum.types[0].accesses[0].function as usize], "run");
        assert_eq!(sum.windows[0], Window { entries: vec![(0, 1)], count: 4, blocks: vec![] });
    }

    #[test]
    fn order_of_recordings_changes_no_sum() {
        let (a, b) = (profile("walk", "thing", 3), profile("walk", "thing", 4));
        let (mut ab, mut ba) = (a.clone(), b.clone());
        ab.merge(b);
        ba.merge(a);
        assert_eq!(ab, ba);
    }

    /// A recording of two blocks.
    fn in_blocks(samples: u64) -> AccessProfile {
        let mut profile = profile("walk", "thing", 2 * samples);
        profile.types[0].accesses[0].blocks =
            (0..2).map(|block| BlockCount { block, loads: samples, stores: 0 }).collect();
        profile.windows[0].blocks = vec![(0, samples), (1, samples)];
        profile.blocks = vec![samples; 2];
        profile
    }

    #[test]
    fn time_blocks_of_each_recording_stay_separate() {
        let mut sum = in_blocks(3);
        sum.merge(in_blocks(4));
        assert_eq!(sum.blocks, [3, 3, 4, 4]);
        let counts: Vec<(u32, u64)> =
            sum.types[0].accesses[0].blocks.iter().map(|count| (count.block, count.loads)).collect();
        assert_eq!(counts, [(0, 3), (1, 3), (2, 4), (3, 4)]);
        assert_eq!(sum.windows[0].blocks, counts);
    }

    #[test]
    fn a_recording_without_blocks_leaves_none() {
        let mut sum = in_blocks(3);
        sum.merge(profile("walk", "thing", 4));
        assert!(sum.blocks.is_empty() && sum.windows[0].blocks.is_empty());
        assert!(sum.types[0].accesses[0].blocks.is_empty());
        let mut first = AccessProfile::empty();
        first.merge(in_blocks(3));
        assert_eq!(first, in_blocks(3));
    }
}
