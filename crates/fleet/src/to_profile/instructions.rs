//! Instructions of several builds: which are the same.
//!
//! A function's rate is that of its hottest instruction, so the instructions of builds have to be added in
//! pairs, not side by side. In a function, those that touch the same bytes most are paired by their heat: then
//! the hottest of the sum is the sum of the hottest.

use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The place that an instruction touches most: type, offset and size in the profile, and whether it stores.
pub(super) type Target = (usize, u64, u64, bool);

/// An instruction: numbers of its build and function in the rows, and its address.
pub(super) type Place = (u32, u32, u64);

/// Addresses of instructions in the profile.
#[derive(Debug, Default)]
pub(super) struct Instructions {
    addresses: FxHashMap<Place, u64>,
}

/// Samples by instruction and target.
#[derive(Debug, Default)]
pub(super) struct Heat {
    samples: BTreeMap<Place, BTreeMap<Target, u64>>,
}

impl Heat {
    pub(super) fn add(&mut self, place: Place, target: Target, samples: u64) {
        let sum = self.samples.entry(place).or_default().entry(target).or_default();
        *sum = sum.saturating_add(samples);
    }
}

impl Instructions {
    /// Pairs instructions of all builds with those of `base`.
    pub(super) fn new(heat: &Heat, base: Option<u32>) -> Self {
        // By function and target, the instructions of each build, the hottest first.
        let mut groups: BTreeMap<(u32, Target), BTreeMap<u32, Vec<(u64, u64)>>> = BTreeMap::new();
        for ((build, function, ip), targets) in &heat.samples {
            let all: u64 = targets.values().fold(0, |sum, samples| sum.saturating_add(*samples));
            let hottest = targets.iter().max_by(|left, right| (left.1, right.0).cmp(&(right.1, left.0)));
            if let Some((target, _)) = hottest {
                groups.entry((*function, *target)).or_default().entry(*build).or_default().push((all, *ip));
            }
        }
        let of_base = heat.samples.keys().filter(|(build, ..)| Some(*build) == base);
        let mut taken: BTreeSet<u64> = of_base.map(|(.., ip)| *ip).collect();
        let mut addresses = FxHashMap::default();
        for ((function, _), builds) in &mut groups {
            builds.values_mut().for_each(|all| all.sort_by_key(|(samples, ip)| (u64::MAX - samples, *ip)));
            let own: Vec<u64> =
                base.and_then(|base| builds.get(&base)).into_iter().flatten().map(|(_, ip)| *ip).collect();
            // Those without a pair keep their address, or take the next that is free, together over builds.
            let mut further: Vec<u64> = own;
            for (build, all) in builds.iter() {
                for (rank, (_, ip)) in all.iter().enumerate() {
                    if rank == further.len() {
                        further.push(free_address(*ip, &mut taken));
                    }
                    let address = further.get(rank).copied().unwrap_or(*ip);
                    addresses.insert((*build, *function, *ip), address);
                }
            }
        }
        Self { addresses }
    }

    /// The address of an instruction in the profile.
    pub(super) fn address(&self, place: Place) -> u64 {
        self.addresses.get(&place).copied().unwrap_or(place.2)
    }
}

fn free_address(ip: u64, taken: &mut BTreeSet<u64>) -> u64 {
    let mut address = ip;
    while !taken.insert(address) {
        address = address.wrapping_add(1);
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_touch_the_same_are_paired_by_heat() {
        let (mut heat, target, other) = (Heat::default(), (0, 8, 8, false), (0, 16, 8, true));
        for (build, ip, target, samples) in [
            (1, 0x10, target, 5),
            (1, 0x20, target, 9),
            (2, 0x10, target, 7),
            (2, 0x90, target, 3),
            (2, 0x20, other, 4),
        ] {
            heat.add((build, 1, ip), target, samples);
        }
        let found = Instructions::new(&heat, Some(1));
        assert_eq!(found.address((1, 1, 0x20)), 0x20);
        assert_eq!(found.address((2, 1, 0x10)), 0x20, "both are the hottest");
        assert_eq!(found.address((2, 1, 0x90)), 0x10);
        assert_eq!(found.address((2, 1, 0x20)), 0x21, "0x20 is another instruction of the base");
    }
}
