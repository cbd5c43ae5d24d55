//! Which bytes breakpoints watch, and when.
//!
//! x86 has four breakpoints, each on 1, 2, 4 or 8 bytes that are aligned as long as they are (Intel SDM
//! volume 3B, section "Debug Registers"). More are multiplexed: all groups of four are watched equally long,
//! in rounds, in another order each round, so that a period of the program does not meet the same group each
//! time.

use crate::intervals::RandomIntervals;
use crate::{Error, RecordLimits};
use std::time::Duration;

/// Breakpoints a CPU has.
const BREAKPOINTS_PER_CPU: usize = 4;
/// How long a group is watched in a round, if there is time.
const MAX_SLICE: Duration = Duration::from_millis(100);
/// Opening breakpoints takes a while, too; a group that is watched shorter than this would be watched hardly
/// at all.
const MIN_SLICE: Duration = Duration::from_millis(20);
const SEED: u64 = 0x707a7e;

/// Bytes that one breakpoint watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WatchRange {
    /// First byte.
    pub address: u64,
    /// Bytes: 1, 2, 4 or 8, and the address is a multiple of it.
    pub length: u64,
}

/// Watches that cover some bytes, in order of address, as few as there can be.
pub fn cover_with_watches(address: u64, size: u64) -> Vec<WatchRange> {
    let end = address.saturating_add(size);
    let (mut position, mut all) = (address, Vec::new());
    while position < end {
        let fits = |length: &u64| position.is_multiple_of(*length) && *length <= end - position;
        let length = [8, 4, 2].into_iter().find(fits).unwrap_or(1);
        all.push(WatchRange { address: position, length });
        position += length;
    }
    all
}

/// Groups of watches, and how long and how often each is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRotation {
    /// Watches that are set together.
    pub groups: Vec<Vec<WatchRange>>,
    /// How long each group is watched in a round.
    pub slice: Duration,
    /// Rounds over all groups.
    pub rounds: u64,
}

impl WatchRotation {
    /// A rotation over all watches that takes as long as it may.
    ///
    /// # Errors
    /// If there are none, or too many for the time.
    pub fn new(watches: &[WatchRange], limits: RecordLimits) -> Result<Self, Error> {
        let mut all = watches.to_vec();
        all.sort_unstable();
        all.dedup();
        let groups: Vec<Vec<WatchRange>> =
            all.chunks(BREAKPOINTS_PER_CPU).map(<[WatchRange]>::to_vec).collect();
        let Some(count) = u32::try_from(groups.len()).ok().filter(|count| *count > 0) else {
            return Err(Error::NothingToWatch("no members are left".to_owned()));
        };
        let share = limits.time / count;
        if share < MIN_SLICE {
            return Err(Error::TooManyWatches {
                watches: all.len(),
                groups: groups.len(),
                seconds: limits.time.as_secs_f64(),
                milliseconds: share.as_millis(),
                least: MIN_SLICE.as_millis(),
                enough: (MIN_SLICE * count).as_secs() + 1,
            });
        }
        let rounds = (share.as_millis() / MAX_SLICE.as_millis()).clamp(1, u32::MAX.into()) as u32;
        Ok(Self { groups, slice: share / rounds, rounds: rounds.into() })
    }

    /// The watches.
    pub fn watches(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// The period of an access: each watch is set in one part of so many of the time.
    pub fn weight(&self) -> u64 {
        self.groups.len() as u64
    }

    /// The groups in the order they are watched.
    pub fn group_order(&self) -> impl Iterator<Item = usize> {
        let mut gaps = RandomIntervals::new(1, SEED);
        let count = self.groups.len();
        (0..self.rounds).flat_map(move |_| {
            let mut order: Vec<usize> = (0..count).collect();
            // Fisher and Yates.
            for last in (1..count).rev() {
                order.swap(last, gaps.draw_below(last + 1));
            }
            order
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(seconds: f64) -> RecordLimits {
        RecordLimits { time: Duration::from_secs_f64(seconds), samples: 1 }
    }

    fn ranges(address: u64, size: u64) -> Vec<(u64, u64)> {
        cover_with_watches(address, size).into_iter().map(|watch| (watch.address, watch.length)).collect()
    }

    #[test]
    fn bytes_are_covered_by_aligned_watches() {
        assert_eq!(ranges(0x1000, 8), [(0x1000, 8)]);
        assert_eq!(ranges(0x1004, 8), [(0x1004, 4), (0x1008, 4)]);
        assert_eq!(ranges(0x1001, 7), [(0x1001, 1), (0x1002, 2), (0x1004, 4)]);
        assert_eq!(ranges(0x1000, 20), [(0x1000, 8), (0x1008, 8), (0x1010, 4)]);
        assert_eq!(ranges(0x1000, 0), []);
        assert_eq!(ranges(u64::MAX, 8), [], "nothing wraps");
    }

    #[test]
    fn every_group_is_watched_once_a_round() {
        let rotation = WatchRotation::new(&cover_with_watches(0x1000, 8 * 22), limits(12.0)).unwrap();
        assert_eq!((rotation.watches(), rotation.weight(), rotation.rounds), (22, 6, 20));
        assert_eq!(rotation.slice, Duration::from_millis(100));
        let order: Vec<usize> = rotation.group_order().collect();
        assert_eq!(order.len(), 120);
        for round in order.chunks(6) {
            let mut sorted = round.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3, 4, 5]);
        }
        assert_ne!(order[..6], order[6..12], "in another order");
        assert_eq!(order, rotation.group_order().collect::<Vec<_>>(), "the same each time");
    }

    #[test]
    fn four_watches_need_no_rotation() {
        let rotation = WatchRotation::new(&cover_with_watches(0x1000, 32), limits(2.0)).unwrap();
        assert_eq!((rotation.groups.len(), rotation.weight()), (1, 1));
        assert_eq!(rotation.group_order().count(), 20);
    }

    #[test]
    fn overlapping_watches_are_merged() {
        let twice = [cover_with_watches(0x1000, 16), cover_with_watches(0x1008, 16)].concat();
        assert_eq!(WatchRotation::new(&twice, limits(1.0)).unwrap().watches(), 3);
    }

    #[test]
    fn too_much_for_the_time_is_refused_with_what_would_do() {
        let error = WatchRotation::new(&cover_with_watches(0x1000, 8 * 400), limits(1.0)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("400 watches need 100 rotations") && text.contains("--for 3"), "{text}");
        assert!(WatchRotation::new(&cover_with_watches(0x1000, 8 * 400), limits(3.0)).is_ok());
        assert!(WatchRotation::new(&[], limits(1.0)).is_err());
    }
}
